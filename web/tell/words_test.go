package tell

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/lookup"
	"memtide/web/lookup/tracetest"
)

func TestSentences(t *testing.T) {
	m := smallModel()
	for _, c := range []struct {
		t    lookup.Target
		want string
	}{
		{lookup.Target{Kind: lookup.OnSpan, Index: 0}, "Forward of conv1, 0.0 to 20.0 ms."},
		{lookup.Target{Kind: lookup.OnSpan, Index: 5}, "Recompute of block<2>&, 50.0 to 80.0 ms."},
		{lookup.Target{Kind: lookup.OnSpan, Index: 8},
			"Backward of conv1, 155.0 to 195.0 ms. It waited 15 ms for conv1 to arrive."},
		{lookup.Target{Kind: lookup.OnSpan, Index: 2},
			"Copy to the host of conv1, 300 MiB, 20.0 to 70.0 ms. It started when conv1 had run forward."},
		{lookup.Target{Kind: lookup.OnSpan, Index: 7},
			"Copy to the device of conv1, 300 MiB, 105.0 to 155.0 ms. It could not come back earlier: memory was full until block<2>& was computed again."},
		{lookup.Target{Kind: lookup.OnGap, Index: 0},
			"Why it waits 15 ms: Conv1 is ready at 140.0 ms, but what it reads is still on the host. Conv1 is back on the device at 155.0 ms. It could not come back earlier: memory was full until block<2>& was computed again."},
		{lookup.Target{Kind: lookup.OnStage, Index: 1},
			"conv1, block 1 of 2: 300 MiB are moved; forward 20 ms, backward 40 ms, copy to the host 50 ms, copy to the device 50 ms."},
		{lookup.Target{Kind: lookup.OnStage, Index: 2},
			"block<2>&, block 2 of 2: 200 MiB are computed again; forward 30 ms, recompute 30 ms, backward 60 ms."},
		{lookup.Target{Kind: lookup.OnStage, Index: 3}, "loss: 4 B are kept."},
		{lookup.Target{Kind: lookup.OnBand, Index: int(sim.Recomputed)},
			"Computed again: at most 200 MiB, at 50.0 ms."},
		{lookup.Target{Kind: lookup.OnBudget, Index: 0}, "The plan may use 1 GiB."},
		{lookup.Target{}, ""},
		{lookup.Target{Kind: lookup.OnGap, Index: 7}, ""},
	} {
		if got := m.Sentence(c.t); got != c.want {
			t.Errorf("Sentence(%+v):\ngot  %s\nwant %s", c.t, got, c.want)
		}
	}
	if got, want := m.Summary(0),
		"Peak 850 MiB of 1 GiB. Step time 195 ms: 150 ms compute, 30 ms recompute, 15 ms waiting."; got != want {
		t.Errorf("Summary:\ngot  %s\nwant %s", got, want)
	}
}

func TestTable(t *testing.T) {
	head, rows := smallModel().Table()
	var b strings.Builder
	b.WriteString(strings.Join(head, "|") + "\n")
	for _, r := range rows {
		b.WriteString(strings.Join(r, "|") + "\n")
	}
	want := `start (ms)|end (ms)|lane|what|kind|layer|why
0|20|compute|F1|forward|conv1|
20|50|compute|F2|forward|block<2>&|
20|70|to host|s1|copy to the host|conv1|It started when conv1 had run forward.
50|50|compute|F3|forward|loss|
50|50|compute|B3|backward|loss|
50|80|compute|F2|recompute|block<2>&|
80|140|compute|B2|backward|block<2>&|
105|155|to device|s1|copy to the device|conv1|It could not come back earlier: memory was full until block<2>& was computed again.
140|155|compute|waiting|needs data||Conv1 is ready at 140.0 ms, but what it reads is still on the host. Conv1 is back on the device at 155.0 ms. It could not come back earlier: memory was full until block<2>& was computed again.
155|195|compute|B1|backward|conv1|It waited 15 ms for conv1 to arrive.
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// TestWaitedTwice checks that two adjacent waits count as one.
func TestWaitedTwice(t *testing.T) {
	p := tracetest.Problem()
	tr := tracetest.Trace(p)
	tr.Gaps = []sim.Gap{
		{Start: 140 * ms, End: 144 * ms, Reason: sim.CopyOut, Value: 5, Cause: 2},
		{Start: 144 * ms, End: 155 * ms, Reason: sim.NeedsRoom, Value: engine.NoValue, Cause: 2},
	}
	m := New(p, tr)
	want := "Backward of conv1, 155.0 to 195.0 ms. It waited 15 ms for conv1 to leave."
	if got := m.Sentence(lookup.Target{Kind: lookup.OnSpan, Index: 8}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestChainSentence(t *testing.T) {
	if got, want := smallModel().ChainSentence(),
		"Critical chain: 120 ms of runs, 50 ms of copies, 25 ms held back by the schedule. Together the step time, 195 ms."; got != want {
		t.Errorf("sentence %q\nwant     %q", got, want)
	}
}

// TestSentencesOfGraphs checks that the sentence of a value describes its life, and that the sentence of a layer
// has the same form in graphs as in chains.
func TestSentencesOfGraphs(t *testing.T) {
	m := New(tracetest.Played(t, tracetest.UNet(24, 2), false))
	if got, want := m.Sentence(lookup.Target{Kind: lookup.OnValue, Index: 0}),
		"x0, 24 MiB, is made by op0; the last forward reader, op23, runs 23 operations later. It is read 6 times and on the device for 48 ms of 48 ms, without a break."; got != want {
		t.Errorf("sentence:\ngot  %s\nwant %s", got, want)
	}
	p := tracetest.Skip()
	trace, err := sim.Play(p, engine.Schedule{engine.Run(0), engine.Offload(2), engine.Offload(1), engine.Run(1),
		engine.Run(2), engine.Run(3)})
	if err != nil {
		t.Fatal(err)
	}
	m = New(p, trace)
	for target, want := range map[lookup.Target]string{
		{Kind: lookup.OnStage, Index: 1}: "conv, block 1 of 2: 20 B are moved; forward 1 ms, backward 1 ms, copy to the host 50 µs.",
		{Kind: lookup.OnStage, Index: 2}: "add, block 2 of 2: 5 B are kept; forward 1 ms, backward 1 ms.",
		{Kind: lookup.OnSpan, Index: 0}:  "Conv, forward, 0.0 to 1.0 ms.",
	} {
		if got := m.Sentence(target); got != want {
			t.Errorf("%+v:\ngot  %s\nwant %s", target, got, want)
		}
	}
	if got, want := m.StripDesc(), "2 blocks: 1 kept, 0 computed again, 1 moved"; !strings.HasPrefix(got, want) {
		t.Errorf("the strip says %q; want it to begin with %q", got, want)
	}
}
