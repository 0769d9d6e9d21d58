package export_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"memtide/engine/export"
	"memtide/engine/sim"
)

// A trace follows the document "Trace Event Format" for the three phases that it uses: X has a time and a duration, C
// has numbers as arguments, and M names a process or a thread. The spans on the lanes are those that were played.
func TestChromeTrace(t *testing.T) {
	for _, p := range plans(t, 12) {
		tr, err := sim.Play(p.Problem, p.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		text, err := export.ChromeTrace(p.Problem, tr)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			TraceEvents []struct {
				Name     *string
				Ph       string
				Pid, Tid *int
				Ts, Dur  *float64
				Args     map[string]any
			}
			DisplayTimeUnit string
		}
		if err := json.Unmarshal(text, &got); err != nil || got.DisplayTimeUnit != "ms" {
			t.Fatalf("%v, unit %q", err, got.DisplayTimeUnit)
		}
		spans, busy, counters := 0, map[int]float64{}, 0
		for i, e := range got.TraceEvents {
			if e.Name == nil || e.Pid == nil || e.Tid == nil || e.Ts == nil {
				t.Fatalf("event %d lacks a field: %+v", i, e)
			}
			switch {
			case e.Ph == "X" && e.Dur != nil && *e.Dur >= 0 && *e.Ts >= 0:
				if *e.Tid < int(sim.NumLanes) {
					spans++
					busy[*e.Tid] += *e.Dur
				}
			case e.Ph == "C" && len(e.Args) > 0:
				for _, x := range e.Args {
					if n, ok := x.(float64); !ok || n < 0 {
						t.Errorf("event %d: the counter %s has %v", i, *e.Name, x)
					}
				}
				counters++
			case e.Ph == "M" && (*e.Name == "process_name" || *e.Name == "thread_name") && e.Args["name"] != nil:
			default:
				t.Errorf("event %d is no event of the format: %+v", i, e)
			}
		}
		if want := len(tr.Spans); spans != want {
			t.Errorf("%d spans on the lanes; want %d", spans, want)
		}
		if want := len(tr.Memory) + len(tr.Host); counters != want {
			t.Errorf("%d counters; want %d", counters, want)
		}
		want := float64(tr.ComputeTime+tr.RecomputeTime) / float64(time.Microsecond)
		if got := busy[int(sim.Compute)]; math.Abs(got-want) > 1e-3*want {
			t.Errorf("the compute lane is busy for %v us; want %v", got, want)
		}
	}
}
