package pool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// desk is a stage whose workers answer a request only when the test says so.
type desk struct {
	stage
	mu   sync.Mutex
	lies map[string]chan bool // a value sent to a channel answers one request of that name
}

func newDesk() *desk {
	d := &desk{lies: map[string]chan bool{}}
	d.behave = func(req proto.Request, e events, told orders) {
		select {
		case <-d.of(nameOf(req)):
		case <-told.cancel:
			result(e, req)
			return
		case <-told.end:
			return
		}
		if q, ok := req.(*proto.Sweep); ok {
			for i := range q.Budgets {
				say(e, &proto.Reply{Value: &proto.Point{Index: i, Budget: q.Budgets[i].Bytes}})
			}
		}
		result(e, req)
	}
	return d
}

// nameOf returns the name that a test gave to a request.
func nameOf(req proto.Request) string {
	switch q := req.(type) {
	case *proto.Solve:
		return q.Strategy
	case *proto.Sweep:
		return q.Methods[0].Strategy
	case *proto.Question:
		return "question"
	case *proto.Place:
		return q.Allocator
	case *proto.Open:
		return q.Preset
	}
	return ""
}

func (d *desk) of(name string) chan bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lies[name] == nil {
		d.lies[name] = make(chan bool, 100)
	}
	return d.lies[name]
}

// answer answers parts requests with the given name. A sweep is split into several requests.
func (d *desk) answer(name string, parts int) {
	for range parts {
		d.of(name) <- true
	}
	synctest.Wait()
}

// asked returns the operations and names of the requests that workers were given, in order.
func (d *desk) asked() string {
	d.stage.mu.Lock()
	defer d.stage.mu.Unlock()
	return strings.Join(d.requests, " ")
}

// ask sends a request to the pool and waits until the pool has processed it. When the answer has come, done is
// decremented.
func ask(p *Pool, done *sync.WaitGroup, req proto.Request) {
	done.Go(func() { _, _ = p.Do(context.Background(), req, nil) })
	synctest.Wait()
}

func sweepOf(name string, points int) *proto.Sweep {
	q := &proto.Sweep{Methods: []proto.Method{{Strategy: name}}}
	for i := range points {
		q.Budgets = append(q.Budgets, choice.Budget{Bytes: engine.Bytes(1000 + i)})
	}
	return q
}

func fileOf(name string) *proto.Open { return &proto.Open{Preset: name, Bytes: []byte("a file")} }

func placeOf(name string) *proto.Place { return &proto.Place{Allocator: name} }

// TestFilesFirst checks that requests to open a file come before all others that wait, and that sweeps come last.
// Otherwise requests keep their order.
func TestFilesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		p := newPool(1, d.start)
		p.mu.Lock() // no second slot
		p.workers = p.workers[:1]
		p.mu.Unlock()
		var done sync.WaitGroup
		ask(p, &done, request("busy"))
		ask(p, &done, sweepOf("curve", 1))
		ask(p, &done, placeOf("a"))
		ask(p, &done, request("b"))
		ask(p, &done, fileOf("c"))
		ask(p, &done, fileOf("d"))
		for _, name := range []string{"busy", "a", "b", "c", "d", "curve"} {
			d.of(name) <- true
		}
		done.Wait()
		const want = "solvebusy openc opend placea solveb sweepcurve"
		if got := d.asked(); got != want {
			t.Errorf("the worker was given %q; want %q", got, want)
		}
	})
}

