package pool

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/choice"
)

func question(budget int) *proto.Solve {
	return &proto.Solve{
		Setting: proto.Setting{Network: proto.Network{Preset: "resnet50-b1"},
			Device: engine.Device{ToHost: 1 << 30, ToDev: 1 << 30}},
		Method: proto.Method{Strategy: "revolve"},
		Budget: choice.Budget{Share: choice.Share(budget) * choice.Percent / 100},
	}
}

// What was solved ahead answers the first solve, if that asks just this.
func TestAhead(t *testing.T) {
	for _, c := range []struct {
		name string
		ask  proto.Request
		want string // what reaches a worker
	}{
		{"the same", question(9000), ""},
		{"another budget", question(9500), "solverevolve"},
		{"another kind", fileOf("resnet50-b1"), "openresnet50-b1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, err := speculate(new(serve.Server), question(9000))
			if err != nil || a.reply == nil {
				t.Fatalf("solved ahead: %v, %v", a, err)
			}
			s := &stage{}
			p := newPool(2, func(e events) (port, error) {
				go e.speculative(a.message())
				return s.start(e)
			})
			synctest.Wait()
			r, err := p.Do(t.Context(), c.ask, nil)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got := strings.Join(s.requests, " "); got != c.want {
				t.Errorf("%s: the workers were asked %q; want %q", c.name, got, c.want)
			}
			if solved, ok := r.(*proto.Solved); c.want == "" && (!ok || solved.Schedule == nil) {
				t.Errorf("%s: the answer is %+v; want a schedule", c.name, r)
			}
			if _, err := p.Do(t.Context(), question(9000), nil); err != nil {
				t.Errorf("%s, and then what was solved ahead: %v", c.name, err)
			}
			if n := len(s.requests); c.want == "" && n != 1 {
				t.Errorf("%s twice: the workers were asked %d times; want once", c.name, n)
			}
		})
	}
}

// The best that a solver had found when its time was over is not kept as the
// answer, also if nobody but the solver has noticed the time.
func TestAheadStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keep := engine.Lookup("keepall")
		engine.Register(&engine.Strategy{Name: "testslow", Title: "Slow", Doc: "Works until it is told to stop.",
			Solver: func(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
				best, err := keep.Solve(p, nil, nil)
				for err == nil {
					time.Sleep(time.Millisecond)
					err = poll.Err()
				}
				return best, err
			}})
		for _, limit := range []time.Duration{0,
			time.Nanosecond} { // until speculativeLimit is over, and the request's own limit
			req := question(10000)
			req.Strategy, req.Limit = "testslow", limit
			a, err := speculate(new(serve.Server), req)
			if err != nil || a.reply != nil {
				t.Errorf("solved ahead with a limit of %v: a reply of %d bytes, %v; want none", limit,
					len(a.reply), err)
			}
		}
	})
}

// An answer that was solved ahead starts the other workers, as any first answer does.
func TestAheadStartsOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := speculate(new(serve.Server), question(9000))
		if err != nil {
			t.Fatal(err)
		}
		s := &stage{}
		p := newPool(2, func(e events) (port, error) {
			go e.speculative(a.message())
			return s.start(e)
		})
		synctest.Wait()
		if _, err := p.Do(t.Context(), question(9000), nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * soloStart)
		synctest.Wait()
		if s.started != 3 {
			t.Errorf("%d workers run; want 3", s.started)
		}
	})
}

// A message that was cut answers nothing.
func TestAheadMessage(t *testing.T) {
	whole := speculative{[]byte("question"), []byte("answer")}
	b := whole.message()
	if got := speculativeOf(b); !bytes.Equal(got.request, whole.request) || !bytes.Equal(got.reply, whole.reply) ||
		!got.answers(whole.request) || got.answers(whole.reply) {
		t.Errorf("%q becomes %q; want %q", b, got, whole)
	}
	for n := range 4 + len(whole.request) {
		if got := speculativeOf(b[:n]); got.answers(whole.request) {
			t.Errorf("%q answers %q; want nothing", b[:n], whole.request)
		}
	}
}

// Where there was no time to solve ahead the page is told what was expected, and asks.
func TestAheadWithoutReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		request, err := proto.EncodeRequest(question(9000))
		if err != nil {
			t.Fatal(err)
		}
		s := &stage{}
		p := newPool(2, func(e events) (port, error) {
			go e.speculative(speculative{request: request}.message())
			return s.start(e)
		})
		synctest.Wait()
		if _, err := p.Do(t.Context(), question(9000), nil); err != nil || len(s.requests) != 1 {
			t.Errorf("the workers were asked %q, %v; want one question and no error", s.requests, err)
		}
	})
}
