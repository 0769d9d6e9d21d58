package pool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"memtide/wasm/proto"
	"memtide/web/choice"
)

// stage is a browser whose workers behave as a test determines.
type stage struct {
	mu        sync.Mutex
	started   int
	cancelled int // number of requests that workers were told to cancel
	killed    int
	running   int
	most      int // largest number of requests that were worked on at the same time

	broken   bool                                           // workers die before they are ready
	behave   func(req proto.Request, e events, told orders) // what a worker does; nil means answer after 10 ms
	requests []string
}

// orders are what the page tells a worker while it works.
type orders struct {
	cancel chan bool // its request is cancelled
	end    chan bool // closed when it is ended
}

func (s *stage) start(e events) (port, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started++
	told := orders{make(chan bool, 1), make(chan bool)}
	if s.broken {
		go e.died("no such thing")
	} else {
		go e.ready()
	}
	return port{
		send: func(b []byte, _ any) error {
			req, err := proto.DecodeRequest(b)
			if err != nil {
				panic(err)
			}
			go s.work(req, e, told)
			return nil
		},
		cancel: func() { told.cancel <- true; go s.count(&s.cancelled) },
		kill:   func() { close(told.end); go s.count(&s.killed) },
	}, nil
}

func (s *stage) count(n *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n++
}

// of reads a counter of s that workers may be changing.
func (s *stage) of(n *int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *n
}

func (s *stage) work(req proto.Request, e events, told orders) {
	s.mu.Lock()
	s.running++
	s.most = max(s.most, s.running)
	s.requests = append(s.requests, proto.Op(req)+nameOf(req))
	s.mu.Unlock()
	defer func() { s.mu.Lock(); s.running--; s.mu.Unlock() }()
	if s.behave != nil {
		s.behave(req, e, told)
		return
	}
	time.Sleep(10 * time.Millisecond)
	result(e, req)
}

// result answers a request successfully. The answer to a solve contains the name of the request.
func result(e events, req proto.Request) {
	switch req.(type) {
	case *proto.Solve:
		say(e, proto.Ended(&proto.Solved{Strategy: nameOf(req)}, nil))
	case *proto.Sweep:
		say(e, proto.Ended(new(proto.Swept), nil))
	default:
		say(e, proto.Ended(nil, nil))
	}
}

func say(e events, r *proto.Reply) {
	b, err := proto.EncodeReply(r)
	if err != nil {
		panic(err)
	}
	e.message(b)
}

func request(name string) *proto.Solve { return &proto.Solve{Method: proto.Method{Strategy: name}} }

func sweep(points int) *proto.Sweep {
	return &proto.Sweep{Methods: []proto.Method{{}}, Budgets: make([]choice.Budget, points)}
}

// TestAnswers checks that every caller gets the answer to its own request.
func TestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{}
		p := newPool(4, s.start)
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				name := fmt.Sprint(i)
				r, err := proto.Do(t.Context(), p.Do, request(name), nil)
				if err != nil || r.Strategy != name {
					t.Errorf("request %s: got %+v, %v", name, r, err)
				}
			})
		}
		wg.Wait()
		if s.of(&s.started) != 5 || s.of(&s.killed) != 0 {
			t.Errorf("%d workers were started and %d ended; want 5 and 0", s.of(&s.started), s.of(&s.killed))
		}
	})
}

// TestOthersFollowFirst checks that the first worker stays the only one until soloStart after its first answer,
// or until a request waits that it cannot take. If soloStart is never, only such a request starts other workers.
func TestOthersFollowFirst(t *testing.T) {
	const needs = 50 * time.Millisecond
	for _, c := range []struct {
		name string
		ask  func(p *Pool)
		at   time.Duration
		want int
	}{
		{"a moment after it, on demand",
			func(p *Pool) { p.soloStart = never; go p.Do(context.Background(), request("a"), nil) },
			needs + 2*soloStart, 1},
		{"a sweep on demand", func(p *Pool) { p.soloStart = never; go p.Do(context.Background(), sweep(10), nil) },
			needs / 2, 3},
		{"before anything is asked", func(*Pool) {}, time.Hour, 1},
		{"before the first answer", func(p *Pool) { go p.Do(context.Background(), request("a"), nil) }, needs / 2, 1},
		{"just after it", func(p *Pool) { go p.Do(context.Background(), request("a"), nil) }, needs + soloStart/2, 1},
		{"a moment after it", func(p *Pool) { go p.Do(context.Background(), request("a"), nil) },
			needs + 2*soloStart, 3},
		{"two solves at once", func(p *Pool) {
			go p.Do(context.Background(), request("a"), nil)
			go p.Do(context.Background(), request("b"), nil)
		}, needs / 2, 3},
		{"a sweep for two workers", func(p *Pool) { go p.Do(context.Background(), sweep(10), nil) }, needs / 2, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &stage{behave: func(req proto.Request, e events, _ orders) {
				time.Sleep(needs)
				result(e, req)
			}}
			p := newPool(2, s.start)
			synctest.Wait()
			c.ask(p)
			time.Sleep(c.at)
			synctest.Wait()
			if s.of(&s.started) != c.want {
				t.Errorf("%s: %d workers were started, want %d", c.name, s.of(&s.started), c.want)
			}
			time.Sleep(time.Minute)
		})
	}
}