// TestPreempt checks that if all workers are busy, a point of a sweep is stopped for a request that a person
// waits for, and is computed again later. No point is lost and none is reported twice.
func TestPreempt(t *testing.T) {
	for _, wanted := range []proto.Request{fileOf("wanted"), request("wanted"), placeOf("wanted")} {
		op := proto.Op(wanted)
		synctest.Test(t, func(t *testing.T) {
			d := newDesk()
			p := newPool(2, d.start) // three workers
			var done sync.WaitGroup
			var points []string
			var sweeps sync.WaitGroup
			sweeps.Go(func() {
				_, err := p.Do(t.Context(), sweepOf("curve", 40), func(v any) {
					points = append(points, fmt.Sprint(v.(*proto.Point).Index))
				})
				if err != nil {
					t.Errorf("the sweep: %v", err)
				}
			})
			synctest.Wait()
			ask(p, &done, request("long"))
			before := d.asked()
			ask(p, &done, wanted)
			if d.cancelled != 1 {
				t.Errorf("%s: %d workers were stopped; want one of the sweep's two", op, d.cancelled)
			}
			if got, want := d.asked(), before+" "+op+"wanted"; got != want {
				t.Errorf("%s: workers were given %q; want %q", op, got, want)
			}
			d.answer("wanted", 1)
			d.answer("long", 1)
			done.Wait()
			d.answer("curve", 100)
			sweeps.Wait()
			slices.Sort(points)
			if all := len(points); all != 40 || len(slices.Compact(points)) != 40 {
				t.Errorf("%s: %d points were told, %d different ones; want 40", op, all, len(slices.Compact(points)))
			}
			if d.cancelled != 1 || d.killed != 0 {
				t.Errorf("%s: %d workers were stopped and %d ended; want 1 and 0", op, d.cancelled, d.killed)
			}
		})
	}
}

// TestPreemptsNothingElse checks that no worker is stopped while another one is free or about to be, and that only
// points of sweeps are stopped.
func TestPreemptsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		p := newPool(1, d.start) // two workers
		var done sync.WaitGroup
		ask(p, &done, sweepOf("curve", 1))
		ask(p, &done, fileOf("a")) // starts the second worker
		d.answer("a", 1)
		ask(p, &done, fileOf("b"))
		d.answer("b", 1)
		d.answer("curve", 1)
		if d.cancelled != 0 {
			t.Errorf("%d workers were stopped for what a free one could do; want none", d.cancelled)
		}
		ask(p, &done, &proto.Question{})
		ask(p, &done, request("c"))
		ask(p, &done, fileOf("d"))
		if d.cancelled != 0 {
			t.Errorf("%d workers were stopped that answered a question and a solve; want none", d.cancelled)
		}
		for _, name := range []string{"question", "c", "d"} {
			d.answer(name, 1)
		}
		done.Wait()
	})
}

// TestSolveWaitsForNoStart checks that a solve that comes while the second worker is being started stops the sweep of the
// first, which other requests do not.
func TestSolveWaitsForNoStart(t *testing.T) {
	for _, c := range []struct {
		wanted  proto.Request
		stopped int
	}{{request("wanted"), 1}, {fileOf("wanted"), 0}} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk()
			p := newPool(1, d.start)
			var done sync.WaitGroup
			ask(p, &done, sweepOf("curve", 1))
			ask(p, &done, c.wanted)
			if d.cancelled != c.stopped {
				t.Errorf("%s: %d sweeps were stopped; want %d", proto.Op(c.wanted), d.cancelled, c.stopped)
			}
			d.answer("wanted", 1)
			d.answer("curve", 2)
			done.Wait()
		})
	}
}

// TestPreemptedAndCancelled checks that a point of a sweep that was stopped is not computed again after the sweep
// was cancelled.
func TestPreemptedAndCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		p := newPool(1, d.start)
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { _, _ = p.Do(ctx, sweepOf("curve", 1), nil) })
		synctest.Wait()
		ask(p, &done, request("a"))
		ask(p, &done, fileOf("b"))
		cancel()
		synctest.Wait()
		d.answer("b", 1)
		d.answer("a", 1)
		done.Wait()
		if got, want := d.asked(), "sweepcurve solvea openb"; got != want {
			t.Errorf("workers were given %q; want %q", got, want)
		}
	})
}

// TestHold checks that while sweeps are held no point of them begins, but solves do, and that releasing a hold
// twice has the effect of releasing it once.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		p := newPool(1, d.start)
		var done sync.WaitGroup
		first, second := p.Hold(), p.Hold()
		ask(p, &done, sweepOf("curve", 1))
		ask(p, &done, request("a"))
		d.answer("a", 1)
		first()
		first()
		synctest.Wait()
		if got, want := d.asked(), "solvea"; got != want {
			t.Errorf("while a file is being opened workers were given %q; want %q", got, want)
		}
		second()
		d.answer("curve", 1)
		done.Wait()
		if got, want := d.asked(), "solvea sweepcurve"; got != want {
			t.Errorf("after that they were given %q; want %q", got, want)
		}
	})
}
