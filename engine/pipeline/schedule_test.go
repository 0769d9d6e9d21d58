package pipeline_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"memtide/engine/enginetest"
	"memtide/engine/pipeline"
	"memtide/engine/pipeline/check"
)

// long reports whether tests take all cases instead of some.
var long = os.Getenv("MEMTIDE_LONG") != ""

// costs returns the times of passes that take equally long at each stage.
func costs(f, b, w time.Duration) func(pipeline.Pass) time.Duration {
	times := map[pipeline.Kind]time.Duration{pipeline.Forward: f, pipeline.Inputs: b, pipeline.Weights: w,
		pipeline.Backward: b + w}
	return func(x pipeline.Pass) time.Duration { return times[x.Kind] }
}

// played plays a schedule, checks the trace, and returns it.
func played(t *testing.T, name string, p pipeline.Request) *pipeline.Trace {
	t.Helper()
	s, err := pipeline.New(name, p)
	if err != nil {
		t.Fatalf("%s, %d ranks, %d micro batches: %v", name, p.Ranks, p.Micro, err)
	}
	trace, err := s.Play()
	if err != nil {
		t.Fatalf("%s, %d ranks, %d micro batches: %v", name, p.Ranks, p.Micro, err)
	}
	if p.Ranks*p.Micro <= 64 { // the checker is simple, and slow for long orders
		if err := check.Trace(s.Problem, s.Order, trace); err != nil {
			t.Fatalf("%s, %d ranks, %d micro batches: %v", name, p.Ranks, p.Micro, err)
		}
	}
	return trace
}

// formula holds what the papers say about a schedule with stages of equal times. f, b and w are the times of a
// stage.
type formula struct {
	name   string
	chunks int                                         // stages of a rank
	idle   func(p, m int, f, b, w time.Duration) int64 // the idle time of the fullest rank; nil if not known
	held   func(p, m, r int) int
	takes  func(p, m int) bool // whether the schedule supports p ranks and m micro batches; nil means always
	uneven bool                // the formulas also hold for times that differ
}

