package llm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/caching"
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
)

// small returns a question about a model whose fp32 states, 16 bytes for each parameter, are larger than a V100's
// memory.
func small() Ask { return asked(engine.Args{"seq": "1024", "device": "v100-pcie-16gb"}) }

func asked(args engine.Args) Ask {
	a, err := New(Lookup("llama3.2-1b"), args)
	if err != nil {
		panic(err)
	}
	return a
}

func answer(t *testing.T, a Ask) *Estimate {
	t.Helper()
	out, err := a.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestVerdicts(t *testing.T) {
	a := answer(t, small())
	if a.Verdict != FitsNot || a.States <= a.Capacity || a.States != size(16*small().Setup.Model.Params(), 1) {
		t.Errorf("one card: %s with states of %d bytes in %d; want that they alone do not fit: 16 bytes of %d parameters", a.Verdict, a.States, a.Capacity, small().Setup.Model.Params())
	}
	for _, c := range []struct {
		room float64 // as a multiple of the reserved memory
		want Verdict
	}{{1.06, Fits}, {1.04, Uncertain}, {0.999, Uncertain}, {0.96, FitsNot}} {
		q := small()
		card := *q.Card
		card.Memory = q.Context + engine.Bytes(float64(a.High)*c.room)
		if c.want == FitsNot {
			card.Memory = q.Context + engine.Bytes(float64(a.Low)*c.room)
		}
		q.Card = &card
		if got := answer(t, q).Verdict; got != c.want {
			t.Errorf("%.2f of what is reserved: %s, want %s", c.room, got, c.want)
		}
	}
}

// TestFixes checks that fixes fit, change different knobs that they name, and are the same every time.
func TestFixes(t *testing.T) {
	knobs, err := profiles.Try(small().turn)
	if err != nil || len(knobs) < 8 {
		t.Fatalf("%d knobs were turned (%v), want at least 8", len(knobs), err)
	}
	found, err := profiles.Try(func() []Change { return fixes(knobs) })
	if err != nil || len(found) == 0 {
		t.Fatalf("%d fixes (%v), want some", len(found), err)
	}
	var names []string
	for _, f := range found {
		if f.Estimate.Verdict != Fits {
			t.Errorf("%q: %s, want that it fits", f.Names, f.Estimate.Verdict)
		}
		names = append(names, f.Names...)
	}
	if all := len(names); len(slices.Compact(slices.Sorted(slices.Values(names)))) != all {
		t.Errorf("the fixes turn %q; want each knob once", names)
	}
	again := fixes(small().turn())
	for i := range found {
		if !slices.Equal(found[i].Names, again[i].Names) {
			t.Errorf("fix %d: %q, and the second time %q", i, found[i].Names, again[i].Names)
		}
	}
}

// TestMost checks that the longest sequence and the largest batch fit and that one step more does not. The fewest
// cards fit, and half as many do not.
func TestMost(t *testing.T) {
	args := engine.Args{"seq": "1024", "device": "v100-pcie-16gb", "lora": "8"}
	for _, c := range []struct {
		option string
		step   int64
		search func(Ask) int64
		beyond func(int64) int64
	}{
		{"seq", seqStep, Ask.longest,
			func(n int64) int64 { return n + seqStep }},
		{"batch", 1, func(a Ask) int64 { return a.most("batch", 1, mostSequences) }, func(n int64) int64 { return n + 1 }},
		{"gpus", 1, Ask.fewestCards, func(n int64) int64 { return n / 2 }},
	} {
		if c.option == "gpus" {
			delete(args, "lora")
		}
		a := asked(args)
		got := c.search(a)
		if got == 0 {
			t.Fatalf("%s: %d, want some", c.option, got)
		}
		for n, fits := range map[int64]bool{got: true, c.beyond(got): false} {
			b, err := a.with(engine.Args{c.option: number(n)})
			if err != nil {
				t.Fatalf("%s=%d: %v", c.option, n, err)
			}
			if v := answer(t, b).Verdict; (v == Fits) != fits {
				t.Errorf("%s: %d was found; %d: %s", c.option, got, n, v)
			}
		}
	}
}

// TestNoMost checks that a search ends if everything fits and if nothing does.
func TestNoMost(t *testing.T) {
	a := asked(engine.Args{"lora": "8", "device": "h200-sxm-141gb"})
	if got := a.most("seq", seqStep, 4*seqStep); got != 4 {
		t.Errorf("on a large card: %d steps, want the limit of 4", got)
	}
	a = asked(engine.Args{"seq": "1024", "device": "v100-pcie-16gb", "shard": "none"})
	if got := a.fewestCards(); got != 0 {
		t.Errorf("states that nobody shares: %d cards, want none", got)
	}
}

// TestKnobsChangeACopy checks that knobs change a copy of the question.
func TestKnobsChangeACopy(t *testing.T) {
	for _, k := range knobs {
		a := asked(engine.Args{"seq": "1024", "batch": "2", "gpus": "2", "shard": "zero1"})
		if k.name == "frozen products in 4 bits" { // needs frozen products
			a = asked(engine.Args{"lora": "8"})
		}
		if k.name == "kernels for linear attention" { // needs linear attention
			m := *a.Setup.Model
			m.Block.Delta = &Delta{KeyHeads: 1, ValueHeads: 1, Key: 1}
			a.Setup.Model = &m
		}
		switch k.name { // the program has these by itself
		case "logits deleted before the backward":
			a = asked(engine.Args{"seq": "1024", "logits": "kept"})
		case "fused optimizer":
			a = asked(engine.Args{"seq": "1024", "kernel": "foreach"})
		}
		if k.name == "swap blocks" { // needs a diffusion transformer that does not fit
			a = asked(engine.Args{"lora": "8", "seq": "1024", "device": "6gib-link25gbps-rate100tflops"})
			m := *a.Setup.Model
			m.Latents = &Latents{Side: 16}
			a.Setup.Model = &m
		} else if k.words != nil ||
			k.name == "twice as many micro batches" { // needs a pipeline that does not fit
			a = shortPipeline(t)
		}
		if k.name == "weights in host memory" { // needs an optimizer there
			a = asked(engine.Args{"gpus": "8", "host": "yes"})
		}
		before := maps.Clone(a.Args)
		if k.card != nil {
			was := *a.Card
			if b, ok := a.turned(&k); !ok || *a.Card != was || *b.Card == was || !b.altered {
				t.Errorf("%s: card %+v of %+v, the question's own is %+v now; want another card, and the own one as it was", k.name, b.Card, was, a.Card)
			}
			continue
		}
		changes := k.set(&a)
		b, err := a.with(changes)
		if !maps.Equal(a.Args, before) {
			t.Errorf("%s: the question itself is %v now, want %v", k.name, a.Args, before)
		}
		if changes == nil || err != nil || maps.Equal(b.Args, before) {
			t.Errorf("%s sets %v (%v); want another question", k.name, changes, err)
		}
	}
}

// TestUseful checks the changes that are suggested. If the step does not fit, those that make it fit come first,
// ordered by cards and then by time, and then those that free memory. If it fits, those that are faster and still
// fit come in order of their gain. Other changes are left out.
func TestUseful(t *testing.T) {
	change := func(name string, high engine.Bytes, time time.Duration, gpus int64, v Verdict) Change {
		return Change{Names: []string{name}, GPUs: gpus, Estimate: &Estimate{High: high, Time: time, Verdict: v},
			turned: Ask{GPUs: gpus, Setup: Setup{Work: Work{Seq: 8}}}}
	}
	all := []Change{change("nothing", 1000, 100, 1, FitsNot), change("faster", 1000, 50, 1, FitsNot),
		change("more", 1100, 100, 1, FitsNot),
		change("dear", 500, 300, 1, FitsNot), change("free", 600, 100, 1, FitsNot),
		change("cards", 100, 100, 2, Fits), change("fits", 100, 900, 1, Fits),
		change("quick", 900, 60, 1, Fits), change("quicker", 990, 40, 1, Fits)}
	for _, c := range []struct {
		now  Verdict
		want string
	}{{FitsNot, "quicker quick fits cards dear free"}, {Fits, "quicker quick"}} {
		var got []string
		for _, u := range all[0].turned.useful(&Estimate{High: 1000, Time: 100, Verdict: c.now}, all) {
			got = append(got, u.Names[0])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.now, strings.Join(got, " "), c.want)
		}
	}
}

