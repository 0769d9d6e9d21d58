//go:build !js

package jobs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"memtide/engine"
	"memtide/wasm/proto"
	_ "memtide/wasm/serve/addresses" // answers requests for places; no package here answers those about recordings
	"memtide/web/state"
)

func init() {
	engine.Describe(&engine.Strategy{Name: "testfar", Title: "Far", Class: engine.MayRecompute, Graphs: true}, true)
}

// far returns requests that this program cannot answer, or that name a strategy that it does not have.
func far() map[string]state.Effect {
	far, near := proto.Method{Strategy: "testfar"}, proto.Method{Strategy: "rotor"}
	return map[string]state.Effect{
		"solve":    state.Solve{ID: 1, Request: proto.Solve{Method: far}},
		"sweep":    state.Sweep{ID: 1, Request: proto.Sweep{Methods: []proto.Method{near, far}}},
		"question": state.Question{ID: 1, Request: proto.Question{Method: far}},
		"examine":  state.Examine{ID: 1},
		"question among many": state.Question{ID: 1,
			Request: proto.Question{Method: near, Methods: []proto.Method{near, far}}},
	}
}

// distant starts the effect e with a runner that has a second program, calls f, and then cancels the request. own
// and second are the workers of the two programs.
func distant(t *testing.T, e state.Effect, f func(j *Runner, p *paper, own, second *worker)) {
	bench(t, func(j *Runner, p *paper, own *worker) {
		second := &worker{answer: make(chan error)}
		j.Second.Fetch = func(context.Context) (func() (proto.Pool, error), error) {
			return func() (proto.Pool, error) { return second, nil }, nil
		}
		j.Start(e)
		p.work()
		p.rest()
		f(j, p, own, second)
		j.Start(state.Cancel{ID: 1})
		p.work()
		if own.under+second.under != 0 || j.Busy() {
			t.Errorf("after it is cancelled %d and %d requests are under way, busy %t; want none", own.under,
				second.under, j.Busy())
		}
	})
}

// TestWhoSolves checks that the second program solves what only it can, and that the page's program solves
// everything else.
func TestWhoSolves(t *testing.T) {
	for what, e := range far() {
		distant(t, e, func(_ *Runner, _ *paper, own, second *worker) {
			if len(own.sofar()) != 0 || len(second.sofar()) != 1 {
				t.Errorf("%s: the page's workers are asked for %q, those of the second program for %q; want it there",
					what, own.sofar(), second.sofar())
			}
		})
	}
	near := proto.Method{Strategy: "rotor"}
	for what, e := range map[string]state.Effect{
		"solve":              state.Solve{ID: 1, Request: proto.Solve{Method: near}},
		"sweep":              state.Sweep{ID: 1, Request: proto.Sweep{Methods: []proto.Method{near}}},
		"question":           state.Question{ID: 1, Request: proto.Question{Method: near}},
		"place":              state.Place{ID: 1, Request: proto.Place{Allocator: "best-fit"}},
		"no such strategy":   state.Solve{ID: 1, Request: proto.Solve{Method: proto.Method{Strategy: "nobody"}}},
		"question of no one": state.Question{ID: 1},
	} {
		distant(t, e, func(_ *Runner, _ *paper, own, second *worker) {
			if len(own.sofar()) != 1 || len(second.sofar()) != 0 {
				t.Errorf("%s: the page's workers are asked for %q, those of the second program for %q; want it here",
					what, own.sofar(), second.sofar())
			}
		})
	}
}

// TestFileElsewhere checks that a file whose format the page's program knows but cannot open goes to the second
// program.
func TestFileElsewhere(t *testing.T) {
	bench(t, func(j *Runner, p *paper, own *worker) {
		second := &worker{answer: make(chan error)}
		j.Second.Fetch = func(context.Context) (func() (proto.Pool, error), error) {
			return func() (proto.Pool, error) { return second, nil }, nil
		}
		j.Start(state.Open{ID: 1, Request: proto.Open{Bytes: []byte(`{"format":"memtide/1","kind":"buffers"}`)}})
		p.work()
		if len(own.sofar()) != 1 || len(second.sofar()) != 0 {
			t.Fatalf("the page's workers are asked for %q, those of the second program for %q; want the file first here", own.sofar(), second.sofar())
		}
		own.answer <- proto.Fail(proto.Elsewhere, "not here")
		p.work()
		if len(second.sofar()) != 1 {
			t.Fatalf("those of the second program are asked for %q; want the file", second.sofar())
		}
		second.answer <- errors.New("damaged")
		p.work()
		if want := []state.Message{state.OpenFailed{ID: 1, Text: "damaged"}}; !slices.Equal(p.told, want) {
			t.Errorf("told %+v; want %+v", p.told, want)
		}
	})
}

