package pipeline

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"memtide/engine/enginetest"
)

// even are passes that all take as long at each stage: a backward twice a forward. A
// rank's layers take the same whatever the number of its stages.
func even(p Plan) Plan {
	p.Cost = func(pass Pass) time.Duration {
		if pass.Kind == Backward {
			return 24
		}
		return 12
	}
	return p
}

// plans are some of every schedule.
func plans(t *testing.T, each func(name string, p Plan)) {
	for _, name := range Names() {
		for _, ranks := range []int{1, 2, 3, 4, 8} {
			for _, micro := range []int{1, 2, 5, 8, 16, 24} {
				each(name, even(Plan{Ranks: ranks, Micro: micro}))
			}
		}
	}
}

// Every pass runs once, at a time when what it waits for is there, and never two at once.
func TestPlays(t *testing.T) {
	refused := map[string]bool{}
	plans(t, func(name string, p Plan) {
		s, err := New(name, p)
		if err != nil {
			refused[name] = true
			return
		}
		trace, err := s.Play()
		if err != nil {
			t.Errorf("%s, %d ranks, %d micro batches: %v", name, p.Ranks, p.Micro, err)
			return
		}
		if problem := proof(s, trace); problem != "" {
			t.Errorf("%s, %d ranks, %d micro batches: %s", name, p.Ranks, p.Micro, problem)
		}
	})
	if want := map[string]bool{"interleaved": true, "dualpipe": true}; len(refused) != len(want) || !refused["interleaved"] || !refused["dualpipe"] {
		t.Errorf("refused were %v, want %v", refused, want)
	}
}

// proof looks back at a trace, without the code that made it.
func proof(s *Schedule, t *Trace) string {
	at := map[Pass]Span{}
	for r, spans := range t.Ranks {
		for i, x := range spans {
			if s.Rank[x.Stage] != r {
				return fmt.Sprintf("%v of micro batch %d at stage %d is on rank %d", x.Kind, x.Micro, x.Stage, r)
			}
			if i > 0 && x.Start < spans[i-1].End {
				return fmt.Sprintf("rank %d runs two passes at %d", r, x.Start)
			}
			if _, twice := at[x.Pass]; twice {
				return fmt.Sprintf("%+v runs twice", x.Pass)
			}
			at[x.Pass] = x
		}
	}
	for m := range s.Plan.Micro {
		first, last := 0, s.Stages()-1
		if s.Twice && m >= s.Plan.Micro/2 {
			first, last = s.Stages(), 2*s.Stages()-1
		}
		for stage := first; stage <= last; stage++ {
			f, ok := at[Pass{Forward, m, stage}]
			if before := at[Pass{Forward, m, stage - 1}]; !ok || stage > first && f.Start < before.End {
				return fmt.Sprintf("the forward of micro batch %d at stage %d starts at %d", m, stage, f.Start)
			}
			b, whole := at[Pass{Backward, m, stage}]
			kind := Backward
			if !whole {
				if b, ok = at[Pass{Inputs, m, stage}]; !ok {
					return fmt.Sprintf("micro batch %d has no backward at stage %d", m, stage)
				}
				if w, ok := at[Pass{Weights, m, stage}]; !ok || w.Start < b.End {
					return fmt.Sprintf("micro batch %d at stage %d has no backward of weights after that of inputs", m, stage)
				}
				kind = Inputs
			}
			if behind := at[Pass{kind, m, stage + 1}]; b.Start < f.End || stage < last && b.Start < behind.End {
				return fmt.Sprintf("the backward of micro batch %d at stage %d starts at %d", m, stage, b.Start)
			}
		}
	}
	return ""
}

// What ranks hold and how long a step takes is what the papers say, with even stages.
func TestPublishedFigures(t *testing.T) {
	const p, m = 8, 24
	for _, c := range []struct {
		name string
		held []int         // of each rank
		took time.Duration // 0: no more than the step of 1F1B
	}{
		{"gpipe", []int{m, m, m, m, m, m, m, m}, (m + p - 1) * 36},
		{"1f1b", []int{8, 7, 6, 5, 4, 3, 2, 1}, (m + p - 1) * 36},
		// [arXiv:2104.04473, section 2.2]: the bubble is a half with two stages a rank;
		// [arXiv:2205.05198, section 4.2.3]: the first rank holds p (1 + (p-1)/(p v)) of its layers.
		{"interleaved", []int{23, 21, 19, 17, 15, 13, 11, 9}, 2*m*36 + (p-1)*36},
	} {
		s, err := New(c.name, even(Plan{Ranks: p, Micro: m}))
		if err != nil {
			t.Fatal(err)
		}
		trace, err := s.Play()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(trace.Held, c.held) || trace.Makespan != c.took {
			t.Errorf("%s: held %v, step %d; want %v, %d", c.name, trace.Held, trace.Makespan, c.held, c.took)
		}
	}
}

