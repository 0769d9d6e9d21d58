package check_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/sim"
)

func TestHandMadeTracesAreAccepted(t *testing.T) {
	for _, duplex := range []engine.Duplex{engine.HalfDuplex, engine.FullDuplex} {
		for _, transfers := range []engine.Transfers{engine.Whole, engine.Streamed} {
			e := newExample(duplex, transfers)
			if err := check.Trace(e.p, e.s, e.t); err != nil {
				t.Errorf("%v duplex, %v: %v; expected no refutation", duplex, transfers, err)
			}
		}
	}
}

// moreOffload returns the span of an offload that the example does not have.
func moreOffload(step int, v engine.ValueID, start, end time.Duration) sim.Span {
	return sim.Span{Lane: sim.ToHost, Kind: sim.SpanOffload, Step: step, Op: engine.NoOp, Value: v, Start: start,
		End: end, Cause: sim.NoSpan}
}

// queue inserts a run of a new operation at the start, in a graph with a new value that exists when the step begins.
func (e *example) queue(op engine.Op, sp sim.Span) {
	g := *e.p.Graph
	g.Values = append(slices.Clone(g.Values),
		engine.Value{Name: "whole", Initial: engine.OnDevice, PartOf: engine.NoValue})
	g.Ops = append(slices.Clone(g.Ops), op)
	e.p.Graph = &g
	sp.Op, sp.Value, sp.Cause = engine.OpID(len(g.Ops)-1), engine.NoValue, sim.NoSpan
	e.insert(0, engine.Run(sp.Op))
	e.addSpan(sp)
}