// TestLongestHasPositions checks that the longest sequence of a model with learned positions is their number,
// however much memory there is.
func TestLongestHasPositions(t *testing.T) {
	a, err := New(Lookup("gpt2"), engine.Args{"seq": "1024"})
	if err != nil {
		t.Fatal(err)
	}
	if n := a.longest(); n != 1024 {
		t.Errorf("sequences of up to %d tokens; want the 1,024 that it has positions for", n)
	}
}

// TestPlan checks that a plan is reported after each stage and is complete in the end.
func TestPlan(t *testing.T) {
	var told []int
	p, err := small().Plan(nil, func(p *Answer) { told = append(told, p.Done) })
	if err != nil || !slices.Equal(told, []int{1, 2, 3, 4, 5, 6, 7}) || len(p.Changes) == 0 || len(p.Fixes) == 0 ||
		p.Fewest == 0 || len(p.Policies) == 0 || p.Nearest == nil {
		t.Errorf("told %v, %d changes, %d fixes, %d cards (%v); want each of 7 stages and some of all", told,
			len(p.Changes), len(p.Fixes), p.Fewest, err)
	}
}

// TestLentTimes checks the sentence about a card whose rate is not known, which has no name of its own.
func TestLentTimes(t *testing.T) {
	a, err := New(Lookup("gpt2"), engine.Args{"device": "24gib"})
	const want = "Times are those of an H100-SXM: no rate is known for this card."
	if err != nil || !slices.Contains(a.Card.Says(&a.Setup), want) {
		t.Errorf("the notes are %q (%v); want %q", a.Card.Says(&a.Setup), err, want)
	}
}

