//go:build !js

package papers

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/enginetest/golden"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
)

// experiments returns all experiments, in the order of the papers.
func experiments() []*experiment {
	return []*experiment{offloadRatio(), offloadOrRecompute(), recomputeThroughput(), combination(), swapLayers(),
		swapBatches()}
}

// usualPresets returns the presets of networks that people train. The others are examples.
func usualPresets() []string {
	var refs []string
	for _, id := range []string{"resnet50", "resnet101", "vgg16", "gpt2-medium"} {
		refs = append(refs, preset.Ref(id, preset.Lookup(id).DefaultBatch))
	}
	return refs
}

const reproductions = "../../REPRODUCTIONS.md"

// block returns the offsets of the table of an experiment in REPRODUCTIONS.md: the content of the code block below the
// command that computes it.
func block(t *testing.T, text, name string) (from, to int) {
	t.Helper()
	head := " go test ./engine/papers -run Reproductions/" + name + "\n\n```text\n"
	from = strings.Index(text, head)
	if from < 0 {
		t.Fatalf("%s: no block below the command for %s", reproductions, name)
	}
	from += len(head)
	size := strings.Index(text[from:], "```\n")
	if size < 0 {
		t.Fatalf("%s: the block of %s has no end", reproductions, name)
	}
	return from, from + size
}

// quick are the experiments that every test run does in full. The others take long, and run with MEMTIDE_LONG=1.
var quick = map[string]bool{"offload-fig2": true, "rotor-figs3-5": true, "vdnn-tables": true}

// REPRODUCTIONS.md holds the reports of the experiments. With -update it is written, and the remarks in it must be
// reviewed.
func TestReproductions(t *testing.T) {
	for _, x := range experiments() {
		t.Run(x.name, func(t *testing.T) {
			if !quick[x.name] && os.Getenv("MEMTIDE_LONG") == "" {
				t.Skip("takes some ten seconds; MEMTIDE_LONG=1 runs it, TestReproducedSections a part of it")
			}
			if testing.Short() {
				t.Skip("takes seconds")
			}
			text, err := os.ReadFile(reproductions)
			if err != nil {
				t.Fatal(err)
			}
			from, to := block(t, string(text), x.name)
			made := x.text(t, usualPresets()...)
			golden.File(t, reproductions, string(text[:from])+made+string(text[to:]))
		})
	}
}

// The section of one network does not depend on the other networks of the experiment.
func TestReproducedSections(t *testing.T) {
	text, err := os.ReadFile(reproductions)
	if err != nil {
		t.Fatal(err)
	}
	if *golden.Update {
		t.Skip("TestReproductions writes")
	}
	for _, x := range experiments() {
		t.Run(x.name, func(t *testing.T) {
			made := x.text(t, "vgg16-b32")
			from, to := block(t, string(text), x.name)
			found := 0
			for part := range strings.SplitSeq(made, "\n\n") {
				if strings.HasPrefix(part, "vgg16-b32") {
					found++
					if !strings.Contains(string(text[from:to]), part+"\n\n") {
						t.Errorf("not in %s:\n%s", reproductions, part)
					}
				}
			}
			if found == 0 {
				t.Errorf("no section about vgg16-b32 in:\n%s", made)
			}
		})
	}
}

// A schedule that is not verified, or a failure other than too little memory,
// ends the experiment.
func TestConfirmed(t *testing.T) {
	n := &network{ref: "net"}
	for _, tc := range []struct {
		p    proto.Point
		want string
	}{
		{proto.Point{StepTime: 1, Verdict: proto.Check{Verified: true}}, ""},
		{proto.Point{Failure: proto.Fail(proto.Infeasible, "too small")}, ""},
		{proto.Point{StepTime: 1, Verdict: proto.Check{Problem: "peak"}}, "not verified: peak"},
		{proto.Point{Failure: proto.Fail(proto.Unsupported, "no link")}, "no link"},
	} {
		err := cli.Try(func() { confirm(n, &tc.p) })
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%+v: got %v, want %q", tc.p, err, tc.want)
		}
	}
}

