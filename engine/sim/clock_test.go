package sim

import (
	"errors"
	"strings"
	"testing"
	"time"

	"memtide/engine"
)

// A transfer or a run that would end beyond the range of a time.Duration is refused. Slow ones within it are played.
func TestEndless(t *testing.T) {
	const day = 24 * time.Hour
	run, free, fetch, offload, wait := engine.Run, engine.Free, engine.Fetch, engine.Offload, engine.Wait
	for _, tc := range []struct {
		name     string
		size     engine.Bytes // of the value that F makes and B reads
		rate     engine.Rate
		back     time.Duration
		budget   engine.Bytes
		schedule engine.Schedule
		step     int // the refused step, or -1
	}{
		{"a hundred years", 100 * 365 * 86400, 1, day, engine.NoLimit,
			engine.Schedule{run(0), offload(0), wait(0), free(0), fetch(0, 0), run(1)}, -1},
		{"two hundred there", 200 * 365 * 86400, 1, day, engine.NoLimit,
			engine.Schedule{run(0), offload(0), run(1)}, -1},
		{"and back", 200 * 365 * 86400, 1, day, engine.NoLimit,
			engine.Schedule{run(0), offload(0), wait(0), free(0), fetch(0, 0), run(1)}, 4},
		{"longer than any clock", engine.MaxBytes, 1, day, engine.NoLimit,
			engine.Schedule{run(0), offload(0), wait(0), free(0), fetch(0, 0), run(1)}, 1},
		{"beside what runs", engine.MaxBytes, 1, day, engine.NoLimit, engine.Schedule{run(0), offload(0), run(1)}, 1},
		{"a run", 1, 1 << 30, 1<<63 - 1, engine.NoLimit, engine.Schedule{run(0), run(1)}, 1},
		{"a run before the end", 1, 1 << 30, 1<<63 - 1 - 2*day, engine.NoLimit, engine.Schedule{run(0), run(1)}, -1},
		{"a late run", 200 * 365 * 86400, 1, 1 << 62, engine.NoLimit,
			engine.Schedule{run(0), offload(0), wait(0), run(1)}, 3},
	} {
		for _, mode := range []engine.Transfers{engine.Whole, engine.Streamed} {
			g := &engine.Graph{Done: engine.NoValue,
				Values: []engine.Value{{Name: "v", Size: tc.size, PartOf: engine.NoValue}},
				Ops: []engine.Op{{Name: "F", Time: day, Out: []engine.ValueID{0}},
					{Name: "B", Time: tc.back, In: []engine.ValueID{0}}}}
			p := &engine.Problem{Graph: g, Device: engine.Device{ToHost: tc.rate, ToDev: tc.rate}, Transfers: mode,
				Budget: tc.budget}
			trace, err := Play(p, tc.schedule)
			var bad *StepError
			switch {
			case tc.step < 0 && (err != nil || trace.Makespan < 2*day ||
				trace.WaitingTotal()+trace.ComputeTime != trace.Makespan):
				t.Errorf("%s, %v: got %+v, %v; want it played", tc.name, mode, trace, err)
			case tc.step >= 0 && (!errors.As(err, &bad) || bad.Step != tc.step ||
				!strings.Contains(bad.Why, "292 years")):
				t.Errorf("%s, %v: got %v, want step %d refused", tc.name, mode, err, tc.step)
			}
		}
	}
}
