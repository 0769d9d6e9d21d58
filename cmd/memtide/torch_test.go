package main

import (
	"strings"
	"testing"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/play"
)

// TestOperatorsInLinks checks that the link of a step holds its operators, so that plans made from the link are
// those made from the file. Each side of a comparison keeps its own operators.
func TestOperatorsInLinks(t *testing.T) {
	const file = "testdata/operators.json"
	made := memtide(t, t.Context(), "link", file)
	_, fragment, _ := strings.Cut(strings.TrimSpace(made.stdout), "#")
	if made.code != cli.OK || !strings.Contains(fragment, "&ops=1.") || strings.Contains(made.stderr, "left out") {
		t.Fatalf("link of %s: exit status %d, %s%s; want a link with operators", file, made.code, made.stdout,
			made.stderr)
	}
	want := memtide(t, t.Context(), "torch", "-class", "nested", "-budget", "95%", file)
	got := memtide(t, t.Context(), "torch", "-class", "nested", "-budget", "95%", "-from", "#"+fragment)
	if got != want || got.code != cli.OK {
		t.Errorf("the plan of the link:\n%+v\nwant that of the file:\n%+v", got, want)
	}
	ops := fragment[strings.Index(fragment, "&ops=") : strings.Index(fragment, "&ops=")+60]
	blob := fragment[strings.Index(fragment, "&d=")+3:]
	unsealed := fragment[strings.Index(fragment, "&m="):strings.Index(fragment, "&d=")]
	for _, c := range []struct {
		from, side string
		has        bool
	}{
		{"#" + fragment, "", true},
		{"#" + fragment + "&b.p=vgg16-b32", "a", true},
		{"#" + fragment + "&b.p=vgg16-b32", "b", false},
		{"#" + fragment + "&b.s=greedy", "b", true},
		{"#v=1&p=vgg16-b32&b." + unsealed[strings.Index(unsealed, "ops="):] + "&b.d=" + blob, "b", true},
		{"#v=1&p=vgg16-b32&b." + unsealed[strings.Index(unsealed, "ops="):] + "&b.d=" + blob, "a", false},
		{"#" + fragment + "&b.d=" + blob, "b", false},
	} {
		args := []string{"link", "-from", strings.Replace(c.from, "sum=", "was=", 1)}
		if c.side != "" {
			args = append(args, "-side", c.side)
		}
		if o := memtide(t, t.Context(), args...); o.code != cli.OK || strings.Contains(o.stdout, ops) != c.has {
			t.Errorf("%q: exit status %d, %s%s; want operators: %v", args, o.code, o.stdout, o.stderr, c.has)
		}
	}
	for _, c := range []struct{ args, words string }{
		{"torch -from #v=1&p=vgg16-b32", "the link holds no operators of a step"},
		{"torch -from #v=1&p=vgg16-b32 " + file, "there is more than one step"},
		{"torch -from #" + strings.Replace(strings.Replace(fragment, "sum=", "was=", 1), ops,
			ops[:30]+"AAAA"+ops[34:], 1), "The packed operators are damaged"},
	} {
		if o := memtide(t, t.Context(), strings.Fields(c.args)...); o.code != cli.Usage ||
			!strings.Contains(o.stderr, c.words) {
			t.Errorf("%.60s: exit status %d, %s; want %q", c.args, o.code, o.stderr, c.words)
		}
	}
}

// TestHoldersText checks the text that names the holders of the memory at the peak and what would reduce it. A
// recurrent module is one that no plan can divide.
func TestHoldersText(t *testing.T) {
	const mib = engine.MiB
	for _, c := range []struct {
		what string
		list []play.Holder
		want string
	}{
		{"recurrent", []play.Holder{{Call: 1, Path: "r", Class: "LSTM", Bytes: 9 * mib},
			{Call: play.ByBackward, Bytes: mib}, {Call: play.ByNone, Bytes: 8}},
			"At that peak: r (LSTM) 9 MiB, the backward 1 MiB.\nA smaller batch takes less. r works on its whole sequence in one call, which no plan divides: run the sequence in parts and detach the state between them (truncated backpropagation through time)."},
		{"operators between modules", []play.Holder{{Call: 0, Class: "Net", Outer: true, Bytes: 6 * mib},
			{Call: 1, Path: "a", Class: "Linear", Bytes: 4 * mib}},
			"At that peak: the model itself (Net) 6 MiB, a (Linear) 4 MiB.\nA smaller batch takes less. No plan divides what the model itself (Net) does between its modules: put parts of it into modules of their own."},
		{"modules alone", []play.Holder{{Call: 1, Path: "a", Class: "Linear", Bytes: 3 * mib},
			{Call: 2, Path: "b", Class: "Linear", Bytes: 2 * mib},
			{Call: 3, Path: "c", Class: "Linear", Bytes: 2 * mib},
			{Call: 4, Path: "d", Class: "Linear", Bytes: 2 * mib}, {Call: 5, Path: "e", Class: "Linear", Bytes: mib}},
			"At that peak: a (Linear) 3 MiB, b (Linear) 2 MiB, c (Linear) 2 MiB, d (Linear) 2 MiB, others 1 MiB.\nA smaller batch takes less."},
	} {
		if got := holdersText(c.list, 10*mib); got != c.want {
			t.Errorf("%s: got  %s\nwant %s", c.what, got, c.want)
		}
	}
}