// TestSweepAfterFirstAnswer checks that if only one worker may compute sweeps, the worker that has answered the
// first solve computes the first points, so that they need not wait for another worker to start.
func TestSweepAfterFirstAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{}
		p := newPool(1, s.start)
		if _, err := p.Do(t.Context(), request("first"), nil); err != nil {
			t.Fatal(err)
		}
		asked := time.Now()
		if _, err := p.Do(t.Context(), sweep(1), nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(asked); took != 10*time.Millisecond || s.of(&s.started) != 1 {
			t.Errorf("the point took %v with %d workers; want the 10ms that it takes, with 1", took, s.of(&s.started))
		}
		time.Sleep(time.Minute)
	})
}

// TestSolveBeforeSweep checks that sweeps leave one worker free, so that a solve never waits for them.
func TestSolveBeforeSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{behave: func(req proto.Request, e events, _ orders) {
			time.Sleep(time.Second)
			result(e, req)
		}}
		p := newPool(2, s.start)
		done := make(chan error)
		go func() { _, err := p.Do(t.Context(), sweep(10), nil); done <- err }()
		synctest.Wait()
		start := time.Now()
		if _, err := p.Do(t.Context(), request(""), nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("the solve took %v; want 1 s, without waiting for a point of the sweep", took)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if s.of(&s.most) != 3 {
			t.Errorf("%d workers worked at the same time; want 2 for the sweep and 1 for the solve", s.of(&s.most))
		}
	})
}

// TestCrash checks that when a worker dies, its request fails with the last words of the worker, the worker is
// replaced, and the next request works.
func TestCrash(t *testing.T) {
	for detail, want := range map[string]string{
		"x\npanic: boom\n\ngoroutine 1":                "panic: boom",
		"fatal error: runtime: out of memory\n":        "more memory",
		"RangeError: Maximum call stack size exceeded": "stack allows",
		"InternalError: too much recursion":            "stack allows",
		"":                                             "it gave no reason",
		"Uncaught TypeError: x is not a function\nat somewhere": "x is not a function",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &stage{}
			s.behave = func(req proto.Request, e events, told orders) {
				if nameOf(req) == "crash" {
					e.died(detail)
					e.died("twice") // the browser may report the death in two ways
					result(e, req)  // and an answer may still arrive
					return
				}
				result(e, req)
			}
			p := newPool(1, s.start)
			for range 10 {
				_, err := p.Do(t.Context(), request("crash"), nil)
				var f *proto.Failure
				if !errors.As(err, &f) || f.Kind != proto.Crash || !strings.Contains(f.Text, want) ||
					f.Detail != detail {
					t.Fatalf("last words %q: got %#v, want a crash that says %q", detail, err, want)
				}
				if _, err := p.Do(t.Context(), request(""), nil); err != nil {
					t.Fatalf("the next request: %v", err)
				}
			}
			time.Sleep(2 * soloStart)
			synctest.Wait()
			if s.of(&s.killed) != 10 || s.of(&s.started) != 12 {
				t.Errorf("%d workers were started and %d ended; want 12 and 10", s.of(&s.started), s.of(&s.killed))
			}
		})
	}
}

// TestCancel checks that cancelling a request frees the caller at once and tells the worker, which is ended after
// cancelGrace unless it has answered by then.
func TestCancel(t *testing.T) {
	for _, c := range []struct {
		needs  time.Duration
		hears  bool
		killed int
	}{{cancelGrace / 2, false, 0}, {time.Hour, true, 0}, {time.Hour, false, 1}} {
		synctest.Test(t, func(t *testing.T) {
			s := &stage{behave: func(req proto.Request, e events, told orders) {
				if !c.hears {
					told.cancel = nil
				}
				select {
				case <-time.After(c.needs):
				case <-told.cancel:
				case <-told.end:
					return
				}
				result(e, req)
			}}
			p := newPool(1, s.start)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { time.Sleep(time.Millisecond); cancel() }()
			start := time.Now()
			_, err := p.Do(ctx, request(""), func(any) { t.Error("progress after the end") })
			if !errors.Is(err, context.Canceled) || time.Since(start) != time.Millisecond {
				t.Errorf("got %v after %v, want cancelled after 1ms", err, time.Since(start))
			}
			time.Sleep(2 * cancelGrace)
			synctest.Wait()
			if s.of(&s.killed) != c.killed {
				t.Errorf("a solve of %v, the worker hears %t: %d workers ended, want %d", c.needs, c.hears, s.of(&s.killed),
					c.killed)
			}
		})
	}
}

