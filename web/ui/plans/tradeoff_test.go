//go:build !js

package plans

import (
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/web/chart"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/tradeoff"
	"memtide/web/ui/pagetest"
)

// swept gives a page a curve of two strategies in two budgets. bound is the lower bound of offloading in the
// smaller budget, in milliseconds.
func swept(s *state.State, bound int) *tradeoff.Curve {
	point := func(gib, step, bound int) *proto.Point {
		return &proto.Point{Budget: engine.Bytes(gib) * engine.GiB, StepTime: time.Duration(step) * time.Millisecond,
			Bound: time.Duration(bound) * time.Millisecond}
	}
	s.Curve = &tradeoff.Curve{
		Methods: []proto.Method{{Strategy: "rotor"}, {Strategy: "dynprog"}},
		Points:  [][]*proto.Point{{point(1, 220, 164), point(4, 164, 164)}, {point(1, 500, bound), point(4, 164, 164)}},
		KeepAll: proto.Reference{Peak: 4 * engine.GiB, StepTime: 164 * time.Millisecond}, Done: 4, Total: 4,
	}
	return s.Curve
}

// TestBoundOfAPlan checks that the tooltip of a plan has the lower bound of its kind, unless that bound is no
// more than the time of keeping everything.
func TestBoundOfAPlan(t *testing.T) {
	s := pagetest.First(t)
	for bound, want := range map[int]string{480: " No plan of its kind takes less than 480 ms here (lower bound).",
		164: ""} {
		swept(s, bound)
		s.Update(state.SetBudget{Bytes: engine.GiB, Settled: true})
		swept(s, bound)
		if got := (&Plans{S: s}).boundWords(engine.MayOffload); got != want {
			t.Errorf("a bound of %d ms: %q; want %q", bound, got, want)
		}
	}
}

// TestCurveOfAnotherNetwork checks the texts about a comparison with another network: the status under the curve,
// and the label for people who cannot see the curve.
func TestCurveOfAnotherNetwork(t *testing.T) {
	s := pagetest.First(t)
	swept(s, 480)
	other := &known.Network{Profile: &profiles.Profile{Name: "VGG-16, batch 64"}, Chain: s.Network.Chain,
		Totals: proto.Totals{Batch: 64}}
	choice := s.Choice
	choice.Source = state.Source{Preset: "vgg16-b64"}
	s.Compare = &state.Compare{OnA: true,
		Other: state.Side{Choice: choice, Network: other,
			Shown: &known.Picture{Choice: choice, Network: other, Solved: &proto.Solved{
				Budget: 5 * engine.GiB, Trace: &sim.Trace{Makespan: 330 * time.Millisecond},
				KeepAll: proto.Reference{StepTime: 300 * time.Millisecond}}}}}
	s.View.Axis = tradeoff.Slowdown
	note := "B is another network, at its slowdown against its own step time of keeping everything."
	if got, want := SweepStatus(s), "Point at the curve to preview, click to use. "+note; got != want {
		t.Errorf("under the curve stands %q; want %q", got, want)
	}
	label := (&Tradeoff{S: s}).Label()
	for _, want := range []string{"; B, another network: VGG-16, batch 64: 330 ms per step in 5 GiB, ×1.1 against its own 300 ms, 194 samples/s; ", strings.TrimSuffix(note, ".")} {
		if !strings.Contains(label, want) {
			t.Errorf("the curve is described by %q; want %q in it", label, want)
		}
	}
	s.Compare.Other.Shown.Network = s.Network
	if got := SweepStatus(s); strings.Contains(got, "network") {
		t.Errorf("of one network stands %q under the curve; want nothing about networks", got)
	}
	if label = (&Tradeoff{S: s}).Label(); !strings.Contains(label, "; B: 330 ms per step in 5 GiB") {
		t.Errorf("of one network the curve is described by %q; want B in it", label)
	}
}

