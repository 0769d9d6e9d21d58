package offload

import (
	"errors"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// TestExactVectors: the true optimum where it was computed, and 27 against the
// ordered 30 on both counterexamples to Lemma 3.
func TestExactVectors(t *testing.T) {
	compared, below := 0, 0
	for _, file := range []string{"offload_small", "paper_examples"} {
		for _, v := range enginetest.Load(file) {
			want, has := v.ExpectInt("int_true_opt_scaled")
			if !has {
				continue
			}
			compared++
			sol, err := play(t, "offloadexact", v.Problem(engine.Whole), nil)
			if err != nil || sol.Makespan != time.Duration(want) || !sol.Optimal {
				t.Errorf("%s: got %+v, %v; want %d, optimal", v.ID, sol, err, want)
			}
			if ordered, _ := v.ExpectInt("int_ordered_opt_scaled"); want < ordered {
				below++
			}
		}
	}
	if compared < 40 || below < 2 {
		t.Errorf("compared %d, %d of them below the ordered optimum: are the vectors there?", compared, below)
	}
}

// clocked is the state of the exhaustive search below at a whole nanosecond.
type clocked struct {
	done, run, out, sent, in, fetched int // run: -1 if nothing runs
	places                            [4]int8
}

// everyOrder is the least step time over all schedules of whole transfers in
// which each value leaves at most once: it tries everything that can be started,
// or not, at every nanosecond. It shares nothing with the search that it checks.
func everyOrder(p *engine.Problem) time.Duration {
	s := newStep(p)
	layer := map[clocked]bool{{run: -1, out: -1, in: -1}: true}
	for now := 0; ; now++ {
		for again := true; again; { // operations of no time
			again = false
			for c := range layer {
				if c.done == 2*s.n {
					return time.Duration(now)
				}
				for _, next := range begun(s, c, p.Device.Duplex == engine.FullDuplex) {
					if !layer[next] {
						layer[next], again = true, true
					}
				}
			}
		}
		after := map[clocked]bool{}
		for c := range layer {
			after[passed(c)] = true
		}
		layer = after
	}
}

// begun is what one more start leads to; operations of no time end at once, or
// at the next nanosecond with what runs then.
func begun(s *step, c clocked, full bool) (next []clocked) {
	used := s.before(min(c.done, 2*s.n-1))
	if c.run >= 0 {
		used = s.need(c.done)
	}
	for i, x := range s.size {
		if c.places[i] == 1 && i < c.done {
			used -= x
		}
	}
	if c.run < 0 {
		ready := true
		if i := 2*s.n - 1 - c.done; i < s.n {
			ready = c.places[i] != 1 && c.in != i && c.out != i
		}
		if ready && used+s.need(c.done)-s.before(c.done) <= s.p.Budget {
			d := c
			if d.run = int(s.lasts(c.done)); d.run == 0 {
				d.run, d.done = -1, d.done+1
			}
			next = append(next, d)
		}
	}
	for i, x := range s.size {
		if x == 0 {
			continue
		}
		if before := 2*s.n - 1 - i; c.places[i] == 0 && i <= c.done && (c.done < before || c.done == before && c.run < 0) && c.out < 0 && (full || c.in < 0) {
			d := c
			d.out, d.sent = i, int(s.p.Device.ToHost.Time(x))
			next = append(next, d)
		}
		if c.places[i] == 1 && i < c.done && c.in < 0 && (full || c.out < 0) && used+x <= s.p.Budget {
			d := c
			d.in, d.fetched = i, int(s.p.Device.ToDev.Time(x))
			d.places[i] = 2
			next = append(next, d)
		}
	}
	return next
}

// passed is the state a nanosecond later.
func passed(c clocked) clocked {
	if c.run > 0 {
		if c.run--; c.run == 0 {
			c.run, c.done = -1, c.done+1
		}
	}
	if c.out >= 0 {
		if c.sent--; c.sent == 0 {
			c.places[c.out] = 1
			c.out = -1
		}
	}
	if c.in >= 0 {
		if c.fetched--; c.fetched == 0 {
			c.in = -1
		}
	}
	return c
}

// TestExactAgainstEveryOrder compares with exhaustive search on tiny chains, in
// both kinds of link.
func TestExactAgainstEveryOrder(t *testing.T) {
	below, tight := 0, 0
	for seed := range uint64(700) {
		r := enginetest.Rand(seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 4, MaxSize: 4, MaxTime: 4})
		dev := enginetest.Device(engine.Duplex(seed % 2))
		if seed%5 == 4 {
			dev.ToDev = 5e8
		}
		p := engine.NewChainProblem(c, dev, engine.Whole, 0)
		s := newStep(p)
		p = p.WithBudget(s.smallest() + engine.Bytes(r.Int64N(int64(s.peak()-s.smallest())/2+1)))
		want := everyOrder(p)
		sol, err := play(t, "offloadexact", p, nil)
		if err != nil || sol.Makespan != want || !sol.Optimal {
			t.Fatalf("seed %d budget %d: got %d (optimal %v, %q), %v; want %d, optimal\n%s", seed, p.Budget, sol.Makespan, sol.Optimal, sol.Notes, err, want, enginetest.Dump(c))
		}
		if want > c.ForwardTime()+c.BackTime() {
			tight++
		}
		if sol, _ := play(t, "offloadsearch", p, nil); sol.Makespan > want {
			below++
		}
	}
	t.Logf("%d with waiting, %d below the best ordered schedule", tight, below)
	if tight < 200 {
		t.Errorf("only %d cases wait: the generator is off", tight)
	}
}

// TestExactPlays plays what is found on larger chains.
func TestExactPlays(t *testing.T) {
	below, proven := 0, 0
	for seed := range uint64(300) {
		p := randomProblem(seed, enginetest.Shape{MinStages: 4, MaxStages: 8}, engine.Whole)
		p.Device.Duplex = engine.Duplex(seed / 5 % 2)
		sol, err := play(t, "offloadexact", p, nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if sol.Optimal {
			proven++
		}
		ordered, _ := play(t, "offloadsearch", p, nil)
		if sol.Makespan > ordered.Makespan {
			t.Fatalf("seed %d: %d, the best ordered schedule takes %d", seed, sol.Makespan, ordered.Makespan)
		}
		if sol.Makespan < ordered.Makespan {
			below++
		}
	}
	t.Logf("%d proven, %d below the best ordered schedule", proven, below)
}

func TestExactRefuses(t *testing.T) {
	p := randomProblem(1, enginetest.Shape{MinStages: maxExactStages + 1, MaxStages: maxExactStages + 1}, engine.Whole)
	if _, err := play(t, "offloadexact", p, nil); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("%d stages: got %v, want that it does not apply", p.Chain.Chain.Len(), err)
	}
	q := randomProblem(4, enginetest.Shape{MinStages: 4, MaxStages: 4}, engine.Streamed)
	q = q.WithBudget(newStep(q).smallest())
	if _, err := play(t, "offloadexact", q, nil); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("streamed transfers: got %v, want that it does not apply", err)
	}
}