// TestCancelQueued checks that a request that is cancelled in the queue is never sent.
func TestCancelQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{behave: func(req proto.Request, e events, _ orders) {
			time.Sleep(time.Second)
			result(e, req)
		}}
		p := newPool(1, s.start)
		for range 2 {
			go p.Do(t.Context(), request("long"), nil)
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Millisecond); cancel() }()
		if _, err := p.Do(ctx, request("queued"), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want cancelled", err)
		}
		time.Sleep(3 * time.Second)
		if got := strings.Join(s.requests, " "); got != "solvelong solvelong" {
			t.Errorf("sent: %s; want only the two long ones", got)
		}
	})
}

// TestBroken checks that if workers cannot start, requests fail with the reason, and that the next request tries
// to start workers again.
func TestBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{broken: true}
		p := newPool(4, s.start)
		synctest.Wait()
		if s.of(&s.started) != maxStarts {
			t.Errorf("ahead of any request %d workers were started, want %d", s.of(&s.started), maxStarts)
		}
		_, err := p.Do(t.Context(), request(""), nil)
		if err == nil || !strings.Contains(err.Error(), "no such thing") {
			t.Errorf("got %v, want why workers do not start", err)
		}
		if s.of(&s.started) != 2*maxStarts {
			t.Errorf("with the first request %d workers were started in all, want %d", s.of(&s.started), 2*maxStarts)
		}
		s.broken = false
		if _, err := p.Do(t.Context(), request(""), nil); err != nil {
			t.Errorf("when workers start again: %v", err)
		}
	})
}

// TestStillStarting checks that requests wait for a worker that is still starting while others cannot start. That
// worker gets the requests and is not replaced.
func TestStillStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good, bad, firsts := &stage{}, &stage{broken: true}, 0
		p := newPool(1, func(e events) (port, error) {
			if firsts++; firsts > 1 {
				return bad.start(e)
			}
			ready := e.ready
			e.ready = func() { time.Sleep(time.Second); ready() }
			return good.start(e)
		})
		p.mu.Lock()
		p.fill()
		p.mu.Unlock()
		synctest.Wait()
		if bad.of(&bad.started) != maxStarts {
			t.Fatalf("%d workers were tried beside the first, want %d", bad.of(&bad.started), maxStarts)
		}
		for _, name := range []string{"while it starts", "later"} {
			if _, err := p.Do(t.Context(), request(name), nil); err != nil {
				t.Errorf("a request %s: got %v, want the answer of the first worker", name, err)
			}
		}
		if got := strings.Join(good.requests, ", "); got != "solvewhile it starts, solvelater" ||
			good.of(&good.killed) != 0 {
			t.Errorf("the first worker got %q and was ended %d times; want both requests, and never", got,
				good.of(&good.killed))
		}
	})
}

// TestSweepsWaitForCalm checks that no point of a sweep begins while solves follow each other quickly, as when a
// slider is dragged, and that points begin again debounce after the last solve.
func TestSweepsWaitForCalm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{}
		p := newPool(2, s.start)
		synctest.Wait()
		done := make(chan error, 1)
		for range 3 {
			if _, err := p.Do(t.Context(), request("drag"), nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(debounce / 2)
		}
		sweep := func(want time.Duration, why string) {
			begun := time.Now()
			go func() {
				_, err := p.Do(t.Context(), sweep(1), nil)
				done <- err
			}()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(begun); waited != want {
				t.Errorf("the point began %v after it was asked for, want %v: %s", waited, want, why)
			}
		}
		sweep(debounce/2, "debounce after the last of several solves was asked for")
		time.Sleep(debounce)
		if _, err := p.Do(t.Context(), request("click"), nil); err != nil {
			t.Fatal(err)
		}
		sweep(10*time.Millisecond, "what the worker takes: one solve is no dragging")
	})
}

// TestCannotStart checks that the message that no worker starts says why, what that means, and what helps.
func TestCannotStart(t *testing.T) {
	kinds := map[string]proto.FailureKind{"the worker could not be loaded": proto.Crash} // may load the next time
	for detail, want := range map[string][]string{
		"JavaScript error: refused": {"The engine cannot start here: refused.", "worker-src blob:",
			"memtide solve"},
		"the worker could not be loaded": {"The engine cannot start here: the worker could not be loaded.",
			"connection", "memtide solve"},
		"panic: no room.\n\ngoroutine 1": {"The engine cannot start here: panic: no room.\n", "window of its own"},
	} {
		f := cannotStart(detail)
		for _, w := range want {
			if !strings.Contains(f.Text, w) {
				t.Errorf("after %q a person reads %q; want %q in it", detail, f.Text, w)
			}
		}
		kind, ok := kinds[detail]
		if !ok {
			kind = proto.NoWorker
		}
		if f.Kind != kind || f.Detail != detail {
			t.Errorf("after %q the failure is %+v; want %s with that detail", detail, f, kind)
		}
	}
}
