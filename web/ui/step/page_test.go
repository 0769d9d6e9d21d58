//go:build !js

package step

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/engine/pipeline"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/lookup"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
)

// told returns a page that shows the answer r.
func told(t *testing.T, r proto.Stepped) *View {
	t.Helper()
	s, e := pagetest.AskStep(t, "llama3-8b", engine.Args{"ckpt": "budget", "compile": "yes", "graph": "model"})
	if r.Phases == nil {
		r.Phases = []proto.StepPhase{{Name: "forward", Bytes: r.Allocated,
			Parts: []proto.StepPart{{Name: "weights", Kind: proto.PartStates, Bytes: r.Allocated}}}}
	}
	r.Done, r.Total = 5, 5
	s.Update(state.StepAnswered{ID: e.ID, Stepped: &r, Whole: true})
	return &View{S: s}
}

// whole returns all that the page shows of a step below its answer, except the curve.
func whole(t *testing.T, s *state.State) string {
	t.Helper()
	return pagetest.HTML(t, &View{S: s}) + pagetest.HTML(t, &Folds{S: s})
}

// TestStepRows checks that changes that make the step fit come before those that are not enough by themselves,
// that no change is listed twice, and that only changes that surely fit are marked as fitting.
func TestStepRows(t *testing.T) {
	const g = engine.GiB
	change := func(name string, fit proto.Fit, gpus int64) proto.StepChange {
		return proto.StepChange{Names: strings.Split(name, "+"), Fit: fit, GPUs: gpus, Low: 30 * g, High: 30 * g,
			Time: 110}
	}
	p := told(t, proto.Stepped{Fit: proto.FitsNot, Low: 90 * g, High: 90 * g, Memory: 80 * g, GPUs: 1, Time: 100,
		Fixes: []proto.StepChange{change("bf16 states", proto.Fits, 1), change("a+b", proto.Fits, 2)},
		Changes: []proto.StepChange{change("bf16 states", proto.Fits, 1), change("full", proto.Unsure, 1),
			change("norm", proto.FitsNot, 1)}})
	var got []string
	for _, r := range p.Rows() {
		got = append(got, fmt.Sprintf("%s %d %s|%s|%s", r.Arg, r.Index, r.title, r.about, r.time))
		if green := strings.Contains(string(r.HTML()), "turn-fits"); green != (r.fit == proto.Fits) {
			t.Errorf("%s is %s and its bar is green: %v", r.title, r.fit, green)
		}
	}
	want := []string{" 0 As it is||100 ns", "fix 0 bf16 states|fits|+10 %", "fix 1 A + b|fits, 2 cards|+10 %",
		"alone 1 Full|may fit|+10 %", "alone 2 Norm|not enough by itself|+10 %"}
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	line := "What would make it fit: bf16 states (30 GiB, +10 %, fits), A + b (30 GiB, +10 %, fits, 2 cards), Full (30 GiB, +10 %, may fit)"
	if got := p.Line(); got != line {
		t.Errorf("in a view\n%s\nwant\n%s", got, line)
	}
}

// TestStepStarts checks that the page is complete while nothing is known yet, and says that it is busy.
func TestStepStarts(t *testing.T) {
	s, _ := pagetest.AskStep(t, "gpt2", nil)
	page := whole(t, s)
	if !strings.Contains(page, `aria-busy="true"`) {
		t.Error("the page does not say that it is busy")
	}
	pagetest.WellFormed(t, page)
}

// TestStepRanks checks that a pipeline shows every rank, with the fullest one marked.
func TestStepRanks(t *testing.T) {
	s := pagetest.Step(t, "llama3-8b", engine.Args{"gpus": "4", "pp": "4", "accumulate": "8", "ckpt": "full",
		"schedule": "1f1b"})
	c := &View{S: s}
	r := c.reply()
	if len(r.Ranks) != 4 {
		t.Fatalf("the reply has %d ranks, want 4", len(r.Ranks))
	}
	got := string(c.Ranks())
	if n := strings.Count(got, "<li"); n != 4 || strings.Count(got, `class="most"`) != 1 {
		t.Errorf("want 4 rows, one of them marked; got\n%s", got)
	}
	if a := (&answer.Answer{S: s}).Sentence(); !strings.Contains(got, "layers 0–7, 4 in flight") ||
		!strings.Contains(a, fmt.Sprintf("on rank %d, the fullest", r.Full)) ||
		!strings.HasSuffix(a, "; ranks wait "+format.Share(r.Idle)+" of the time.") {
		t.Errorf("the ranks say\n%s\nand the answer %q", got, a)
	}
}