// TestLabelOfTheCard checks that the curve is described with the memory of the card, which is its axis, and not with what
// plans may use of it.
func TestLabelOfTheCard(t *testing.T) {
	s := pagetest.First(t)
	s.Choice.Device = "gtx-970"
	swept(s, 480)
	p := chart.New(s, 1, 1)
	from, to := format.Bytes(p.Memory(engine.GiB)), format.Bytes(p.Memory(4*engine.GiB))
	want := "memory of the card: Recompute from 220 ms at " + from + " to 164 ms at " + to
	if got := (&Tradeoff{S: s}).Label(); !p.Card || from == "1 GiB" || !strings.Contains(got, want) {
		t.Errorf("the curve is described by %q; want %q in it", got, want)
	}
}

func TestSweepStatus(t *testing.T) {
	s := pagetest.First(t)
	if got := SweepStatus(s); got != "" {
		t.Errorf("before there is a curve its status is %q; want nothing", got)
	}
	s.Curve = &tradeoff.Curve{ID: 7, Done: 3, Total: 40}
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() {}, "3 of 40 points"},
		{func() { s.Curve.ID, s.Curve.Stopped = 0, true }, "Stopped after 3 of 40 points"},
		{func() { s.Curve.Failed = "The engine stopped." }, "The engine stopped."},
		{func() { s.Curve.Failed, s.Curve.Stopped, s.Curve.Done = "", false, 40 },
			"Point at the curve to preview, click to use."},
	} {
		c.change()
		if got := SweepStatus(s); got != c.want {
			t.Errorf("status is %q; want %q", got, c.want)
		}
	}
}

// TestCurveOfAStep checks that of a pipeline the curve's panel tells orders and policies, with the rate in tokens, and
// that it is missing while nothing is known.
func TestCurveOfAStep(t *testing.T) {
	args := engine.Args{"gpus": "2", "pp": "2", "accumulate": "4", "seq": "2048"}
	s := pagetest.Step(t, "llama3.2-1b", args)
	c := &Tradeoff{S: s}
	if got := c.Label(); c.Missing() || !strings.Contains(got, "GPipe ") || !strings.Contains(got, "; Full checkpointing ") {
		t.Errorf("missing: %v, label %q; want orders and policies", c.Missing(), got)
	}
	if got := c.Better(); !strings.Contains(got, "diamonds are orders") || !strings.Contains(got, "circles are") {
		t.Errorf("the panel says %q; want what diamonds and circles are", got)
	}
	if got := c.Axes()[0].Title; got != "tokens per second" {
		t.Errorf("the axis is %q; want tokens", got)
	}
	asked, _ := pagetest.AskStep(t, "llama3.2-1b", args)
	if !(&Tradeoff{S: asked}).Missing() {
		t.Error("the panel is there before anything is known")
	}
	hidden := func() bool {
		head, _, _ := strings.Cut(pagetest.HTML(t, &Tradeoff{S: asked}), ">")
		return strings.Contains(head, " hidden")
	}
	if hidden() {
		t.Error("the panel has no place while it is asked for")
	}
	asked.Update(state.Stop{})
	if !hidden() {
		t.Error("an answer that was stopped without orders has an empty place for its chart")
	}
	asked, e := pagetest.AskStep(t, "llama3.2-1b", args)
	asked.Update(state.StepAnswered{ID: e.ID, Stepped: &proto.Stepped{Phases: []proto.StepPhase{{Name: "forward"}}}})
	if asked.Update(state.StepFailed{ID: e.ID}); hidden() {
		t.Error("a time limit took the place of the chart, which moves what is below")
	}
	if page := pagetest.HTML(t, &Tradeoff{S: asked}); strings.Contains(page, `data-missing="true"`) ||
		!strings.Contains(page, "press “Go on”") || SweepStatus(asked) != "" {
		t.Errorf("the place of the chart does not say why it is empty:\n%s", page)
	}
}
