package pipeline_test

import (
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/pipeline"
	"memtide/engine/pipeline/check"
)

// row is a case of published schedules: the times of a stage and of a message, the limit in passes of a stage, the
// time of the published schedule when played, and the best time found before.
type row struct {
	name         string
	shape        pipeline.Shape
	ranks, micro int
	f, b, w, c   time.Duration
	fused        bool
	passes       engine.Bytes
	published    int64
	found        int64 // the longest accepted step; for V 14.6B, zb-v, 1583058 is known
}

// rows are the authors' measured times (sail-sg/zero-bubble's table: times in microseconds of a stage), and small cases
// of the pipeline-parallelism tutor.
var rows = []row{
	{"units", pipeline.Straight, 4, 8, 1, 1, 1, 0, false, 4, 27, 27},
	{"1:2:1", pipeline.Straight, 4, 8, 1, 2, 1, 0, false, 4, 38, 38},
	{"units, twice the room", pipeline.Straight, 4, 8, 1, 1, 1, 0, false, 8, 27, 27},
	{"V, whole backwards", pipeline.Vee, 4, 8, 1, 1, 0, 0, true, 8, 38, 38},
	{"wrapped, whole backwards", pipeline.Wrapped, 3, 4, 1, 1, 0, 0, true, 6, 22, 20},
	{"1.5B", pipeline.Straight, 8, 24, 18522, 18086, 9337, 601, false, 8, 1310405, 1310405},
	{"1.5B, 2p", pipeline.Straight, 8, 24, 18522, 18086, 9337, 601, false, 15, 1236632, 1236632},
	{"6.2B", pipeline.Straight, 8, 24, 29718, 29444, 19927, 527, false, 8, 2187537, 2187537},
	{"14.6B", pipeline.Straight, 16, 48, 11347, 11248, 8132, 377, false, 16, 1714461, 1714461},
	{"28.3B", pipeline.Straight, 32, 96, 10419, 10207, 7715, 408, false, 32, 3171569, 3171569},
	{"V units 4, zb-v", pipeline.Vee, 4, 8, 1, 1, 1, 0, false, 8, 51, 51},
	{"V units 4, half", pipeline.Vee, 4, 8, 1, 1, 1, 0, false, 6, 53, 53},
	{"V units 4, min", pipeline.Vee, 4, 8, 1, 1, 1, 0, false, 4, 59, 59},
	{"V units 8, zb-v", pipeline.Vee, 8, 24, 1, 1, 1, 0, false, 16, 151, 151},
	{"V units 8, half", pipeline.Vee, 8, 24, 1, 1, 1, 0, false, 10, 161, 161},
	{"V units 8, min", pipeline.Vee, 8, 24, 1, 1, 1, 0, false, 8, 171, 167},
	{"V 1.5B, zb-v", pipeline.Vee, 8, 24, 9261, 9043, 4668, 601, false, 16, 1188518, 1187180},
	{"V 1.5B, half", pipeline.Vee, 8, 24, 9261, 9043, 4668, 601, false, 10, 1328752, 1323838},
	{"V 1.5B, min", pipeline.Vee, 8, 24, 9261, 9043, 4668, 601, false, 8, 1658824, 1454102},
	{"V 6.2B, zb-v", pipeline.Vee, 8, 24, 14859, 14722, 9963, 527, false, 16, 2020570, 2013424},
	{"V 6.2B, half", pipeline.Vee, 8, 24, 14859, 14722, 9963, 527, false, 10, 2219116, 2215132},
	{"V 6.2B, min", pipeline.Vee, 8, 24, 14859, 14722, 9963, 527, false, 8, 2607634, 2364131},
	{"V 14.6B, zb-v", pipeline.Vee, 16, 48, 5673, 5624, 4066, 377, false, 32, 1588218, 1584908},
	{"V 14.6B, half", pipeline.Vee, 16, 48, 5673, 5624, 4066, 377, false, 18, 1773038, 1768122},
	{"V 14.6B, min", pipeline.Vee, 16, 48, 5673, 5624, 4066, 377, false, 12, 2084986, 2085721},
	{"both ways 4, 8", pipeline.BothWays, 4, 8, 1, 1, 1, 0, false, 5, 25, 25},
	{"both ways 8, 16", pipeline.BothWays, 8, 16, 1, 1, 1, 0, false, 9, 51, 51},
	{"both ways 8, 20", pipeline.BothWays, 8, 20, 1, 1, 1, 0, false, 9, 63, 63},
	{"both ways 16, 32", pipeline.BothWays, 16, 32, 1, 1, 1, 0, false, 17, 103, 103},
}

func (c *row) problem() *pipeline.Problem {
	plan := pipeline.Request{Ranks: c.ranks, Micro: c.micro, Chunks: 2, Send: c.c, Cost: costs(c.f, c.b, c.w),
		Room: func(int) (fixed, limit engine.Bytes) { return 0, c.passes }}
	p := plan.Problem(c.shape)
	p.Cost, p.Fused = nil, c.fused
	return p
}

// TestTable checks that the search is as good as before on the published cases, and that the checker agrees. With
// MEMTIDE_LONG=1 it plays as many passes as one core plays in about 20 seconds.
func TestTable(t *testing.T) {
	for i, c := range rows {
		effort := 150_000_000
		if testing.Short() && i%4 != 0 {
			continue
		}
		if !long {
			if c.f > 1 && c.shape == pipeline.Vee || c.name == "V units 8, min" || c.name == "V units 8, half" {
				continue
			}
			effort = 2_000_000
		}
		p := c.problem()
		f, err := pipeline.Search(p, pipeline.Options{Effort: effort, Seed: 1}, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if c.ranks*c.micro < 500 {
			if err := check.Trace(p, f.Order, f.Trace); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		got := int64(f.Trace.Makespan)
		if long {
			t.Logf("%2d %-26s published %8d before %8d now %8d bound %8d from %s", i, c.name, c.published, c.found,
				got, f.Bound, f.From)
		}
		if got > c.found {
			t.Errorf("%s: %d; want %d or less (bound %d)", c.name, got, c.found, f.Bound)
		}
		if f.Trace.Makespan < f.Bound {
			t.Errorf("%s: %d is below the bound %d", c.name, got, f.Bound)
		}
	}
}