var formulas = []formula{
	// arXiv:1811.06965, section 2, and arXiv:2104.04473, section 2.2.
	{name: "gpipe", chunks: 1, idle: bubble, held: func(p, m, r int) int { return m }, uneven: true},
	{name: "1f1b", chunks: 1, idle: bubble, held: func(p, m, r int) int { return min(m, p-r) }, uneven: true},
	{name: "interleaved", chunks: 2, idle: bubble, held: interleavedHeld(2), takes: multiple, uneven: true},
	{name: "interleaved", chunks: 3, idle: bubble, held: interleavedHeld(3), takes: multiple, uneven: true},
	{name: "interleaved-torch", chunks: 2, idle: bubble, takes: func(p, m int) bool { return m%(m/p) == 0 },
		uneven: true},
	{name: "interleaved-even", chunks: 2, idle: bubble, uneven: true},
	{name: "interleaved-even", chunks: 3, idle: bubble, uneven: true},
	// arXiv:2211.05953 and arXiv:2402.03791: groups that do not overlap have one bubble each.
	{name: "looped-bfs", chunks: 2, idle: bubble, held: func(p, m, r int) int { return 2 * m }, uneven: true},
	{name: "bf-pp", chunks: 2, idle: func(p, m int, f, b,
		w time.Duration) int64 {
		return bubble(p, m, f, b, w) * int64(m/p)
	},
		held: func(p, m, r int) int { return 2 * p }, takes: multiple, uneven: true},
	// arXiv:2401.10241, table 2: (p-1)(f+b-w) with w <= f, and (p-1)(f+b-2w). The latter is 0 for equal times,
	// and the (p-1)f before the last rank begins remain.
	{name: "zb-h1", chunks: 1, idle: func(p, m int, f, b, w time.Duration) int64 { return int64(p-1) * int64(f+b-w) },
		held: func(p, m, r int) int { return p }, uneven: true},
	{name: "zb-h2", chunks: 1, idle: start, held: func(p, m, r int) int { return 2*p - 1 },
		takes: func(p, m int) bool { return m >= 2*p-1 }},
	{name: "zb-1p", chunks: 1, idle: func(p, m int, f, b, w time.Duration) int64 { return int64(p-1) * int64(f+b-w) },
		held: func(p, m, r int) int { return p }, uneven: true},
	{name: "zb-2p", chunks: 1, idle: start, takes: func(p, m int) bool { return m >= 2*p-1 }},
	// arXiv:2405.15362: the last rank begins p-1 forwards later; the counts are those of the authors' program.
	{name: "zb-v", chunks: 2, idle: start, held: func(p, m, r int) int { return 2 * p },
		takes: func(p, m int) bool { return m >= 2*p-1 }},
	{name: "v-half", chunks: 2, held: func(p, m, r int) int { return 2 * ((p + 2) / 2) },
		takes: func(p, m int) bool { return m >= 2*p }},
	{name: "v-min", chunks: 2, held: func(p, m, r int) int { return 2 * ((p + 4) / 3) },
		takes: func(p, m int) bool { return m >= 2*p }},
	// The table of deepseek-ai/DualPipe, with F&B = f + B and equal times: with others its order waits for less.
	{name: "dualpipe", chunks: 1, idle: func(p, m int, f, b,
		w time.Duration) int64 {
		return int64(p/2-1) * int64(f+2*b-w)
	},
		held:  func(p, m, r int) int { return p + 1 },
		takes: func(p, m int) bool { return p%2 == 0 && m%2 == 0 && m >= 2*p }},
	{name: "dualpipev", chunks: 2, idle: func(p, m int, f, b,
		w time.Duration) int64 {
		return int64(p-1) * int64(f+2*b-w)
	},
		held: func(p, m, r int) int { return 2*p + 1 }, takes: func(p, m int) bool { return m >= 2*p }},
}

func bubble(p, _ int, f, b, w time.Duration) int64 { return int64(p-1) * int64(f+b+w) }
func start(p, _ int, f, _, _ time.Duration) int64  { return int64(p-1) * int64(f) }
func multiple(p, m int) bool                       { return m%p == 0 }

func interleavedHeld(v int) func(p, m, r int) int {
	return func(p, m, r int) int { return min(v*m, 2*(p-1-r)+(v-1)*p+1) }
}

// TestFormulas checks waits and held passes of every schedule against the papers' formulas: for 2 to 16 ranks and
// up to 8 times as many micro batches with MEMTIDE_LONG=1, for some of them otherwise, and for few with -short.
func TestFormulas(t *testing.T) {
	for _, c := range formulas {
		for p := 2; p <= 16; p++ {
			for m := p; m <= 8*p; m++ {
				some := (p <= 8 || p == 16) && (m == p || m == 2*p || m == 3*p-1 || m == 8*p)
				if testing.Short() {
					some = p <= 3 && m <= 3*p
				}
				if c.takes != nil && !c.takes(p, m) || !long && !some {
					continue
				}
				for _, u := range [][3]time.Duration{{1, 1, 1}, {2, 3, 1}, {5, 7, 4}} {
					if u[0] != 1 && !c.uneven {
						continue
					}
					trace := played(t, c.name,
						pipeline.Request{Ranks: p, Micro: m, Chunks: c.chunks, Cost: costs(u[0], u[1], u[2])})
					if idle := int64(trace.Makespan - slices.Max(trace.Busy)); c.idle != nil &&
						idle != c.idle(p, m, u[0], u[1], u[2]) {
						t.Errorf("%s, %d ranks, %d micro batches, times %d: idle for %d; want %d", c.name, p, m, u,
							idle, c.idle(p, m, u[0], u[1], u[2]))
					}
					most := 0
					for r := range trace.Held {
						if c.held != nil {
							most = max(most, c.held(p, m, r))
						}
					}
					if got := slices.Max(trace.Held); c.held != nil && got != most {
						t.Errorf("%s, %d ranks, %d micro batches: ranks hold %v; want at most %d", c.name, p, m,
							trace.Held, most)
					}
				}
			}
		}
	}
}