// TestAverageGain checks the average of the paper on recomputing. It is the mean over all settings of their
// ratios at the fastest segmentation, and counts each setting once.
func TestAverageGain(t *testing.T) {
	point := func(d time.Duration) *proto.Point { return &proto.Point{StepTime: d} }
	all := []*segments{
		{counts: []int{2, 3}, points: []*proto.Point{point(120), point(150)},
			rotor: []*proto.Point{point(100), point(50)}},
		{counts: []int{2, 3, 4}, points: []*proto.Point{point(170), point(150), point(150)},
			rotor: []*proto.Point{point(10), point(100), point(75)}},
	}
	if got, want := averageGain(all), (0.2+0.5)/2; math.Abs(got-want) > 1e-12 {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestClaimNumbers(t *testing.T) {
	d := func(ds ...time.Duration) (out []*proto.Point) {
		for _, x := range ds {
			out = append(out, &proto.Point{StepTime: x})
		}
		return out
	}
	net := &network{keepAll: proto.Reference{StepTime: 100, Peak: 1000}}
	s := &trio{net: net, budgets: spread(1, 3, 3), rotor: d(0, 140, 100), pofo: d(150, 110, 100)}
	if _, ok := s.removed(s.pofo[0], 0); ok {
		t.Error("where rotor does not fit nothing is removed")
	}
	if x, ok := s.removed(s.pofo[1], 1); !ok || math.Abs(x-0.75) > 1e-12 {
		t.Errorf("overhead 0.1 of 0.4: removed %v (%v), want 0.75", x, ok)
	}
	if _, ok := s.removed(s.pofo[2], 2); ok {
		t.Error("rotor without overhead: nothing can be removed")
	}
	if got := s.largestFactor(s.pofo); got != combineBudgets/2.0 {
		t.Errorf("got a factor of %v, want that of the second budget", got)
	}
	r := &ratios{net: net, budgets: spread(0, 40, 5), bounds: []time.Duration{300, 200, 100, 100, 100}}
	if got, ok := r.crossing(); got != 1 || !ok {
		t.Errorf("LB is above the step time up to budget %d (%v), want 1", got, ok)
	}
	r.bounds = []time.Duration{100, 100, 100, 100, 100}
	if got, ok := r.crossing(); ok {
		t.Errorf("LB is the step time everywhere, and yet above it in budget %d", got)
	}
	if got := spread(3, 10, 4); got[0] != 3 || got[1] != 5 || got[2] != 7 || got[3] != engine.Bytes(10) {
		t.Errorf("got budgets %v", got)
	}
	for cases, want := range map[int]verdict{4: agrees, 3: partly, 2: partly, 1: differs, 0: differs} {
		if got := mostly(cases, 4); got != want {
			t.Errorf("%d of 4: it %s, want it %s", cases, got, want)
		}
	}
}

// TestRaceFrom checks that from starts with the fastest links. A slow link that happens to win is not the result
// if a faster one loses.
func TestRaceFrom(t *testing.T) {
	won, lost := &proto.Point{StepTime: 90}, &proto.Point{StepTime: 110}
	r := &race{rotor: []*proto.Point{{StepTime: 100}}, offload: map[int64][]*proto.Point{}}
	for i, h := range links {
		r.offload[h] = []*proto.Point{won}
		if i == 1 || i == 2 {
			r.offload[h][0] = lost
		}
	}
	if got, want := r.from(0), gigabytes(halves(links[3])); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r.offload[links[len(links)-1]][0] = lost
	if got := r.from(0); got != "none" {
		t.Errorf("got %s, want none", got)
	}
	r.offload[links[0]][0] = nil
	if got := r.from(0); got != "does not fit" {
		t.Errorf("got %s, want does not fit", got)
	}
}

func TestWrap(t *testing.T) {
	text := strings.Repeat("takes +2.5 %, in 12 GiB of memory ", 12)
	got := wrap(text, 3)
	if strings.Join(strings.Fields(got), " ") != strings.TrimSpace(text) {
		t.Errorf("words are lost:\n%s", got)
	}
	for line := range strings.Lines(got) {
		if utf8.RuneCountInString(line) > lineWidth+1 || !strings.HasPrefix(line, "   ") {
			t.Errorf("%q: want at most %d characters, indented", line, lineWidth)
		}
		if first := strings.Fields(line)[0]; first == "%," || first == "GiB" {
			t.Errorf("%q begins with a unit", line)
		}
	}
}
