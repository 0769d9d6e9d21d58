package llm

import (
	"fmt"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/pipeline"
)

// pipedAsk returns a question about a pipeline of four ranks.
func pipedAsk(t *testing.T, args engine.Args) Ask {
	t.Helper()
	all := engine.Args{"gpus": "4", "pp": "4", "accumulate": "8", "seq": "2048", "program": "megatron"}
	for name, v := range args {
		all[name] = v
	}
	a, err := New(Lookup("llama3.2-3b"), all)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAutoTakesTheFastestThatFits checks that ScheduleAuto takes the fastest fitting order of those that follow a
// rule, or the one that reserves least if none fits. The answer is the one for that order by name.
func TestAutoTakesTheFastestThatFits(t *testing.T) {
	for _, device := range []string{"h100", "rtx-4090", "v100-sxm2-16gb-nvlink2"} {
		auto := answer(t, pipedAsk(t, engine.Args{"device": device}))
		var best *Estimate
		var name string
		for _, n := range pipeline.Names() {
			got, err := pipedAsk(t, engine.Args{"device": device, "schedule": n}).Estimate()
			if err != nil || pipeline.Searched(n) {
				continue
			}
			better := best == nil || got.Verdict == Fits && (best.Verdict != Fits || got.Time < best.Time) ||
				got.Verdict != Fits && best.Verdict != Fits && got.High < best.High
			if better {
				best, name = got, n
			}
		}
		if auto.Ranks.Schedule.Name != name || auto.Time != best.Time || auto.High != best.High ||
			auto.Verdict != best.Verdict {
			t.Errorf("%s: %s with %v and %d bytes, %s; want %s with %v and %d, %s", device, auto.Ranks.Schedule.Name,
				auto.Time, auto.High, auto.Verdict, name, best.Time, best.High, best.Verdict)
		}
	}
}

// TestOrdersHaveEverySchedule checks that the table has every schedule once, those that fit first, ordered by
// time. Each has the figures or the refusal that it has when it is asked for alone.
func TestOrdersHaveEverySchedule(t *testing.T) {
	list := pipedAsk(t, engine.Args{"accumulate": "6", "device": "rtx-4090"}).orders()
	if len(list) != len(pipeline.Names()) {
		t.Fatalf("%d schedules; want %d", len(list), len(pipeline.Names()))
	}
	seen := map[string]bool{}
	for i, o := range list {
		seen[o.Name] = true
		alone, err := pipedAsk(t, engine.Args{"accumulate": "6", "device": "rtx-4090", "schedule": o.Name}).Estimate()
		switch {
		case (o.Estimate == nil) != (err != nil) || err != nil && o.Reason != err.Error():
			t.Errorf("%s is refused by %q here, and by %v alone", o.Name, o.Reason, err)
		case o.Estimate == nil:
		case o.Estimate.Time != alone.Time || o.Estimate.Verdict != alone.Verdict || o.Estimate.Allocated != alone.Allocated:
			t.Errorf("%s takes %v and %d bytes, %s; alone %v and %d, %s", o.Name, o.Estimate.Time, o.Estimate.Allocated,
				o.Estimate.Verdict, alone.Time, alone.Allocated, alone.Verdict)
		case o.Twice() != (o.Name == "dualpipe"):
			t.Errorf("%s has all states twice: %v", o.Name, o.Twice())
		case i > 0 && list[i-1].Estimate.Verdict == o.Estimate.Verdict && list[i-1].Estimate.Time > o.Estimate.Time:
			t.Errorf("%s with %v stands behind one of %v", o.Name, o.Estimate.Time, list[i-1].Estimate.Time)
		}
	}
	if len(seen) != len(list) || list[len(list)-1].Reason == "" {
		t.Errorf("%d different schedules of %d, the last one refused by %q; want all different, and that DualPipe is refused 6 micro batches", len(seen), len(list), list[len(list)-1].Reason)
	}
}

// TestAutoNeedsACard checks that a setup without a card, for which there is no fastest order, is refused. The
// message names the schedules to choose from.
func TestAutoNeedsACard(t *testing.T) {
	s := piped(ScheduleAuto)
	if _, err := Run(s); err == nil || !strings.Contains(err.Error(), `name one of ["gpipe" "1f1b"`) {
		t.Errorf("error %v; want one that names the schedules", err)
	}
}

// A rank that holds passes of parts of micro batches holds the bytes of these parts, not of whole micro batches:
// the first rank of interleaved 1F1B, with two stages and 23 passes, holds half a micro batch less than with 24
// passes.
func TestRankHoldsPartsOfMicroBatches(t *testing.T) {
	s := piped("interleaved")
	n := s.normal()
	k := newRanker(&n, CardOf("H100"))
	ranks := k.order("interleaved")
	at := k.onRank(ranks, 0)
	if unit := ranks.lay.unit[0]; ranks.Trace.Held[0] != 23 || at.InFlight != 11 || at.more != unit/2 {
		t.Errorf("%d passes are %d micro batches and %d bytes; want 23, 11 and half of %d", ranks.Trace.Held[0],
			at.InFlight, at.more, unit)
	}
}

// TestOrdersDoNotMix checks that one player of several orders gives the same results as a player for each.
func TestOrdersDoNotMix(t *testing.T) {
	s := piped("1f1b")
	n := s.normal()
	k := newRanker(&n, CardOf("H100"))
	for _, name := range []string{"zb-v", "dualpipe", "1f1b", "interleaved"} {
		got, want := k.fill(k.order(name), engine.NoLimit), playRanks(t, piped(name))
		if got.Time != want.Time || got.List[got.Full].Allocated != want.List[want.Full].Allocated {
			t.Errorf("%s takes %v and %d bytes behind others, %v and %d alone", name, got.Time,
				got.List[got.Full].Allocated, want.Time, want.List[want.Full].Allocated)
		}
	}
}

// TestLighterLastStage checks that the last stage can have fewer layers than the others, which take them over.
func TestLighterLastStage(t *testing.T) {
	for _, c := range []struct {
		lighter int64
		want    string
	}{{0, "[4 4 4 4 4 4 4 4]"}, {1, "[5 4 4 4 4 4 4 3]"}, {3, "[5 5 5 4 4 4 4 1]"}} {
		s := piped("1f1b")
		s.Lighter = c.lighter
		var got []int
		for _, rank := range playRanks(t, s).List {
			got = append(got, len(rank.Layers))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%d layers fewer on the last stage: %v, want %s", c.lighter, got, c.want)
		}
	}
	s := piped("1f1b")
	s.Lighter = 4
	if _, err := PlayRanks(s, CardOf("H100")); err == nil || !strings.Contains(err.Error(), "is to have 0 layers") {
		t.Errorf("4 of 4 layers fewer: error %v; want a refusal", err)
	}
}

// TestFirstRanksCheckpoint checks that checkpointing on the first ranks alone lowers their memory and lengthens
// their passes as checkpointing everywhere does, and does not change the other ranks.
func TestFirstRanksCheckpoint(t *testing.T) {
	none, full, some := piped("1f1b"), piped("1f1b"), piped("1f1b")
	full.Checkpoint, some.Checkpoint, some.OnRanks = CheckpointFull, CheckpointFull, 3
	a, b, c := playRanks(t, none), playRanks(t, full), playRanks(t, some)
	for r := range c.List {
		want := a.List[r]
		if r < 3 {
			want = b.List[r]
		}
		if got := c.List[r]; got.Allocated != want.Allocated || got.Busy != want.Busy {
			t.Errorf("rank %d holds %d bytes and works %v; want %d and %v", r, got.Allocated, got.Busy,
				want.Allocated, want.Busy)
		}
	}
	some.Schedule = "dualpipe"
	if _, err := PlayRanks(some, CardOf("H100")); err == nil ||
		!strings.Contains(err.Error(), "every layer lies on two ranks") {
		t.Errorf("on DualPipe: error %v; want a refusal", err)
	}
}

// shortPipeline returns a question about a pipeline whose first three ranks lack room.
func shortPipeline(t *testing.T) Ask {
	t.Helper()
	a, err := New(Lookup("llama3-70b"), engine.Args{"seq": "10240", "gpus": "32", "pp": "8", "tp": "4",
		"accumulate": "24", "program": "megatron", "schedule": "1f1b"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestPipelineLevers checks that the changes for a pipeline include another order, twice the micro batches, a
// lighter last stage, and checkpointing on the ranks that lack room. Each has the result that its options give.
func TestPipelineLevers(t *testing.T) {
	a := shortPipeline(t)
	list := a.turn()
	got := map[string]engine.Args{}
	for _, c := range list {
		got[c.Names[0]] = c.Args
		b, err := New(a.Setup.Model, c.Args)
		if again, fail := b.answer(probed); err != nil || fail != nil || !c.Card && again.Pools != c.Estimate.Pools {
			t.Errorf("%s: %v, %v: its options come to other bytes", c.Names[0], err, fail)
		}
	}
	for name, want := range map[string][2]string{"the fastest order of passes that fits": {"schedule", ""},
		"twice as many micro batches":                        {"accumulate", "48"},
		"one layer fewer on the last stage, beside the head": {"lighter", "1"},
		"full checkpointing on the first 3 ranks alone":      {"ranks", "3"}} {
		if args, ok := got[name]; !ok || args[want[0]] != want[1] {
			t.Errorf("%q sets %v; want %s to %q", name, args, want[0], want[1])
		}
	}
}
