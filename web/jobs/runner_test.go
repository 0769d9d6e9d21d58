//go:build !js

package jobs

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/state"
)

// paper is a page that records messages. Its clock does not advance: functions that were given to After run when
// rest is called.
type paper struct {
	timed []func()
	mu    sync.Mutex
	queue []func()
	told  []state.Message
}

func (p *paper) Do(m state.Message)   { p.told = append(p.told, m) }
func (p *paper) Post(m state.Message) { p.Later(func() { p.Do(m) }) }

func (p *paper) Later(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, f)
}

func (p *paper) After(_ int, f func()) { p.timed = append(p.timed, f) }
func (p *paper) Now() float64          { return 1000 }

// work runs the queued functions of the page until the queue is empty.
func (p *paper) work() {
	for synctest.Wait(); len(p.queue) > 0; synctest.Wait() {
		f := p.queue[0]
		p.queue = p.queue[1:]
		f()
	}
}

// rest runs the functions that were given to After.
func (p *paper) rest() {
	timed := p.timed
	p.timed = nil
	for _, f := range timed {
		f()
	}
	p.work()
}

// worker answers a request when a test sends to answer. It returns the error of the context if the request is
// cancelled before.
type worker struct {
	serve.Local
	mu     sync.Mutex
	asked  []string
	under  int // number of requests under way
	answer chan error
}