// breaks holds a broken trace for every reason, with the text of the refutation.
var breaks = []struct {
	reason check.Reason
	what   string
	do     func(*example)
	want   string
}{
	{check.BadProblem, "an operation that does not exist", func(e *example) { e.s[2].Op = 99 },
		`bad problem at step 2: found operation 99; expected a step that exists`},
	{check.BadProblem, "a lean run of a backward", func(e *example) { e.s[8].OutputOnly = true },
		`bad problem at step 8: found an output-only run of B1, which cannot run that way; expected a step that exists`},
	{check.BadSpan, "the wrong kind", func(e *example) { e.t.Spans[0].Kind = sim.SpanRecompute },
		`bad span at step 0 in span 0: found lane 0, kind 1, operation 0, value -1, output only false; expected lane 0, kind 0, operation 0, value -1, output only false for run F1`},
	{check.BadSpan, "the wrong lane", func(e *example) { e.t.Spans[3].Lane = sim.ToHost },
		`bad span at step 4 in span 3 at 7s: found lane 1, kind 4, operation -1, value 3, output only false; expected lane 2, kind 4, operation -1, value 3, output only false for fetch s1`},
	{check.BadSpan, "a span of a free", func(e *example) { e.t.Spans[3].Step = 3 },
		`bad span in span 3 at 7s: found a span of step 3; expected a run, an offload or a fetch of the schedule`},
	{check.BadSpan, "a negative start", func(e *example) { e.shift(0, -sec) },
		`bad span at step 0 in span 0 at -1s: found a span from -1s to 1s; expected a start from 0 on and an end after it`},
	{check.MissingStep, "no span for B1", func(e *example) { e.t.Spans = e.t.Spans[:5] },
		`missing step at step 8: found no span for run B1; expected one span`},
	{check.RepeatedStep, "two spans for B1", func(e *example) { e.t.Spans = append(e.t.Spans, e.t.Spans[5]) },
		`repeated step at step 8 in span 6 at 12s: found spans 5 and 6 for run B1; expected one span`},
	{check.SpanOrder, "two spans swapped",
		func(e *example) { e.t.Spans[3], e.t.Spans[4] = e.t.Spans[4], e.t.Spans[3] },
		`spans out of order at step 4 in span 4 at 7s: found a start after that of the span before it, at 9s; expected spans in the order of their start`},
	{check.WrongDuration, "F1 a second longer", func(e *example) { e.t.Spans[0].End += sec },
		`wrong duration at step 0 in span 0: found 3s for run F1; expected 2s`},
	{check.WrongDuration, "a fetch a second shorter", func(e *example) { e.t.Spans[3].Start += sec },
		`wrong duration at step 4 in span 3 at 8s: found 1s for fetch s1; expected 2s`},
	{check.InputAbsent, "no input of F1", func(e *example) { e.p.Graph.Values[a0].Initial = 0 },
		`input absent at step 0 in span 0: found no copy of a0; expected every input of run F1 on the device`},
	{check.ReadAfterFree, "s1 freed before B1", func(e *example) { e.s[7] = engine.Free(s1) },
		`read after free at step 8 in span 5 at 12s: found s1 freed before; expected every input of run B1 on the device`},
	{check.ReadAfterFree, "an offload after the free", func(e *example) {
		e.insert(4, engine.Offload(s1))
		e.addSpan(moreOffload(4, s1, 6*sec, 8*sec))
	}, `read after free at step 4 in span 3 at 6s: found offload s1; expected a value that is on the device`},
	{check.OffloadAbsent, "an offload of s2 before F2", func(e *example) {
		e.s[1] = engine.Offload(s2)
		e.t.Spans[2].Value, e.t.Spans[2].End = s2, 3*sec
	}, `offload of absent at step 1 in span 2 at 2s: found offload s2; expected a value that is on the device`},
	{check.FreeAbsent, "a free of a2", func(e *example) { e.s[11] = engine.Free(a2) },
		`free of absent at step 11: found free a2; expected a value that is on the device`},
	{check.FreeAbsent, "a free of what is arriving", func(e *example) {
		e.insert(5, engine.Free(s1))
		e.insert(6, engine.Fetch(s1, 9*sec))
		fetch := e.t.Spans[3]
		fetch.Step, fetch.Start, fetch.End = 6, 9*sec, 11*sec
		e.shift(4, 2*sec)
		e.shift(5, 2*sec)
		e.addSpan(fetch)
		e.t.Makespan += 2 * sec
	}, `free of absent at step 5 at 6s: found free s1 while it is still arriving; expected a value that is on the device`},
	{check.FetchResident, "a fetch of s2", func(e *example) {
		e.s[4].Value, e.t.Spans[3].Value, e.t.Spans[3].End = s2, s2, 8*sec
	}, `fetch of resident at step 4 in span 3 at 7s: found fetch s2; expected a value that is not on the device`},
	{check.OutputThere, "a gather of what is there", func(e *example) {
		e.queue(engine.Op{Name: "gather", Lane: engine.LaneNetwork,
			Out: []engine.ValueID{engine.ValueID(len(e.p.Graph.Values))}},
			sim.Span{Lane: sim.Network, Kind: sim.SpanNetwork})
	}, `output there at step 0 in span 1: found whole there before run gather; expected a value that is not there`},
	{check.NotAfter, "an operation without one that it comes after", func(e *example) {
		e.queue(engine.Op{Name: "late", Lane: engine.LaneCPU, After: []engine.OpID{b1}},
			sim.Span{Lane: sim.CPU, Kind: sim.SpanCPU})
	}, `not after at step 0 in span 1: found run late without B1; expected a run of that before`},
	{check.NoHostCopy, "a fetch of a1", func(e *example) {
		e.s[4].Value, e.t.Spans[3].Value, e.t.Spans[3].End = a1, a1, 7*sec+sec/2
	}, `no host copy at step 4 in span 3 at 7s: found fetch a1; expected a value that the host has`},
	{check.NoLink, "no way back", func(e *example) { e.p.Device.ToDev = 0 },
		`no link at step 4 in span 3 at 7s: found fetch s1; expected no transfer: the device has no link to the host in that direction`},
	{check.BackwardTwice, "B1 again", func(e *example) {
		e.s[9] = engine.Run(b1)
		again := e.t.Spans[5]
		again.Step, again.Start, again.End = 9, 14*sec, 16*sec
		e.addSpan(again)
	}, `backward twice at step 9 in span 6 at 14s: found B1 again; expected every backward operation once`},
	{check.OnceTwice, "B1, which is no backward operation but must not run again", func(e *example) {
		g := *e.p.Graph
		g.Ops = slices.Clone(g.Ops)
		g.Ops[b1].Pass, g.Ops[b1].Once = engine.Forward, true
		e.p.Graph = &g
		e.s[9] = engine.Run(b1)
		e.t.Spans[5].Kind = sim.SpanForward
		again := e.t.Spans[5]
		again.Kind = sim.SpanRecompute
		again.Step, again.Start, again.End = 9, 14*sec, 16*sec
		e.addSpan(again)
	}, `once twice at step 9 in span 6 at 14s: found B1 again; expected an operation that must not run again once`},
	{check.Incomplete, "no B1", func(e *example) {
		e.s[8] = engine.Wait(s1)
		e.t.Spans = e.t.Spans[:5]
	}, `incomplete at step 12: found no run that writes d0; expected a complete step`},
	{check.Incomplete, "an operation missing", func(e *example) {
		g := *e.p.Graph
		g.Done, g.Ops = engine.NoValue, append(slices.Clone(g.Ops), engine.Op{Name: "loss"})
		e.p.Graph = &g
	}, `incomplete at step 12: found no run of loss; expected a complete step`},
	{check.StepOrder, "B1 before B2 has ended", func(e *example) { e.shift(5, -sec) },
		`steps out of order at step 8 in span 5 at 11s: found run B1 at 11s; expected no start before 12s, when the schedule gets there`},
	{check.LaneOverlap, "two offloads at once", func(e *example) {
		e.insert(2, engine.Offload(a0))
		e.addSpan(moreOffload(2, a0, 3*sec, 3*sec+sec/2))
	}, `lane overlap at step 2 in span 3 at 3s: found offload a0 at 3s; expected no start before 4s, when the lane is free`},
	{check.HalfDuplexBroken, "a fetch beside an offload", func(e *example) {
		e.insert(3, engine.Offload(s2))
		e.addSpan(moreOffload(3, s2, 6*sec, 7*sec))
		e.s[5].NotBefore = 6 * sec
		e.shift(4, -sec/2)
	}, `half duplex broken at step 5 in span 4 at 6.5s: found fetch s1 at 6.5s; expected no start before 7s, when the other direction is over`},
	{check.InputNotReady, "B2 before s1 has arrived", func(e *example) { e.shift(4, -sec) },
		`input not ready at step 5 in span 4 at 8s: found run B2 at 8s; expected no start before 9s, when a1 is there`},
	{check.HostCopyNotReady, "a fetch before the offload has ended", func(e *example) {
		e.p.Device.Duplex = engine.FullDuplex
		e.s[1], e.s[2] = e.s[2], e.s[1]
		e.t.Spans[1].Step, e.t.Spans[2].Step = 1, 2
		e.shift(2, 4*sec)
	}, `host copy not ready at step 4 in span 3 at 7s: found fetch s1 at 7s; expected no start before 8s, when the copy to the host is over`},
	{check.BeforeWindow, "a fetch before its time", func(e *example) { e.shift(3, -sec/2) },
		`before its earliest start at step 4 in span 3 at 6.5s: found fetch s1 at 6.5s; expected no start before 7s, its earliest start`},
	{check.WrongMakespan, "a second too long", func(e *example) { e.t.Makespan += sec },
		`wrong step time at 15s: found 15s; expected 14s`},
	{check.OverBudget, "a byte too few", func(e *example) { e.p.Budget-- },
		`over budget at step 5 in span 4 at 9s: found run B2 with 1 byte too few; expected room for 2 bytes`},
	{check.RunLate, "B1 a second late", func(e *example) { e.shift(5, sec); e.t.Makespan += sec },
		`run late at step 8 in span 5 at 12s: found run B1 at 13s; expected a start at 12s: data and room are there`},
	{check.TransferLate, "an offload a second late", func(e *example) { e.shift(2, sec) },
		`transfer late at step 1 in span 2 at 2s: found offload s1 at 3s; expected a start at 2s: lane, data and room are there`},
	{check.WrongMemory, "a byte more in a sample", func(e *example) { e.t.Memory[5].Used[sim.Activation]++ },
		`wrong memory at 6s: found 7 bytes [2 1 4 0 0 0]; expected 6 bytes [2 1 3 0 0 0]`},
	{check.WrongMemory, "no sample of the moment of the peak",
		func(e *example) { e.t.Memory = slices.Delete(e.t.Memory, 10, 12) },
		`wrong memory at 9s: found at most 10 bytes; expected 12 bytes for a moment`},
	{check.WrongCategory, "a byte in another band", func(e *example) {
		e.t.Memory[5].Used[sim.Activation]--
		e.t.Memory[5].Used[sim.Recomputed]++
	}, `wrong category at 6s: found 6 bytes [2 1 2 1 0 0]; expected 6 bytes [2 1 3 0 0 0]`},
	{check.WrongPeak, "a peak that is too low", func(e *example) { e.t.Peak-- },
		`wrong peak at 9s: found a peak of 11 bytes; expected 12 bytes in use`},
	{check.WrongPeak, "a peak that is too high", func(e *example) { e.t.Peak++ },
		`wrong peak at 9s: found a peak of 13 bytes; expected a sample of that size at that moment`},
	{check.WrongPeak, "a peak at another time", func(e *example) { e.t.PeakAt = 12*sec + 1 },
		`wrong peak at 12.000000001s: found a peak of 12 bytes; expected a sample of that size at that moment`},
	{check.WrongHost, "host memory given back early", func(e *example) { e.t.Host[1].At -= sec },
		`wrong host memory at 8s: found 0 bytes from 8s on; expected 0 bytes from 9s on`},
	{check.WrongHostPeak, "a host peak that is too low", func(e *example) { e.t.HostPeak-- },
		`wrong host peak: found 3 bytes; expected 4 bytes`},
	{check.WrongLives, "a life that ends early", func(e *example) { e.t.Lives[3].End -= sec },
		`wrong lives in span 1 at 2s: found s2 of 2 bytes (activations, from span 1, offloaded false) from 2s to 11s; expected s2 of 2 bytes (activations, from span 1, offloaded false) from 2s to 12s`},
	{check.WrongLives, "a life missing", func(e *example) { e.t.Lives = e.t.Lives[1:] },
		`wrong lives: found d2 of 1 byte (gradients, from span -1, offloaded false) from 0s to 12s; expected a0 of 1 byte (activations, from span -1, offloaded false) from 0s to 14s`},
	{check.WrongLives, "a life from nowhere", func(e *example) { e.t.Lives = append(e.t.Lives, e.t.Lives[0]) },
		`wrong lives: found a0 of 1 byte (activations, from span -1, offloaded false) from 0s to 14s; expected d2 of 1 byte (gradients, from span -1, offloaded false) from 0s to 12s`},
	{check.WrongLives, "events against time", func(e *example) { e.t.Lives[1].EndSeq = 13 },
		`wrong lives: found event 13 at 12s after one at 14s; expected events in the order of time`},
	{check.GapMissing, "no gap", func(e *example) { e.t.Gaps = nil },
		`gap missing at 6s: found no gap; expected gaps from 6s to 9s`},
	{check.GapMissing, "a gap that starts late", func(e *example) { e.t.Gaps[0].Start += sec },
		`gap missing at 6s: found a gap from 7s to 9s; expected gaps from 6s to 9s`},
	{check.GapCause, "a gap that ends early", func(e *example) { e.t.Gaps[0].End -= sec },
		`wrong gap cause at step 5 at 6s: found span 3; expected the fetch that brought it at 9s`},
	{check.GapMissing, "a gap too many", func(e *example) { e.t.Gaps = append(e.t.Gaps, e.t.Gaps[0]) },
		`gap missing at 6s: found one more gap from 6s to 9s; expected no other gaps`},
	{check.GapReason, "room was there", func(e *example) { e.t.Gaps[0].Reason = sim.NeedsRoom },
		`wrong gap at step 5 at 6s: found missing room; expected missing a1, which comes at 9s`},
	{check.GapReason, "another value", func(e *example) { e.t.Gaps[0].Value = d2 },
		`wrong gap at step 5 at 6s: found needs data of value 7; expected a reason why it stood still after 0s, when that value was there`},
	{check.GapReason, "another step", func(e *example) { e.t.Gaps[0].Step = 8 },
		`wrong gap at step 8 at 6s: found a gap until 9s at step 8; expected the step that held the counter`},
	{check.GapCause, "another cause", func(e *example) { e.t.Gaps[0].Cause = 2 },
		`wrong gap cause at step 5 at 6s: found span 2; expected the fetch that brought it at 9s`},
	{check.WrongCause, "another cause of B1", func(e *example) { e.t.Spans[5].Cause = 1 },
		`wrong cause at step 8 in span 5 at 12s: found dependency, span 1; expected what ended when it started`},
	{check.WrongCause, "a fetch that waited for room",
		func(e *example) { e.t.Spans[3].Why, e.t.Spans[3].Cause = sim.NeedsRoom, 1 },
		`wrong cause at step 4 in span 3 at 7s: found needs memory, span 1; expected what ended when it started`},
	{check.WrongTotals, "compute", func(e *example) { e.t.ComputeTime++ },
		`wrong totals: found compute 11.000000001s, recompute 0s, waiting [0s 3s 0s 0s 0s 0s 0s]; expected compute 11s, recompute 0s, waiting [0s 3s 0s 0s 0s 0s 0s]`},
	{check.WrongTotals, "waiting", func(e *example) { e.t.Waiting[sim.Drain]++ },
		`wrong totals: found compute 11s, recompute 0s, waiting [0s 3s 0s 0s 0s 0s 1ns]; expected compute 11s, recompute 0s, waiting [0s 3s 0s 0s 0s 0s 0s]`},
	{check.WrongDecisions, "a stage that was kept", func(e *example) { e.t.Decisions[1] = sim.Recompute },
		`wrong decisions: found decision 4 for stage 2; expected 0`},
}

func TestEveryReason(t *testing.T) {
	seen := map[check.Reason]bool{}
	for _, b := range breaks {
		t.Run(b.reason.String()+"/"+b.what, func(t *testing.T) {
			e := newExample(engine.HalfDuplex, engine.Whole)
			b.do(e)
			err := check.Trace(e.p, e.s, e.t)
			var ref *check.Refutation
			if !errors.As(err, &ref) {
				t.Fatalf("%s: got %v, want a refutation: %v", b.what, err, b.reason)
			}
			if ref.Reason != b.reason || ref.Error() != b.want {
				t.Errorf("%s:\n got %v: %q\nwant %v: %q", b.what, ref.Reason, ref, b.reason, b.want)
			}
		})
		seen[b.reason] = true
	}
	for r := check.Reason(0); r < check.NumReasons; r++ {
		if !seen[r] {
			t.Errorf("no broken trace for reason %q", r)
		}
	}
}