// TestSolveElsewhere checks that the second program solves a network that the page's program cannot play.
func TestSolveElsewhere(t *testing.T) {
	own, second := &worker{answer: make(chan error, 1)}, &worker{answer: make(chan error, 1)}
	j := &Second{pool: second}
	own.answer <- proto.Fail(proto.Elsewhere, "not here")
	second.answer <- errors.New("enough")
	_, err := bothPrograms{own, j, nil, nil}.Do(t.Context(), &proto.Solve{Method: proto.Method{Strategy: "keepall"}}, nil)
	if err == nil || err.Error() != "enough" || len(own.answer) != 0 {
		t.Errorf("got %v, the page's workers asked %t; want the answer of the second, after they were asked", err,
			len(own.answer) == 0)
	}
}

// holding is a pool that counts the calls of Hold that have not been released.
type holding struct {
	worker
	held int
}

func (h *holding) Hold() func() { h.held++; return func() { h.held-- } }

// TestFileHoldsBoth checks that no point of a sweep starts in either program while a file is being read.
func TestFileHoldsBoth(t *testing.T) {
	bench(t, func(j *Runner, p *paper, _ *worker) {
		own, second := &holding{}, &holding{worker: worker{answer: make(chan error)}}
		j.Pool = own
		j.Second.Fetch = func(context.Context) (func() (proto.Pool, error), error) {
			return func() (proto.Pool, error) { return second, nil }, nil
		}
		j.Start(state.Open{ID: 1, Request: proto.Open{Bytes: []byte("of another format")}})
		p.work()
		if own.held != 1 || second.held != 1 {
			t.Errorf("while it is read %d and %d hold the sweeps; want 1 and 1", own.held, second.held)
		}
		second.answer <- errors.New("damaged")
		p.work()
		if own.held != 0 || second.held != 0 {
			t.Errorf("afterwards %d and %d hold the sweeps; want none", own.held, second.held)
		}
	})
}

// TestLoadingIsTold checks that the page receives a message when the second program is being loaded for a solve,
// and another one when it has been loaded.
func TestLoadingIsTold(t *testing.T) {
	distant(t, far()["solve"], func(j *Runner, p *paper, _, _ *worker) {
		j.Start(state.Solve{ID: 2, Request: proto.Solve{Method: proto.Method{Strategy: "testfar"}},
			Slot: state.ForOther})
		p.work()
		j.Start(state.Cancel{ID: 2})
		want := []state.Message{state.Loading{ID: 1, Loading: true}, state.Loading{ID: 1}}
		if !slices.Equal(p.told, want) {
			t.Errorf("told %+v; want %+v, for the first solve only", p.told, want)
		}
	})
}

// TestNoSecondProgram checks that requests that need the second program fail with a text if it cannot be loaded,
// or if there is no worker to run it, and that the next request works.
func TestNoSecondProgram(t *testing.T) {
	for what, e := range far() {
		for _, c := range []struct {
			lacks string
			pool  proto.Pool
			want  string
		}{
			{"the program", nil, "no second program: offline"},
			{"workers", new(MainThread), "starts no workers"},
		} {
			bench(t, func(j *Runner, p *paper, w *worker) {
				j.Second.Fetch = func(context.Context) (func() (proto.Pool, error), error) {
					return nil,
						errors.New("offline")
				}
				j.Crashed = func() {}
				if c.pool != nil {
					j.Pool = c.pool
				}
				j.Start(e)
				p.work()
				p.rest()
				if got := said(p.told); !strings.Contains(strings.ToLower(got), c.want) {
					t.Errorf("%s without %s: told %q; want %q", what, c.lacks, got, c.want)
				}
				j.Pool = w
				j.Start(state.Solve{ID: 2, Request: proto.Solve{Method: proto.Method{Strategy: "rotor"}}})
				synctest.Wait()
				w.answer <- nil
				p.work()
				if got := solved(p); !slices.Equal(got, []int{2}) {
					t.Errorf("%s without %s: then solved %v; want [2]", what, c.lacks, got)
				}
			})
		}
	}
}

// said returns the texts of the failures among messages.
func said(told []state.Message) (text string) {
	for _, m := range told {
		switch m := m.(type) {
		case state.Examined:
			text += m.Failed
		case state.SolveFailed:
			text += m.Failure.Text
		case state.Swept:
			text += m.Failed
		case state.QuestionEnded:
			text += m.Failed
		}
	}
	return text
}