// TestStepManyRanks checks that the middle ones of many ranks are folded, except the chosen one.
func TestStepManyRanks(t *testing.T) {
	s := pagetest.Step(t, "llama3-8b", engine.Args{"gpus": "32", "pp": "32", "accumulate": "32", "ckpt": "full",
		"schedule": "1f1b"})
	c := &View{S: s}
	s.Update(state.PickRank{Rank: 9})
	got := string(c.Ranks())
	if rows, folds := strings.Count(got, "<button"), strings.Count(got, "<summary>"); rows != 32 || folds != 2 ||
		!strings.Contains(got, "Ranks 4 to 8: ") || !strings.Contains(got, "Ranks 10 to 27: ") {
		t.Errorf("%d rows and %d folds; want 32 and those of 4 to 8 and 10 to 27:\n%s", rows, folds, got)
	}
	if inside, _, _ := strings.Cut(got[strings.Index(got, "<details>"):], "</details>"); strings.Contains(inside,
		"Rank 9<") || strings.Count(inside, "<button") != 5 {
		t.Errorf("the first fold has\n%s\nwant ranks 4 to 8", inside)
	}
}

// TestStepParts checks that what a block's forward leaves and the optimizer's states have the page's words, and that
// working values have the colour of what is computed again only if something is.
func TestStepParts(t *testing.T) {
	for policy, again := range map[string]bool{"none": false, "full": true} {
		s := pagetest.Step(t, "llama3.2-1b", engine.Args{"gpus": "2", "pp": "2", "accumulate": "4", "seq": "2048",
			"ckpt": policy, "schedule": "1f1b"})
		names, kinds := map[string]bool{}, map[proto.PartKind]bool{}
		for _, rank := range (&View{S: s}).reply().Ranks {
			for _, phase := range rank.Phases {
				for _, p := range phase.Parts {
					names[p.Name], kinds[p.Kind] = true, true
				}
			}
		}
		if !names["kept"] || !names["optimizer"] || names["moments"] || names["saved activations"] {
			t.Errorf("%s: the parts are %v; want kept and optimizer", policy, names)
		}
		if kinds[proto.PartWorking] != again {
			t.Errorf("%s: a part has the colour of what is computed again: %v; want %v", policy, !again, again)
		}
	}
}

// TestStepPasses checks that the passes of a pipeline are drawn and listed in a table, and that the text under
// the picture describes the selected one, with its cause to follow.
func TestStepPasses(t *testing.T) {
	s := pagetest.Step(t, "llama3-8b", engine.Args{"gpus": "4", "pp": "4", "accumulate": "8", "schedule": "zb-h1"})
	x := s.Passes()
	if x == nil || x.Count() != 3*4*8 || x.Ranks() != 4 {
		t.Fatalf("the picture has %+v; want 4 ranks with 96 passes", x)
	}
	html := func() string { return whole(t, s) }
	if page := html(); !strings.Contains(page, wordsPassesAsk) || !strings.Contains(page, "Passes of rank 3") ||
		strings.Count(page, "backward of the weights</td>") != 8 ||
		!strings.Contains(page, "decides how long the step takes: 99.9 % passes, most of them on rank 3") ||
		strings.Count(page, "<td>yes</td>") < 8 {
		t.Errorf("before anything is selected the page says\n%s", page)
	}
	first, _ := x.Numbers(2)
	s.Update(state.PickPass{Target: lookup.Target{Kind: lookup.OnIdle, Index: first}})
	if page := html(); !strings.Contains(page, "Rank 2 waits") ||
		!strings.Contains(page, "for the forward of micro batch 0 on rank 1") ||
		!strings.Contains(page, "Passes of rank 2") {
		t.Errorf("the page does not say why rank 2 begins late:\n%s", page)
	}
	for range 2 {
		s.Update(input.Command{Do: "pass-follow"}.Message(s))
	}
	if got := PassSentence(s); !strings.Contains(got, "Rank 0, forward, micro batch 0") || (&View{S: s}).follows() {
		t.Errorf("two causes further the page says %q; want the first pass of rank 0, and no cause", got)
	}
	s.Update(input.PassKey(input.Key{Key: "ArrowDown"}))
	if got := PassSentence(s); !strings.HasPrefix(got, "Rank 1 waits") {
		t.Errorf("a rank further down the page says %q; want that rank 1 waits", got)
	}
	f, ok := PassesFile(s)
	if !ok || !strings.Contains(string(f.Bytes), "Rank 1 waits") || !strings.HasSuffix(f.Name, ".svg") {
		t.Errorf("the file %q has %d bytes; want a picture that says what is selected", f.Name, len(f.Bytes))
	}
	s.Update(state.SetRange{From: x.End() / 4, To: x.End() / 2})
	s.Update(state.SetOption{Name: "accumulate", Value: "16"})
	if s.View.To != 0 || s.View.Selected.Kind != lookup.Nothing {
		t.Errorf("another step begins with %+v selected, until %v; want all of it, and nothing", s.View.Selected,
			s.View.To)
	}
}