// Zero-bubble schedules stay within the papers' memory and wait less than 1F1B does. With
// twice the memory no rank waits between its first pass and its last: what is left is
// that the last rank begins p-1 forwards later.
func TestZeroBubble(t *testing.T) {
	const p, m = 8, 24
	one, err := New("1f1b", even(Plan{Ranks: p, Micro: m}))
	if err != nil {
		t.Fatal(err)
	}
	trace, err := one.Play()
	if err != nil {
		t.Fatal(err)
	}
	reference := trace.Idle()
	for _, c := range []struct {
		name string
		held int     // at most, by the papers
		idle float64 // share of the idle time of 1F1B, at most
	}{
		{"zb-h1", p, 0.5},
		{"zb-h2", 2*p - 1, float64((p-1)*12) / ((p-1)*12 + m*36) / reference},
		{"zb-v", 2 * p, 0.25},
		{"dualpipe", p + 1, 0.6},
	} {
		s, err := New(c.name, even(Plan{Ranks: p, Micro: m}))
		if err != nil {
			t.Fatal(err)
		}
		trace, err := s.Play()
		if err != nil {
			t.Fatal(err)
		}
		if slices.Max(trace.Held) > c.held || trace.Idle() > c.idle*reference+1e-9 {
			t.Errorf("%s: held %v, idle %.3f; want at most %d, %.3f", c.name, trace.Held, trace.Idle(), c.held, c.idle*reference)
		}
	}
}

// With uneven stages and links that take time every schedule still comes to its end.
func TestUneven(t *testing.T) {
	r := enginetest.Rand(3)
	for range 60 {
		ranks := 1 + r.IntN(6)
		p := Plan{Ranks: ranks, Micro: 2 * ranks * (1 + r.IntN(3)), Chunks: 1 + r.IntN(3), Send: time.Duration(r.IntN(20))}
		cost := make([]time.Duration, 200)
		for i := range cost {
			cost[i] = time.Duration(r.IntN(50))
		}
		p.Cost = func(pass Pass) time.Duration { return cost[(pass.Stage*7+int(pass.Kind))%len(cost)] }
		for _, name := range Names() {
			s, err := New(name, p)
			if err != nil {
				t.Fatalf("%s, %+v: %v", name, p, err)
			}
			trace, err := s.Play()
			if err != nil {
				t.Fatalf("%s, %+v: %v", name, p, err)
			}
			if problem := proof(s, trace); problem != "" {
				t.Errorf("%s, %d ranks, %d micro batches: %s", name, p.Ranks, p.Micro, problem)
			}
		}
	}
}

// What cannot be is refused in words.
func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		plan Plan
		want string
	}{
		{"1f2b", Plan{Ranks: 2, Micro: 2}, `there is no schedule "1f2b"; known are gpipe, 1f1b, interleaved, zb-h1, zb-h2, zb-v, dualpipe`},
		{"1f1b", Plan{Micro: 2}, "0 ranks, 2 micro batches and 2 stages a rank; want at least one of each and no more than 1048576 passes"},
		{"gpipe", Plan{Ranks: 1 << 20, Micro: 1 << 20}, "1048576 ranks, 1048576 micro batches and 2 stages a rank; want at least one of each and no more than 1048576 passes"},
		{"interleaved", Plan{Ranks: 4, Micro: 6}, "the interleaved schedule needs a multiple of 4 micro batches, one for each rank; there are 6"},
		{"dualpipe", Plan{Ranks: 4, Micro: 5}, "5 micro batches do not divide between two directions"},
	} {
		if _, err := New(c.name, c.plan); err == nil || err.Error() != c.want {
			t.Errorf("%s, %+v: error %v, want %s", c.name, c.plan, err, c.want)
		}
	}
}
