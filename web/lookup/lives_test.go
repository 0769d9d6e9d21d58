package lookup

import (
	"fmt"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/lookup/tracetest"
)

func TestHeldAt(t *testing.T) {
	h := smallModel().HeldAt(120*ms, 2)
	// The fetch grows from 0 at 105 ms to 300 MiB at 155 ms, so it has 90 MiB at 120 ms.
	want := "640 MiB [200 50 100 200 90 0] s1/conv1 s2/block<2>& and 1 more of 100 MiB"
	mib := make([]int64, len(h.Used))
	for i, b := range h.Used {
		mib[i] = int64(b / engine.MiB)
	}
	got := fmt.Sprint(int64(h.Total/engine.MiB), " MiB ", mib)
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

// TestHeldAtLarge checks that HeldAt counts as many values as a scan of all lives.
func TestHeldAtLarge(t *testing.T) {
	p := tracetest.Problem()
	tr := tracetest.Trace(p)
	tr.Lives = nil
	for i := range 1000 {
		start := time.Duration(i) * 50_505 * time.Microsecond % (190 * ms) // over the whole step, unsorted
		tr.Lives = append(tr.Lives, sim.Life{Value: 1, Op: engine.NoOp, Bytes: 1, Start: start,
			End: start + time.Duration(i%11+1)*ms})
	}
	m := New(p, tr)
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