// TestStepOrders checks that the schedules of a pipeline are rows, and that a click takes one, except the one
// that is in use. For schedules that the layout does not admit, the page says why.
func TestStepOrders(t *testing.T) {
	s := pagetest.Step(t, "llama3.2-1b", engine.Args{"gpus": "4", "pp": "4", "accumulate": "6", "seq": "2048"})
	c := &View{S: s}
	r := c.reply()
	rows := c.Orders()
	if len(rows)+len(r.Refused) != len(pipeline.Names()) || len(r.Refused) == 0 {
		t.Fatalf("%d rows and %q; want every schedule once, and DualPipe refused 6 micro batches", len(rows), r.Refused)
	}
	if page := whole(t, c.S); !strings.Contains(page, "DualPipe: ") ||
		strings.Count(page, `data-arg="order"`) != len(rows)-1 || strings.Count(page, `class="lanes"`) != len(rows) ||
		!strings.Contains(page, wordsOrders) {
		t.Errorf("the page has not %d schedules to take:\n%s", len(rows)-1, page)
	}
	for _, o := range rows {
		if o.Arg == "" {
			continue
		}
		s.Update(input.Command{Do: "step-change", Arg: o.Arg, Index: o.Index}.Message(s))
		if got, want := s.Choice.StepArgs["schedule"], r.Orders[o.Index].Args["schedule"]; got != want || want == "" {
			t.Errorf("the row %q takes the order %q; want %q", o.title, got, want)
		}
		break
	}
}

// TestStepEqualWork checks that the time of a change that does more work in a step is given for equal work.
func TestStepEqualWork(t *testing.T) {
	s := pagetest.Step(t, "gpt2", engine.Args{"accumulate": "2"})
	c := &View{S: s}
	x := proto.StepChange{Names: []string{"twice as many micro batches"}, Args: engine.Args{"accumulate": "4"},
		GPUs: 1, Fit: proto.Fits, Time: 2 * c.reply().Time * 9 / 10}
	if got := c.row(&x, input.AloneRow, 0); got.time != "−10 %" || got.about != wordsEqualWork {
		t.Errorf("twice the work in 1.8 times the time is told as %q, %q; want a tenth less for equal work", got.time,
			got.about)
	}
}