// TestUneven checks that with uneven stages and messages that take time every schedule can be played, and the
// checker agrees.
func TestUneven(t *testing.T) {
	r := enginetest.Rand(3)
	plans := 60
	if testing.Short() {
		plans = 8
	}
	for i := range plans {
		ranks := 1 + r.IntN(6)
		p := pipeline.Request{Ranks: ranks, Micro: 2 * ranks * (1 + r.IntN(3)), Chunks: 1 + r.IntN(3),
			Send: time.Duration(r.IntN(20))}
		cost := make([]time.Duration, 200)
		for i := range cost {
			cost[i] = time.Duration(1 + r.IntN(50))
		}
		p.Cost = func(x pipeline.Pass) time.Duration { return cost[(x.Stage*7+int(x.Kind))%len(cost)] }
		for _, name := range pipeline.Names() {
			if searched := name == "zb-1p" || name == "zb-2p"; name == "dualpipe" && ranks%2 == 1 || searched &&
				i%20 > 0 {
				continue
			}
			played(t, name, p)
		}
	}
}

// TestRefuses checks that a schedule refuses unsuitable requests, with an error that names suitable ones.
func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		plan pipeline.Request
		want string
	}{
		{"1f1b", pipeline.Request{Micro: 2},
			"0 ranks, 2 micro batches and 2 stages a rank; want at least one of each and no more than 1048576 passes"},
		{"gpipe", pipeline.Request{Ranks: 1 << 20, Micro: 1 << 20},
			"1048576 ranks, 1048576 micro batches and 2 stages a rank; want at least one of each and no more than 1048576 passes"},
		{"interleaved", pipeline.Request{Ranks: 8, Micro: 20},
			"the interleaved schedule needs a multiple of 8 micro batches, one for each rank; there are 20: interleaved-even takes them in rounds 10 + 10"},
		{"interleaved", pipeline.Request{Ranks: 4, Micro: 5},
			"the interleaved schedule needs a multiple of 4 micro batches, one for each rank; there are 5: interleaved-even takes them in one round of 5"},
		{"interleaved-torch", pipeline.Request{Ranks: 4, Micro: 9},
			"torch cuts 9 micro batches into 2 rounds of one size; 8 or 10 micro batches can be, and interleaved-even takes them in rounds 5 + 4"},
		{"dualpipe", pipeline.Request{Ranks: 4, Micro: 9}, "9 micro batches do not divide between two directions; 10 do"},
		{"dualpipe", pipeline.Request{Ranks: 3, Micro: 8},
			"DualPipe needs an even number of ranks; there are 3, and dualpipev takes any number"},
		{"dualpipev", pipeline.Request{Ranks: 4, Micro: 7},
			"DualPipeV on 4 ranks needs 8 micro batches or more; there are 7"},
	} {
		if _, err := pipeline.New(c.name, c.plan); err == nil || err.Error() != c.want {
			t.Errorf("%s, %d ranks, %d micro batches: error %v, want %s", c.name, c.plan.Ranks, c.plan.Micro, err,
				c.want)
		}
	}
	if _, err := pipeline.New("1f2b", pipeline.Request{Ranks: 2, Micro: 2}); err == nil {
		t.Error("a schedule that does not exist was made")
	}
}

// TestShortRound checks that a round of 20 micro batches, which is no multiple of the 8 ranks, can be played if
// it is the only round.
func TestShortRound(t *testing.T) {
	s, err := pipeline.New("interleaved", pipeline.Request{Ranks: 8, Micro: 20, Group: 20, Cost: costs(1, 1, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if trace, err := s.Play(); err != nil || trace.Busy[0] != 20*2*3 {
		t.Errorf("one round of 20: busy for %v (%v), want 120", trace, err)
	}
}
