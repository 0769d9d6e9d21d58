package tell

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/lookup"
	"memtide/web/lookup/tracetest"
)

// explained returns the explanation of a target, one sentence per line, each after the name of its colour.
func explained(m *Index, t lookup.Target) string {
	var out []string
	for _, s := range m.Explain(t) {
		out = append(out, s.Role.String()+": "+s.String())
	}
	return strings.Join(out, "\n")
}

// TestExplainWaits checks that explanations say what waits for what, what ends the wait, and why it does not end
// earlier, for every reason and cause.
func TestExplainWaits(t *testing.T) {
	for _, c := range []struct {
		reason, why sim.Reason
		cause, of   sim.SpanID // cause of the wait, and cause of that cause
		want        string
	}{
		{sim.NeedsData, sim.NeedsRoom, 7, 5, `backward: Conv1 is ready at 140.0 ms, but what it reads is still on the host.
transfer: Conv1 is back on the device at 155.0 ms.
recompute: It could not come back earlier: memory was full until block<2>& was computed again.`},
		{sim.NeedsRoom, sim.Dependency, 2, 7, `backward: Conv1 is ready at 140.0 ms, but 300 MiB is missing.
transfer: Room comes free when conv1 has left for the host, at 70.0 ms.
transfer: It could not leave earlier: the link was busy with conv1 until 155.0 ms.`},
		{sim.NeedsRoom, sim.Dependency, 2, 0, `backward: Conv1 is ready at 140.0 ms, but 300 MiB is missing.
transfer: Room comes free when conv1 has left for the host, at 70.0 ms.
forward: It started when conv1 had run forward.`},
		{sim.CopyOut, sim.NeedsData, 2, 0, `backward: Conv1 is ready at 140.0 ms, but what it replaces is still being copied.
transfer: Conv1 has left for the host at 70.0 ms.
forward: It could not leave earlier: it needs what the forward of conv1 makes, until 20.0 ms.`},
		{sim.NeedsData, sim.Window, 7, sim.NoSpan, `backward: Conv1 is ready at 140.0 ms, but what it reads is still on the host.
transfer: Conv1 is back on the device at 155.0 ms.
transfer: It could not come back earlier: the schedule held it back.`},
		{sim.NeedsData, sim.CopyOut, 7, 2, `backward: Conv1 is ready at 140.0 ms, but what it reads is still on the host.
transfer: Conv1 is back on the device at 155.0 ms.
transfer: It could not come back earlier: it had to be copied to the host first.`},
		{sim.NeedsData, sim.None, sim.NoSpan, sim.NoSpan,
			`backward: Conv1 is ready at 140.0 ms, but what it reads is still on the host.`},
		{sim.Drain, sim.None, 2, sim.NoSpan, `waiting: All computations are over at 140.0 ms; the step ends when the last copy has.
transfer: That is conv1, copy to the host, until 70.0 ms.`},
	} {
		p := tracetest.Problem()
		tr := tracetest.Trace(p)
		g := &tr.Gaps[0]
		g.Reason, g.Cause, g.Need = c.reason, c.cause, 300*engine.MiB
		if c.cause != sim.NoSpan {
			tr.Spans[c.cause].Why, tr.Spans[c.cause].Cause = c.why, c.of
		}
		m := New(p, tr)
		if got := explained(m, lookup.Target{Kind: lookup.OnGap, Index: 0}); got != c.want {
			t.Errorf("%v because of %v:\ngot  %s\nwant %s", c.reason, c.why, got, c.want)
		}
	}
}

func TestExplainOthers(t *testing.T) {
	m := smallModel()
	for _, c := range []struct {
		t         lookup.Target
		question  string
		explained string
	}{
		{lookup.Target{Kind: lookup.OnGap, Index: 0}, "Why it waits 15 ms", "backward: "},
		{lookup.Target{Kind: lookup.OnSpan, Index: 8}, "Conv1, backward",
			"backward: Backward of conv1, 155.0 to 195.0 ms.\ntransfer: It waited 15 ms for conv1 to arrive."},
		{lookup.Target{Kind: lookup.OnSpan, Index: 0}, "Conv1, forward", "forward: Forward of conv1, 0.0 to 20.0 ms."},
		{lookup.Target{Kind: lookup.OnStage, Index: 1}, "Conv1", "transfer: conv1, block 1 of 2: 300 MiB are moved"},
		{lookup.Target{Kind: lookup.OnStage, Index: 2}, "Block<2>&",
			"recompute: block<2>&, block 2 of 2: 200 MiB are computed again"},
		{lookup.Target{Kind: lookup.OnStage, Index: 3}, "Loss", "forward: loss: 4 B are kept."},
		{lookup.Target{}, "Why the peak is here",
			"recompute: The most memory is in use at 50.0 ms, in the recompute of block<2>&: 850 MiB."},
		{lookup.Target{Kind: lookup.OnBudget, Index: 0}, "Why the peak is here", "recompute: The most memory"},
		{lookup.Target{Kind: lookup.OnGap, Index: 7}, "Why the peak is here", "recompute: The most memory"},
	} {
		if q, e := m.Question(c.t), explained(m, c.t); q != c.question || !strings.HasPrefix(e, c.explained) {
			t.Errorf("%+v:\ngot  %s\n%s\nwant %s\n%s", c.t, q, e, c.question, c.explained)
		}
	}
}
