package draw

import (
	"memtide/web/lookup/tracetest"
	"fmt"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

func TestSentences(t *testing.T) {
	m := smallModel()
	for _, c := range []struct {
		t    Target
		want string
	}{
		{Target{OnSpan, 0}, "F1, forward of conv1, 0.0 to 20.0 ms."},
		{Target{OnSpan, 5}, "F2, recompute of block<2>&, 50.0 to 80.0 ms."},
		{Target{OnSpan, 8}, "B1, backward of conv1, 155.0 to 195.0 ms, waited 15 ms for s1: its copy to the device was still under way."},
		{Target{OnSpan, 2}, "s1, copy to the host of conv1, 300 MiB, 20.0 to 70.0 ms, started when F1 ended."},
		{Target{OnSpan, 7}, "s1, copy to the device of conv1, 300 MiB, 105.0 to 155.0 ms, could not start earlier: memory was full until F2 ended."},
		{Target{OnGap, 0}, "B1 waits 15 ms for s1, which is still being fetched (host to device, 105.0 to 155.0 ms). The fetch could not start earlier: memory was full until F2 ended."},
		{Target{OnStage, 1}, "conv1, layer 1 of 2: 300 MiB are offloaded; forward 20 ms, backward 40 ms, copy to the host 50 ms, copy to the device 50 ms."},
		{Target{OnStage, 2}, "block<2>&, layer 2 of 2: 200 MiB are recomputed; forward 30 ms, recompute 30 ms, backward 60 ms."},
		{Target{OnStage, 3}, "loss: 4 B are kept."},
		{Target{OnBand, int(sim.Recomputed)}, "Recomputed: at most 200 MiB, at 50.0 ms."},
		{Target{OnBudget, 0}, "Budget 1 GiB."},
		{Target{}, ""},
		{Target{OnGap, 7}, ""},
	} {
		if got := m.Sentence(c.t); got != c.want {
			t.Errorf("Sentence(%+v):\ngot  %s\nwant %s", c.t, got, c.want)
		}
	}
	if got, want := m.Summary(0), "Peak 850 MiB of 1 GiB. Step time 195 ms: 150 ms compute, 30 ms recompute, 15 ms waiting."; got != want {
		t.Errorf("Summary:\ngot  %s\nwant %s", got, want)
	}
}

// Every reason and every cause has its words.
func TestReasons(t *testing.T) {
	p := tracetest.Problem()
	for _, c := range []struct {
		reason sim.Reason
		why    sim.Reason // of the cause
		cause  sim.SpanID
		of     sim.SpanID // cause of the cause
		want   string
	}{
		{sim.NeedsRoom, sim.Dependency, 2, 0, "B1 waits 15 ms for memory: 300 MiB more is needed, which comes free as s1 is copied to the host (device to host, 20.0 to 70.0 ms). The copy started when F1 ended."},
		{sim.CopyOut, sim.Dependency, 2, 7, "B1 waits 15 ms until s1 has been copied to the host (device to host, 20.0 to 70.0 ms). The copy could not start earlier: the link to the host was busy with s1."},
		{sim.Drain, sim.None, 2, sim.NoSpan, "All computations are over; for 15 ms transfers are still under way, the last is the copy to the host of s1 (device to host, 20.0 to 70.0 ms)."},
		{sim.NeedsData, sim.Window, 7, sim.NoSpan, "B1 waits 15 ms for s1, which is still being fetched (host to device, 105.0 to 155.0 ms). The fetch was held back by the schedule until then."},
		{sim.NeedsData, sim.CopyOut, 7, 2, "B1 waits 15 ms for s1, which is still being fetched (host to device, 105.0 to 155.0 ms). The fetch could not start earlier: its copy to the host had to end first."},
		{sim.NeedsData, sim.None, sim.NoSpan, sim.NoSpan, "B1 waits 15 ms for s1, which is still being fetched."},
	} {
		tr := tracetest.Trace(p)
		g := &tr.Gaps[0]
		g.Reason, g.Cause, g.Need = c.reason, c.cause, 300*engine.MiB
		if c.cause != sim.NoSpan {
			tr.Spans[c.cause].Why, tr.Spans[c.cause].Cause = c.why, c.of
		}
		if got := NewModel(p, tr).Sentence(Target{OnGap, 0}); got != c.want {
			t.Errorf("%v because of %v:\ngot  %s\nwant %s", c.reason, c.why, got, c.want)
		}
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
20|70|to host|s1|copy to the host|conv1|started when F1 ended
50|50|compute|F3|forward|loss|
50|50|compute|B3|backward|loss|
50|80|compute|F2|recompute|block<2>&|
80|140|compute|B2|backward|block<2>&|
105|155|to device|s1|copy to the device|conv1|could not start earlier: memory was full until F2 ended
140|155|compute|waiting|needs data||B1 waits 15 ms for s1, which is still being fetched (host to device, 105.0 to 155.0 ms). The fetch could not start earlier: memory was full until F2 ended.
155|195|compute|B1|backward|conv1|waited 15 ms for s1: its copy to the device was still under way
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestHeldAt(t *testing.T) {
	h := smallModel().HeldAt(120*ms, 2)
	// Fetching grows from 0 at 105 ms to 300 MiB at 155 ms: 90 MiB at 120 ms.
	want := "120ms 640 MiB [200 50 100 200 90 0] s1/conv1 s2/block<2>& and 1 more of 100 MiB"
	mib := make([]int64, len(h.Used))
	for i, b := range h.Used {
		mib[i] = int64(b / engine.MiB)
	}
	got := fmt.Sprint(h.At, " ", int64(h.Total/engine.MiB), " MiB ", mib)
	for _, v := range h.Lives {
		got += " " + v.Name + "/" + v.Stage
	}
	got += fmt.Sprintf(" and %d more of %d MiB", h.Others, h.Rest/engine.MiB)
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if h := smallModel().HeldAt(160*ms, 9); h.Lives[len(h.Lives)-1].Name != "temporaries of B1" {
		t.Errorf("got %+v, want the temporaries of B1 last", h.Lives)
	}
}

// The index of lives finds what a scan finds.
func TestHeldAtLarge(t *testing.T) {
	p := tracetest.Problem()
	tr := tracetest.Trace(p)
	tr.Lives = nil
	for i := range 1000 {
		start := time.Duration(i) * 50_505 * time.Microsecond % (190 * ms) // all over the step, unsorted
		tr.Lives = append(tr.Lives, sim.Life{Value: 1, Op: engine.NoOp, Bytes: 1, Start: start, End: start + time.Duration(i%11+1)*ms})
	}
	m := NewModel(p, tr)
	for at := -1 * ms; at < 200*ms; at += ms / 3 {
		want := 0
		for i := range tr.Lives {
			if l := &tr.Lives[i]; l.Start <= at && at < l.End {
				want++
			}
		}
		if h := m.HeldAt(at, 5); len(h.Lives)+h.Others != want {
			t.Fatalf("%v: %d lives, want %d", at, len(h.Lives)+h.Others, want)
		}
	}
}

// Two waits in a row count together.
func TestWaitedTwice(t *testing.T) {
	p := tracetest.Problem()
	tr := tracetest.Trace(p)
	tr.Gaps = []sim.Gap{
		{Start: 140 * ms, End: 144 * ms, Reason: sim.CopyOut, Value: 5, Cause: 2},
		{Start: 144 * ms, End: 155 * ms, Reason: sim.NeedsRoom, Value: engine.NoValue, Cause: 2},
	}
	m := NewModel(p, tr)
	want := "B1, backward of conv1, 155.0 to 195.0 ms, waited 15 ms for memory: it was full until s1 was copied to the host."
	if got := m.Sentence(Target{OnSpan, 8}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
