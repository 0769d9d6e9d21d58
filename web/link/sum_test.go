package link

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/web/choice"
)

// TestSumNoticesDamage checks that every flipped bit and every cut in the settings of a sealed link gives a note,
// unless the link still means the same.
func TestSumNoticesDamage(t *testing.T) {
	l, _ := Parse("v=1&p=resnet101-b32&dev=a100-sxm-40gb&m=12GiB&s=sequential&s.segments=4&bw=12.5GBps&duplex=full&t=120-480.5&sel=B18&b.m=8GiB&b.s=greedy")
	sealed := l.Sealed()
	if back, notes := Parse(sealed); len(notes) > 0 || back.String() != l.String() {
		t.Fatalf("%s: notes %q, read as %s; want none, and %s", sealed, notes, back.String(), l.String())
	}
	check := func(what, damaged string) {
		got, notes := Parse(damaged)
		if len(notes) == 0 && got.String() != l.String() {
			t.Errorf("%s: %s is read as %s without a word", what, damaged, got.String())
		}
	}
	from := strings.Index(sealed, "&sum=") + len("&sum=")
	for i := from; i < len(sealed); i++ {
		for bit := range 7 {
			check("a flipped bit", sealed[:i]+string(sealed[i]^1<<bit)+sealed[i+1:])
		}
	}
	for n := from + 1; n < len(sealed); n++ {
		check("a cut", sealed[:n])
	}
}

// TestSumIsOptional checks that a link needs no checksum. A checksum stays valid if the link is rewritten in
// another form, or if the page around a view adds its keys.
func TestSumIsOptional(t *testing.T) {
	l, _ := Parse("v=1&p=resnet101-b32&m=12GiB&c=rotor,greedy&title=a%20b")
	sealed := l.Sealed()
	sum := sealed[len("v=1&"):strings.Index(sealed, "&p=")]
	for _, c := range []struct{ name, link, note string }{
		{"as written", sealed, ""},
		{"without", l.String(), ""},
		{"in another order", "title=a%20b&m=12GiB&c=rotor%2Cgreedy&" + sum + "&P=resnet101-b32&v=1", ""},
		{"in capitals", strings.Replace(sealed, sum, strings.ToUpper(sum), 1), ""},
		{"framed", "embed=1&controls=budget&theme=dark&" + sealed, ""},
		{"edited by hand", strings.Replace(sealed, "12GiB", "8GiB", 1), "do not match its checksum"},
		{"another key by hand", sealed + "&s=greedy", "do not match its checksum"},
	} {
		got, notes := Parse(c.link)
		all := strings.Join(notes, "\n")
		if (c.note == "") != (all == "") || !strings.Contains(all, c.note) {
			t.Errorf("%s: notes %q, want %q", c.name, all, c.note)
		}
		if got.Preset != l.Preset || got.Budget == (choice.Budget{}) {
			t.Errorf("%s: read as %s; want its settings", c.name, got.String())
		}
		if Altered(c.link) != (c.note != "") {
			t.Errorf("%s: Altered says %t", c.name, Altered(c.link))
		}
	}
	with := Link{Said: choice.Said{Profile: sample(5), Strategy: "greedy", Budget: choice.Budget{Bytes: engine.GiB}}}
	cut := with.Sealed()
	cut = cut[:len(cut)-9]
	if _, notes := Parse(cut); len(notes) != 1 || !strings.Contains(notes[0], "was cut") {
		t.Errorf("a cut blob: notes %q; want one, about the blob", notes)
	}
}
