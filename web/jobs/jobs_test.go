//go:build !js

package jobs

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/state"
)

// TestStopEndsWhatRuns checks that cancelling a waiting solve also ends the solve under way, because nothing else
// needs its answer.
func TestStopEndsWhatRuns(t *testing.T) {
	for _, c := range []struct {
		what      string
		s         slot
		id        int
		end       int
		stillNext bool
	}{
		{"the waiting one", slot{running: 7, next: &state.Solve{ID: 8}}, 8, 7, false},
		{"the running one", slot{running: 7}, 7, 0, false},
		{"another one", slot{running: 7, next: &state.Solve{ID: 8}}, 3, 0, true},
	} {
		end := 0
		q := solves{slots: [state.NumSlots]slot{c.s}, end: func(id int) { end = id }}
		if q.cancel(c.id); end != c.end || (q.slots[0].next != nil) != c.stillNext {
			t.Errorf("%s is cancelled: the solve %d has to end and one still waits: %t; want %d and %t", c.what, end,
				q.slots[0].next != nil, c.end, c.stillNext)
		}
	}
}

// TestWhatWaits checks that a solve waits for the one under way while a slider is dragged, but only until that
// one has run for leastPatience, or for twice the time of the one before it, at most for mostPatience.
func TestWhatWaits(t *testing.T) {
	for _, c := range []struct {
		before, since float64
		want          string
	}{
		{0, leastPatience - 1, "after"},
		{0, leastPatience, "end 7, begin 8"},
		{leastPatience, 2*leastPatience - 1, "after"},
		{leastPatience, 2 * leastPatience, "end 7, begin 8"},
		{mostPatience, mostPatience, "end 7, begin 8"},
	} {
		var did []string
		q := solves{
			slots: [state.NumSlots]slot{{running: 7, since: 1000, took: c.before}},
			now:   func() float64 { return 1000 + c.since },
			after: func(int, func()) { did = append(did, "after") },
			begin: func(e state.Solve) { did = append(did, fmt.Sprint("begin ", e.ID)) },
			end:   func(id int) { did = append(did, fmt.Sprint("end ", id)) },
		}
		q.ask(state.Solve{ID: 8, Soon: true})
		if got := strings.Join(did, ", "); got != c.want {
			t.Errorf("a solve is asked for %v ms after the one under way, the one before that took %v: %s; want %s",
				c.since, c.before, got, c.want)
		}
	}
}

// TestNewestSolveIsNotKeptWaiting checks that the newest solve waits for the first no longer than
// leastPatience, even if no further solve is asked for and no answer comes.
func TestNewestSolveIsNotKeptWaiting(t *testing.T) {
	type timer struct {
		at float64
		f  func()
	}
	for _, c := range []struct {
		what   string
		answer bool // the solve under way is answered while others wait
		cancel bool // the last solve is cancelled
		want   string
	}{
		{"no answer comes", false, false, "begin 1, end 1, begin 3"},
		{"an answer comes in time", true, false, "begin 1, begin 3"},
		{"it is given up", false, true, "begin 1, end 1"},
	} {
		var now float64 = 1000
		var did []string
		var timers []timer
		q := solves{
			now:   func() float64 { return now },
			after: func(ms int, f func()) { timers = append(timers, timer{now + float64(ms), f}) },
			begin: func(e state.Solve) { did = append(did, fmt.Sprint("begin ", e.ID)) },
			end:   func(id int) { did = append(did, fmt.Sprint("end ", id)) },
		}
		q.ask(state.Solve{ID: 1})
		now += 10
		q.ask(state.Solve{ID: 2, Soon: true})
		now += 10
		q.ask(state.Solve{ID: 3, Soon: true})
		if c.answer {
			q.answered(state.Solve{ID: 1})
		}
		if c.cancel {
			q.cancel(3)
		}
		for _, x := range timers {
			if now = max(now, x.at); now > 1000+leastPatience+1 {
				t.Errorf("%s: after %v ms a solve still waits; want at most %v", c.what, now-1000, leastPatience)
			}
			x.f()
		}
		if got := strings.Join(did, ", "); got != c.want {
			t.Errorf("%s: %s; want %s", c.what, got, c.want)
		}
	}
}

// TestOneSecond checks that two files that are opened at the same time start the second program only once.
func TestOneSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, arrived := 0, make(chan bool)
		r := Second{Fetch: func(context.Context) (func() (proto.Pool, error), error) {
			<-arrived
			return func() (proto.Pool, error) { started++; return new(serve.Local), nil }, nil
		}}
		var got [2]proto.Pool
		var all sync.WaitGroup
		for i := range got {
			all.Go(func() {
				var err error
				if got[i], err = r.load(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(arrived)
		all.Wait()
		if started != 1 || got[0] != got[1] {
			t.Errorf("%d second programs were started, the same for both files: %t; want 1", started, got[0] == got[1])
		}
	})
}