// TestStepReach checks that the page says what fits at most as far as it is known, and nothing of what does not fit.
func TestStepReach(t *testing.T) {
	for _, c := range []struct {
		longest, batch, fewest int64
		want                   string
	}{
		{0, 0, 0, ""}, {0, 0, 4, "The fewest cards on which it fits: 4."},
		{27648, 1, 4, "Sequences of up to 27\u202f648 tokens fit. The fewest cards on which it fits: 4."},
		{8192, 3, 0, "Sequences of up to 8\u202f192 tokens fit. The most that fits at once: 3 sequences."},
	} {
		got := told(t, proto.Stepped{Allocated: 1, Longest: c.longest, Batch: c.batch, Fewest: c.fewest}).Reach()
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestStepRefused checks that of a refused step the sentence and the verdict are shown alone. All other parts stay in place,
// but hidden.
func TestStepRefused(t *testing.T) {
	s := pagetest.Step(t, "gpt2", engine.Args{"gpus": "2"})
	shown := func() (out []string) {
		for _, part := range []vugu.Builder{&View{S: s}, &Folds{S: s}} {
			for n := part.Build(nil).Out[0].FirstChild; n != nil; n = n.NextSibling {
				if !slices.ContainsFunc(n.Attr, func(a vugu.VGAttribute) bool { return a.Key == "hidden" }) {
					out = append(out, n.Attr[0].Val)
				}
			}
		}
		return out
	}
	if got, want := shown(),
		[]string{"duo look", "fold about policies", "fold about"}; !slices.Equal(got, want) {
		t.Errorf("an answer shows %q; want %q", got, want)
	}
	for _, e := range s.Update(state.SetOption{Name: "tp", Value: "7"}) {
		if e, ok := e.(state.AskStep); ok {
			s.Update(state.StepFailed{ID: e.ID, Text: "12 heads do not divide among 7 ranks"})
		}
	}
	if got := shown(); len(got) > 0 {
		t.Errorf("a refusal shows %q; want nothing below the sentence and the verdict", got)
	}
}

// TestStepRankChosen checks that the pictures show the fullest rank until another one is chosen, and that the
// answer stays that of the fullest.
func TestStepRankChosen(t *testing.T) {
	s := pagetest.Step(t, "llama3-8b", engine.Args{"gpus": "4", "pp": "4", "accumulate": "8", "ckpt": "full",
		"schedule": "1f1b"})
	c := &View{S: s}
	r := c.reply()
	other := (r.Full + 1) % len(r.Ranks)
	a := &answer.Answer{S: s}
	peak, say := c.pictured().Allocated, a.Sentence()
	if want := r.Ranks[r.Full].Allocated; peak != want {
		t.Errorf("the peak is %d; want that of the fullest rank, %d", peak, want)
	}
	s.Update(input.Command{Do: "step-rank", Index: other}.Message(s))
	if got, want := c.pictured().Allocated, r.Ranks[other].Allocated; got != want || got == peak {
		t.Errorf("the peak of rank %d is told as %d; want %d", other, got, want)
	}
	if got := a.Sentence(); got != say {
		t.Errorf("the answer is now %q; want %q as before", got, say)
	}
	if page := whole(t, s); !strings.Contains(page,
		fmt.Sprintf(`data-index="%d" aria-pressed="true"`, other)) {
		t.Errorf("the page does not say that rank %d is chosen", other)
	}
	s.Update(state.PickRank{Rank: 99})
	if got := s.Step.Rank(); got != r.Full {
		t.Errorf("a rank that is not there is shown as %d; want the fullest, %d", got, r.Full)
	}
}

// TestStepPolicies checks that the policies of frameworks are listed in a part of their own, each with the names
// that frameworks give it, and that a click asks for one.
func TestStepPolicies(t *testing.T) {
	s := pagetest.Step(t, "gpt2", engine.Args{"gpus": "2", "pp": "2", "seq": "1024"})
	c := &View{S: s}
	rows := c.Policies()
	if len(rows) < 13 {
		t.Fatalf("%d policies; want 13 and more", len(rows))
	}
	for i, r := range rows {
		if r.about == "" || r.Arg != input.PolicyRow || r.Index != i {
			t.Errorf("row %d is %+v; want its words and its place", i, r)
		}
	}
	full := slices.IndexFunc(rows, func(r Row) bool { return r.title == "Full checkpointing" })
	s.Update(input.Command{Do: "step-change", Arg: input.PolicyRow, Index: full}.Message(s))
	if got := s.Choice.StepArgs; got["ckpt"] != "full" || got["gpus"] != "2" {
		t.Errorf("taken over: %v; want full checkpointing of the same step", got)
	}
	pagetest.WellFormed(t, whole(t, s))
}

// TestStepNearest checks that the nearest published run is among the origins, with its source, how well the
// prediction meets it, and how it differs from the step.
func TestStepNearest(t *testing.T) {
	p := told(t, proto.Stepped{Allocated: 1,
		Nearest: &proto.StepMeasured{Model: "llama3-8b", Args: engine.Args{"gpus": "8", "ckpt": "sac_op"},
			Where: "titan#822", URL: "https://example.org/822",
			Bytes: 50 * engine.GiB, Low: 49 * engine.GiB, High: 52 * engine.GiB, Percent: -1.25,
			Differs: []string{"model", "seq"}}})
	got := string(p.Origins())
	for _, want := range []string{"50 GiB", "measured", "Llama 3 8B", "selective checkpointing",
		"here differs: model, tokens", "49 to 52 GiB", "−1.2 %", `href="https://example.org/822"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the origins do not contain %q:\n%s", want, got)
		}
	}
	if line := p.OriginLine(); !strings.Contains(line, "met to −1.2 %") {
		t.Errorf("the line of the fold is %q; want how well the run is met", line)
	}
}