// TestAsked checks that package ask and this package know the same models and devices.
func TestAsked(t *testing.T) {
	var ids []string
	for _, m := range ask.Models {
		ids = append(ids, m.ID)
	}
	if !slices.EqualFunc(ids, models, func(id string, m *Model) bool { return id == m.Name }) {
		t.Errorf("can be asked about: %q; want those that are known", ids)
	}
	for _, d := range append(card.IDs(), "24gib", "24gib-link25gbps-rate165tflops") {
		a, err := New(Lookup("gpt2"), engine.Args{"device": d})
		if known := card.Lookup(d); err != nil || a.Card.Memory != known.Memory ||
			(a.Card.Lent == "") != known.Timed() || a.Card.Peak <= 0 || a.Card.Bandwidth <= 0 || a.Card.NVLink <= 0 {
			t.Errorf("%s is the card %+v (%v); want its memory, and rates of its own or lent ones", d, a.Card, err)
		}
	}
	for _, name := range ask.Option("program").Choices {
		if FindProgram(name) == nil {
			t.Errorf("the program %s can be chosen and is not known", name)
		}
	}
	for program, want := range map[string]Setup{
		"hf":         {Precision: Precision{Weight: 4}, Layout: Layout{Zero: 3}},
		"torchtitan": {Precision: Precision{Weight: 4}, Layout: Layout{Zero: 3}},
		"torchtune":  {Precision: Precision{Weight: 2}, Layout: Layout{Zero: 3}},
		"megatron":   {Precision: Precision{Weight: 2, Master: 4}, Layout: Layout{Zero: 1}},
	} {
		args := engine.Args{"program": program, "gpus": "2"}
		s := asked(args).Setup
		if s.Weight != want.Weight || s.Master != want.Master || s.Zero != want.Zero {
			t.Errorf("%s: weights of %d bytes, copies of %d, ZeRO-%d; want %d, %d, %d", program, s.Weight, s.Master,
				s.Zero, want.Weight, want.Master, want.Zero)
		}
		states, shard := ask.WordsIn(args, "states", ask.Auto), ask.WordsIn(args, "shard", ask.Auto)
		if strings.Contains(states, "fp32 states") != (s.Weight == 4) ||
			strings.Contains(states, "copy") != (s.Master == 4) || strings.Contains(shard, "ZeRO-1") != (s.Zero == 1) {
			t.Errorf("%s is told as %q and %q; it is %d, %d, ZeRO-%d", program, states, shard, s.Weight, s.Master,
				s.Zero)
		}
	}
	if want := append([]LossKind{ask.Auto}, lossKinds...); fmt.Sprint(ask.Option("loss").Choices) != fmt.Sprint(want) {
		t.Errorf("losses that can be chosen: %q, want %q", ask.Option("loss").Choices, want)
	}
}

