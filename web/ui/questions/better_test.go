//go:build !js

package questions

import (
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// helped asks the question what would help on page s and lets the engine answer it.
func helped(t *testing.T, s *state.State) (*Better, *state.Answers) {
	t.Helper()
	pagetest.Ask(t, s)
	return &Better{S: s}, s.Answers()
}

// TestBetterRows checks that the rows are the changes that make the step faster, the largest gain first, at most
// six, each with the step time before and after. A click chooses one.
func TestBetterRows(t *testing.T) {
	s := pagetest.Small(t)
	pagetest.Do(t, s, state.SetStrategy{Name: "sequential"})
	c := &Better{S: s}
	if c.Hidden() || c.Title() != "What would help?" || len(c.Rows()) > 0 || !c.CanLook() || c.Looks() {
		t.Errorf("before it is answered: hidden %v, %q, %d rows; want the title and that it can be looked for",
			c.Hidden(), c.Title(), len(c.Rows()))
	}
	c, a := helped(t, s)
	rows := c.Rows()
	if len(rows) == 0 || len(rows) > 6 || !strings.HasPrefix(c.Caption(), "Step time, now ") {
		t.Fatalf("%d rows under %q; want one to six, and the step time now", len(rows), c.Caption())
	}
	last := time.Duration(0)
	for _, o := range rows {
		x := a.List[o.Answer]
		want := float64(x.StepTime) / float64(a.Base)
		if x.StepTime >= a.Base || x.StepTime < last || o.after != want || o.now != 1 {
			t.Errorf("%+v of %+v behind %v; want it faster than %v, in order, with bars of 1 and %v", o, x, last,
				a.Base, want)
		}
		last = x.StepTime
		if html := string(o.HTML()); strings.Count(html, "<rect") != 2 || !strings.Contains(html, o.title) ||
			!strings.HasSuffix(o.words, " % faster") {
			t.Errorf("the row is %s; want two bars, %q and how much faster it is", html, o.title)
		}
	}
	page := pagetest.HTML(t, &Better{S: s})
	pagetest.WellFormed(t, page)
	if got := strings.Count(page, `data-do="use-answer"`); got != len(rows) {
		t.Errorf("%d of %d rows can be used; want all", got, len(rows))
	}
}

// TestTriedWithoutGain checks that changes that gain less than 2 per cent are named in one line below the rows.
func TestTriedWithoutGain(t *testing.T) {
	s := pagetest.Small(t)
	c, a := helped(t, s)
	a.List = []proto.Suggestion{{Name: "fused norm", Strategy: a.Strategy, StepTime: a.Base - 1},
		{Name: "loss in chunks of tokens", Strategy: a.Strategy, StepTime: a.Base / 2},
		{Name: "8-bit moments", Strategy: a.Strategy, StepTime: a.Base}}
	rows := c.Rows()
	if len(rows) != 1 || rows[0].title != "loss in chunks of tokens" || rows[0].words != "100 % faster" {
		t.Errorf("the rows are %+v; want one, 100 %% faster", rows)
	}
	if got, want := c.Line(), "What would help: loss in chunks of tokens (100 % faster)"; got != want {
		t.Errorf("as a sentence it is %q; want %q", got, want)
	}
	if got, want := c.Note(), "Tried, no gain: fused norm; 8-bit moments."; got != want {
		t.Errorf("below them stands %q; want %q", got, want)
	}
}

// TestRoomIsLeft checks that, if no time is lost to memory, the list has the larger batch that there is room for
// instead of the changes that would help.
func TestRoomIsLeft(t *testing.T) {
	s := pagetest.Small(t)
	c, a := helped(t, s)
	a.KeepAll = a.Base
	if got := c.Caption(); got != "No time is lost to memory." || len(c.Rows()) > 0 || c.Note() != "" {
		t.Errorf("without a loss: %q, %d rows, %q; want that none is lost", got, len(c.Rows()), c.Note())
	}
	a.List = append(a.List, proto.Suggestion{Strategy: "keepall", Batch: 4 * s.Network.Totals.Batch, StepTime: 2 * a.Base})
	if rows := c.Rows(); len(rows) != 1 || rows[0].Answer != len(a.List)-1 || rows[0].words != "100 % faster" {
		t.Errorf("with room for four times the batch in twice the time the rows are %+v; want one, 100 %% faster", rows)
	}
}

// TestBetterThatFits checks that, if nothing fits, the bars are bytes against the budget, and the rows are the
// changes that have a schedule.
func TestBetterThatFits(t *testing.T) {
	s := pagetest.Small(t)
	s.OverBudget = &state.OverBudget{Budget: s.Budget(), Smallest: s.Budget() + 1}
	c, a := helped(t, s)
	a.Base = 0
	if c.Title() != "What would make it fit?" || len(c.Rows()) == 0 {
		t.Fatalf("%q with %d rows; want what would make it fit", c.Title(), len(c.Rows()))
	}
	for _, o := range c.Rows() {
		if o.now != 0 || o.mark <= 0 || o.mark > 1 || o.after <= 0 || o.after > 1 ||
			!strings.Contains(string(o.HTML()), "bar-mark") {
			t.Errorf("%+v; want one bar, and the budget across it", o)
		}
	}
}

// TestNothingFits checks the note if no change of a step makes it fit. It names the single changes that were
// tried, and only says how many pairs are tried at most.
func TestNothingFits(t *testing.T) {
	s := pagetest.Small(t)
	s.OverBudget = &state.OverBudget{Budget: s.Budget(), Smallest: s.Budget() + 1}
	c, a := helped(t, s)
	a.Base, a.Total = 0, 2
	step := proto.Suggestion{Name: "8-bit moments", Strategy: a.Strategy, Preset: "llama3-8b-step-b1"}
	pair := step
	pair.Name = "8-bit moments + fused norm"
	a.List = []proto.Suggestion{step, pair}
	if got, want := c.Note(),
		"No change makes it fit, nor does a pair of them, of which at most 24 are tried: 8-bit moments."; got != want {
		t.Errorf("%q; want %q", got, want)
	}
}

// TestBetterForTheDevice checks that a schedule that needs more memory than the device has does not lead to a
// search for speed. Instead the question asks, about all plans, what fits into the memory that the device is
// likely to serve.
func TestBetterForTheDevice(t *testing.T) {
	s := pagetest.Small(t)
	s.Update(state.SetBudget{Bytes: 64 * engine.GiB, Settled: true})
	p := *s.Shown
	solved, trace := *p.Solved, *p.Solved.Trace
	trace.Peak, solved.Trace, p.Solved, p.Choice = 20*engine.GiB, &trace, &solved, s.Choice
	s.Shown, s.Solving = &p, nil
	var asked *proto.Question
	for _, e := range s.Update(state.StartQuestion{}) {
		if q, ok := e.(state.Question); ok {
			asked = &q.Request
		}
	}
	if asked == nil || asked.Budget.Bytes != 14233*engine.MiB || asked.Strategy != "keepall" ||
		asked.Methods[0].Strategy != s.Choice.Strategy {
		t.Errorf("asks %+v; want every plan in 13.9 of the 15.8 GiB of the V100", asked)
	}
	if c := (&Better{S: s}); c.Title() != "What would make it fit?" || c.room() != state.DeviceOf(s.Choice).Memory {
		t.Errorf("%q, kept to %d; want what would make it fit, and the device", c.Title(), c.room())
	}
}

// TestPoliciesThatFit checks that of the policies of frameworks that fit the fastest two are the first of what would
// make a step fit, and that a click chooses one.
func TestPoliciesThatFit(t *testing.T) {
	s := pagetest.Preset(t, "llama3.2-1b-step-256tok-lora.8-b1")
	s.View.Frame.Embed = true // which asks before the curve is complete
	for _, e := range s.Update(state.ToggleMore{}) {
		if e, ok := e.(state.AskStep); ok {
			change := func(name string, high engine.Bytes, step time.Duration) proto.StepChange {
				return proto.StepChange{Names: []string{name}, Args: engine.Args{"ckpt": "full", "every": name}, High: high,
					Allocated: high, Time: step}
			}
			s.Update(state.Policed{ID: e.ID, Stepped: &proto.Stepped{Policies: []proto.StepChange{
				change("1", 9*engine.GiB, 1), change("2", engine.MiB, 40), change("3", 9*engine.GiB, 2),
				change("4", 2*engine.MiB, 30), change("5", 3*engine.MiB, 20)}}})
		}
	}
	pagetest.Do(t, s, state.SetBudget{Bytes: engine.GiB, Settled: true})
	c, _ := helped(t, s)
	rows := c.Rows()
	if s.OverBudget == nil || len(rows) < 2 || rows[0].title != "5" || rows[1].title != "4" || rows[0].Do != "policy" ||
		rows[0].Answer != 4 {
		t.Errorf("over budget %v, rows %+v; want the policies 5 and 4 first", s.OverBudget, rows)
	}
}

// TestHelpOfUnevenExperts checks that an answer about a mixture of experts counts as one that fits only if it does with
// unevenly busy experts, as in the table beside it. Of a dense model all answers do, since they keep to the budget.
func TestHelpOfUnevenExperts(t *testing.T) {
	for ref, uneven := range map[string]bool{"qwen3-30b-a3b-step-256tok-lora.8-base.nf4-b1": true,
		"llama3.2-1b-step-256tok-lora.8-b1": false} {
		s := pagetest.Preset(t, ref)
		pagetest.Do(t, s, state.SetGPU{ID: "rtx-4090"})
		c := &Better{S: s}
		most := c.fitsIn()
		if !uneven {
			if needs := c.needs(s.Budget()); most != engine.NoLimit || needs > c.room() {
				t.Errorf("%s: up to %d fits, and the budget needs %d of %d; want no other limit", ref, most, needs, c.room())
			}
			continue
		}
		if fits, not := c.needs(most), c.needs(most+engine.GiB/8); fits > c.room() || not <= c.room() {
			t.Errorf("%s: a peak of %d needs %d, one that is 128 MiB higher %d of %d; want that only the first fits", ref,
				most, fits, not, c.room())
		}
	}
}