func (w *worker) Do(ctx context.Context, req proto.Request, _ func(any)) (any, error) {
	w.count(proto.Op(req), 1)
	defer w.count("", -1)
	select {
	case err := <-w.answer:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *worker) count(op string, by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.under += by; op != "" {
		w.asked = append(w.asked, op)
	}
}

// sofar returns the operations that have been requested so far.
func (w *worker) sofar() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// bench runs f with a runner, its page and its worker in a bubble of package synctest.
func bench(t *testing.T, f func(j *Runner, p *paper, w *worker)) {
	synctest.Test(t, func(*testing.T) {
		p, w := new(paper), &worker{answer: make(chan error)}
		f(&Runner{Page: p, Pool: w, Sentence: strings.ToUpper,
			NoSecond: func(err error) string { return "no second program: " + err.Error() }}, p, w)
	})
}

// solved returns the IDs of the schedules that the page has received.
func solved(p *paper) (ids []int) {
	for _, m := range p.told {
		if s, ok := m.(state.Solved); ok {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// TestLatestQuestionWaits checks that, while a slider is dragged, only the latest solve waits for the answer to
// the first.
func TestLatestQuestionWaits(t *testing.T) {
	bench(t, func(j *Runner, p *paper, w *worker) {
		for id := 1; id <= 3; id++ {
			j.Start(state.Solve{ID: id, Soon: true})
		}
		p.work()
		if w.under != 1 {
			t.Errorf("%d solves at once; want 1", w.under)
		}
		for range 2 {
			w.answer <- nil
			p.work()
		}
		if got, want := fmt.Sprint(solved(p)), "[1 3]"; got != want || j.Busy() {
			t.Errorf("solved %s, busy %t; want %s and idle", got, j.Busy(), want)
		}
	})
}

// TestDecisionEndsWhatRuns checks that a solve for a decision does not wait. It cancels the solve under way,
// whose answer is discarded.
func TestDecisionEndsWhatRuns(t *testing.T) {
	bench(t, func(j *Runner, p *paper, w *worker) {
		j.Start(state.Solve{ID: 1})
		j.Start(state.Solve{ID: 2})
		p.work()
		if w.under != 1 {
			t.Fatalf("%d solves are under way; want the second alone", w.under)
		}
		w.answer <- nil
		p.work()
		if got := fmt.Sprint(solved(p)); got != "[2]" {
			t.Errorf("solved %s; want [2]", got)
		}
	})
}

// TestCancelEndsBoth checks that cancelling a waiting solve also cancels the one that it waits for.
func TestCancelEndsBoth(t *testing.T) {
	bench(t, func(j *Runner, p *paper, w *worker) {
		j.Start(state.Solve{ID: 1, Soon: true})
		j.Start(state.Solve{ID: 2, Soon: true})
		j.Start(state.Cancel{ID: 2})
		p.work()
		if w.under != 0 || j.Busy() || len(solved(p)) != 0 {
			t.Errorf("%d under way, busy %t, solved %v; want none of that", w.under, j.Busy(), solved(p))
		}
	})
}

func TestCrashIsReported(t *testing.T) {
	for _, c := range []struct {
		err   error
		times int
	}{{errors.New("out of memory"), 1}, {proto.Fail(proto.Infeasible, "too small"), 0}} {
		bench(t, func(j *Runner, p *paper, w *worker) {
			crashed := 0
			j.Crashed = func() { crashed++ }
			j.Start(state.Solve{ID: 1})
			synctest.Wait()
			w.answer <- c.err
			p.work()
			if crashed != c.times {
				t.Errorf("%v: %d crashes are reported, want %d", c.err, crashed, c.times)
			}
		})
	}
}

// TestPlaceWaits checks that addresses are asked for only when the picture has not changed for a moment.
func TestPlaceWaits(t *testing.T) {
	bench(t, func(j *Runner, p *paper, w *worker) {
		j.Start(state.Place{ID: 1})
		j.Start(state.Cancel{ID: 1})
		j.Start(state.Place{ID: 2})
		p.work()
		before := len(w.sofar())
		p.rest()
		if got := w.sofar(); before != 0 || !reflect.DeepEqual(got, []string{"place"}) {
			t.Errorf("at once %d requests, then %v; want none, then one for addresses", before, got)
		}
		j.Start(state.Cancel{ID: 2})
		p.work()
	})
}

// TestWordsAreThePages checks that the page provides the texts for a second program that cannot be loaded and for
// an answer that fails.
func TestWordsAreThePages(t *testing.T) {
	bench(t, func(j *Runner, p *paper, w *worker) {
		j.Second.Fetch = func(context.Context) (func() (proto.Pool, error), error) { return nil, errors.New("offline") }
		j.Start(state.Open{ID: 1, Request: proto.Open{Bytes: []byte("of another format")}})
		j.Start(state.Question{ID: 2})
		synctest.Wait()
		w.answer <- errors.New("stopped")
		p.work()
		want := []state.Message{state.OpenFailed{ID: 1, Text: "no second program: offline"},
			state.QuestionEnded{ID: 2, Failed: "STOPPED"}}
		if !reflect.DeepEqual(p.told, want) {
			t.Errorf("told %+v, want %+v", p.told, want)
		}
	})
}

// TestOtherEffects checks that Start returns false for an effect that is not for workers.
func TestOtherEffects(t *testing.T) {
	if new(Runner).Start(state.CopyURL{}) {
		t.Error("the runner takes copying the address for a job")
	}
}

// TestIdleQuestions checks that a question that the page asks by itself starts when nothing has changed for a
// moment, unless it was cancelled before. The page's own thread never answers such a question.
func TestIdleQuestions(t *testing.T) {
	for _, c := range []struct {
		name   string
		pool   proto.Pool
		cancel bool
		begun  int
		told   bool // the page is told that it is not computed
	}{
		{"idle", new(worker), false, 1, false},
		{"given up", new(worker), true, 0, false},
		{"without workers", new(MainThread), false, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &paper{}
				j := &Runner{Page: p, Pool: c.pool, Sentence: func(s string) string { return s }}
				j.Start(state.Question{ID: 7, Request: proto.Question{}, Idle: true})
				p.work()
				w, _ := c.pool.(*worker)
				if w != nil && len(w.asked) > 0 {
					t.Errorf("asked %v at once; want it to wait", w.asked)
				}
				if c.cancel {
					j.Start(state.Cancel{ID: 7})
				}
				p.rest()
				if w != nil && len(w.asked) != c.begun {
					t.Errorf("asked %v; want %d requests", w.asked, c.begun)
				}
				told := len(p.told) == 1 && p.told[0].(state.QuestionEnded).Failed != ""
				if told != c.told {
					t.Errorf("told %+v; want that it is not computed: %v", p.told, c.told)
				}
				j.Start(state.Cancel{ID: 7})
				if w != nil {
					p.work()
				}
				if j.Busy() {
					t.Error("it is still under way")
				}
			})
		})
	}
}