// TestPlaysOfAPlan checks by counts of plays that fixes are reported before the allocator is replayed for changes
// that do not fit, and that no change is replayed twice.
func TestPlaysOfAPlan(t *testing.T) {
	a, err := New(Lookup("llama3-8b"), nil)
	if err != nil {
		t.Fatal(err)
	}
	count := &tally{}
	a.Setup.tally = count
	at := map[int]tally{}
	p, err := a.Plan(nil, func(p *Answer) { at[p.Done] = *count })
	if err != nil || len(p.Fixes) != mostFixes {
		t.Fatalf("%d fixes (%v), want %d", len(p.Fixes), err, mostFixes)
	}
	if at[1] != (tally{1, 1}) {
		t.Errorf("the answer took %+v, want one play and one replay", at[1])
	}
	if got := at[2]; got.plays > 100 || got.replays > 1+2*mostFixes {
		t.Errorf("after the fixes %d plays, %d replays; want at most 100 and %d", got.plays, got.replays, 1+2*mostFixes)
	}
	single := a.turn()
	if got := at[3].replays - at[2].replays; got > len(single) {
		t.Errorf("%d replays for %d changes, want one each at most", got, len(single))
	}
	for _, f := range p.Fixes {
		if want := answer(t, f.turned); f.Estimate.High != want.High || f.Estimate.Low != want.Low ||
			f.Estimate.Verdict != want.Verdict {
			t.Errorf("%q: %d to %d bytes, %s; played whole %d to %d, %s", f.Names, f.Estimate.Low, f.Estimate.High,
				f.Estimate.Verdict, want.Low, want.High, want.Verdict)
		}
	}
	for _, c := range p.Changes {
		if want := answer(t, c.turned); c.Estimate.High != want.High || c.Estimate.Low != want.Low {
			t.Errorf("%q: %d to %d bytes; played whole %d to %d", c.Names, c.Estimate.Low, c.Estimate.High, want.Low,
				want.High)
		}
	}
}

// TestProbesLeaveNothingOut checks that every change that fits when the allocator is replayed also fits in the
// probe without it, so that a probe misses no change.
func TestProbesLeaveNothingOut(t *testing.T) {
	for _, args := range []engine.Args{{}, {"gpus": "8"}, {"gpus": "8", "ckpt": "full", "seq": "32768"},
		{"gpus": "4", "pp": "4", "accumulate": "4"}} {
		a := asked(args)
		for _, c := range a.turn() {
			whole := answer(t, c.turned)
			// in a pipeline another rank may be the fullest
			other := whole.Ranks != nil && whole.Ranks.Full != c.Estimate.Ranks.Full
			if c.Estimate.High > whole.High || !other && c.Estimate.Allocated != whole.Allocated ||
				whole.Verdict == Fits && c.Estimate.Verdict != Fits {
				t.Errorf("%v, %q: probed %d allocated, %d reserved, %s; played whole %d, %d, %s", args, c.Names,
					c.Estimate.Allocated, c.Estimate.High, c.Estimate.Verdict, whole.Allocated, whole.High, whole.Verdict)
			}
		}
	}
}

// TestPlanStopsAtOnce checks that a plan whose context is cancelled stops before the next play, at any stage.
func TestPlanStopsAtOnce(t *testing.T) {
	for stage := range PlanStages - 1 {
		ctx, cancel := context.WithCancel(t.Context())
		a := asked(engine.Args{"seq": "1024"})
		a.Setup.tally = &tally{}
		told := 0
		p, err := a.Plan(engine.NewPoll(ctx, nil), func(p *Answer) {
			if p.Done == stage+1 {
				cancel()
				told = a.Setup.tally.plays
			}
		})
		cancel()
		if !errors.Is(err, context.Canceled) || p.Done != stage+1 {
			t.Errorf("stopped after stage %d: %v, %d stages", stage+1, err, p.Done)
		}
		if more := a.Setup.tally.plays - told; more > 1 {
			t.Errorf("stopped after stage %d: %d steps were played since; want 1 at most", stage+1, more)
		}
	}
}

// TestPollEndsAnswer checks that an answer, a plan and a replay end when their poll does.
func TestPollEndsAnswer(t *testing.T) {
	poll := func() *engine.Poll { return engine.NewPoll(engine.LimitCalls(t.Context(), 5), nil) }
	if a, err := small().Until(poll()).Estimate(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an answer of more than 5 polls: got %+v, %v; want %v", a, err, context.DeadlineExceeded)
	}
	if p, err := small().Plan(poll(), func(*Answer) {}); !errors.Is(err, context.DeadlineExceeded) || p.Done != 0 {
		t.Errorf("a plan of more than 5 polls: %d stages, %v; want none and %v", p.Done, err, context.DeadlineExceeded)
	}
	l := &ledger{}
	for range 10 {
		l.give(l.take(1, Saved))
	}
	_, err := profiles.Try(func() engine.Bytes { return l.replay(caching.Rules{}, 0, poll()) })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the allocator's part of 20 events: got %v; want %v", err, context.DeadlineExceeded)
	}
}
