package link

import (
	"reflect"
	"strings"
	"testing"

	"memtide/web/choice"
)

func TestSideRoundTrip(t *testing.T) {
	for _, want := range []string{
		"v=1&p=resnet101-b32&b.s=greedy",
		"v=1&p=resnet101-b32&m=12GiB&s=sequential&s.segments=4&b.m=8GiB&b.s=sequential&b.s.segments=9",
		"v=1&p=resnet101-b32&b.p=vgg16-b64&b.kind=graph&b.m=60%25",
		"v=1&p=vgg16-b1&kind=graph&b.kind=chain&b.dev=v100-pcie-16gb&b.duplex=half&b.xfer=whole",
		"v=1&p=vgg16-b1&title=two%20words&b.bw=12.5GBps&b.bwd=1GBps&x-later=1&b.later=2",
		"v=1&p=vgg16-b1&b.from=file",
	} {
		l, notes := Parse(want)
		if l.B != nil && l.B.From == choice.FromFile {
			notes = nil // the profile is in no link
		}
		if got := l.String(); got != want || len(notes) > 0 || l.B == nil {
			t.Errorf("%s: rewritten as %s, notes %q; want the same and none", want, got, notes)
		}
	}
	l := Link{Said: choice.Said{Preset: "vgg16-b1"},
		B: &choice.Said{Profile: sample(3), From: choice.FromBlob, Strategy: "greedy"}}
	if back, notes := Parse(l.String()); !reflect.DeepEqual(back, l) || len(notes) > 0 {
		t.Errorf("B from a file: got %+v, %q; want %+v", back.B, notes, l.B)
	}
	l.Preset, l.Profile = "", sample(5)
	text := l.String()
	if back, notes := Parse(text); !reflect.DeepEqual(back, l) || len(notes) > 0 {
		t.Errorf("both from files: got %+v, %q; want %+v", back, notes, l)
	}
	if d, b := strings.Index(text, "&d="), strings.Index(text, "&b.d="); d < 0 || b < d ||
		strings.Contains(text[b+1:], "&") {
		t.Errorf("%s: want the blobs last, B's behind A's", text)
	}
}

// TestCutSide checks that a link that is cut never compares with the wrong network. It has B with its own
// profile, or no B and a note.
func TestCutSide(t *testing.T) {
	for name, l := range map[string]Link{
		"B": {Said: choice.Said{Preset: "vgg16-b1", Strategy: "greedy"},
			B: &choice.Said{Profile: sample(4), Strategy: "rotor"}},
		"both": {Said: choice.Said{Profile: sample(4), Strategy: "greedy"},
			B: &choice.Said{Profile: sample(6), Strategy: "rotor"}},
	} {
		full := l.String()
		from := strings.Index(full, "&b.from=link") + len("&b.from=link")
		for n := from; n < len(full); n++ {
			back, notes := Parse(full[:n])
			if back.B != nil || len(notes) == 0 {
				t.Fatalf("%s: the first %d of %d characters: B %+v, notes %q; want none and why", name, n, len(full),
					back.B, notes)
			}
			if name == "B" && back.Preset != "vgg16-b1" {
				t.Fatalf("the first %d of %d characters: preset %q; want A as it was", n, len(full), back.Preset)
			}
		}
	}
}

func TestSideByHand(t *testing.T) {
	for _, tc := range []struct{ in, want, note string }{
		{"p=resnet50-b8&B.S=ROTOR&b.M=900mib", "v=1&p=resnet50-b8&b.m=900MiB&b.s=rotor", ""},
		{"b.s.window=3&p=resnet50-b8", "v=1&p=resnet50-b8&b.s.window=3", ""},
		{"p=resnet50-b8&b.m=12&b.s=greedy", "v=1&p=resnet50-b8&b.s=greedy", "B: m:"},
		{"p=resnet50-b8&b.d=1.AAAA&b.s=greedy", "v=1&p=resnet50-b8", "B: This link was cut"},
		{"p=resnet50-b8&b.from=link&b.s=greedy", "v=1&p=resnet50-b8", "did not arrive"},
		{"p=resnet50-b8&b.from=moon&b.s=greedy", "v=1&p=resnet50-b8&b.s=greedy", "expected link or file"},
		{"p=resnet50-b8&b.from=file", "v=1&p=resnet50-b8&b.from=file", "Open the file as B"},
		{"p=resnet50-b8&b.t=1-2&b.b.s=x", "v=1&p=resnet50-b8&b.t=1-2&b.b.s=x", ""},
	} {
		l, notes := Parse(tc.in)
		if got := l.String(); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.in, got, tc.want)
		}
		all := strings.Join(notes, "\n")
		if tc.note == "" && all != "" || !strings.Contains(all, tc.note) {
			t.Errorf("%s: notes %q, want %q", tc.in, all, tc.note)
		}
	}
}

func FuzzSide(f *testing.F) {
	f.Add("v=1&p=a-b1&b.s=rotor&b.bw=1GBps&b.bwd=2GBps&b.from=file")
	l := Link{Said: choice.Said{Preset: "a-b1"}, B: &choice.Said{Profile: sample(3)}}
	f.Add(l.String())
	f.Fuzz(func(t *testing.T, in string) {
		l, _ := Parse(in)
		once := l.String()
		again, _ := Parse(once)
		if twice := again.String(); twice != once {
			t.Errorf("%q: written as %q, read back and written as %q", in, once, twice)
		}
	})
}
