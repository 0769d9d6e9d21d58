package pool

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memtide/wasm/proto"
)

// life is how a worker works on a request: how long it takes, when it sends its first beat, and how long it waits
// before each further beat. The zero value is a worker that never answers and sends no beats.
type life struct{ takes, first, every time.Duration }

func (l life) live(req proto.Request, e events, told orders) {
	var done, beat <-chan time.Time // never
	if l.takes > 0 {
		done = time.After(l.takes)
	}
	if l.first > 0 {
		beat = time.After(l.first)
	}
	for {
		select {
		case <-told.end:
			return
		case <-beat:
			e.beat()
			beat = time.After(l.every)
		case <-done:
			result(e, req)
			return
		}
	}
}

// TestSilence checks that a silent worker is noticed: the page is told, and later the request fails. A worker
// that polls may take any time, and a worker that is silent only for a while is not ended.
func TestSilence(t *testing.T) {
	quick := life{takes: time.Second}
	for _, c := range []struct {
		name    string
		workers []life // in the order in which they are asked
		want    string
	}{
		{"one vanishes", []life{{}},
			"The engine does not answer: it has said nothing for 20s. Try again, or reload the page. after 20s; asked 1, ended 1; told 10s"},
		{"one polls", []life{{time.Hour, time.Second, 2 * time.Second}},
			"solvea answered after 1h0m0s; asked 1, ended 0; told "},
		{"one speaks late", []life{{time.Minute, 15 * time.Second, time.Second}},
			"solvea answered after 1m0s; asked 1, ended 0; told 10s 0s"},
		{"one is late twice", []life{{35 * time.Second, 15 * time.Second, 15 * time.Second}},
			"solvea answered after 35s; asked 1, ended 0; told 10s 0s 11s 0s"},
		{"one answers late", []life{{takes: 15 * time.Second}},
			"solvea answered after 15s; asked 1, ended 0; told 10s 0s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, asked := &stage{}, 0
			s.behave = func(req proto.Request, e events, told orders) {
				s.mu.Lock()
				asked++
				n := asked
				s.mu.Unlock()
				if n > len(c.workers) {
					quick.live(req, e, told)
					return
				}
				c.workers[n-1].live(req, e, told)
			}
			p := newPool(1, s.start)
			p.soloStart = never
			var told []string
			p.OnSilence(func(_ proto.Request, d time.Duration) { told = append(told, d.String()) })
			begun := time.Now()
			how := "solvea answered"
			r, err := proto.Do(t.Context(), p.Do, request("a"), nil)
			if err != nil {
				how = err.Error()
			} else if r.Strategy != "a" {
				t.Errorf("%s: the answer is about %q; want a", c.name, r.Strategy)
			}
			took := time.Since(begun)
			synctest.Wait()
			got := fmt.Sprintf("%s after %v; asked %d, ended %d; told %s", how, took, s.of(&asked), s.of(&s.killed),
				strings.Join(told, " "))
			if got != c.want {
				t.Errorf("%s:\n%s; want\n%s", c.name, got, c.want)
			}
			if _, err := p.Do(t.Context(), request("next"), nil); err != nil {
				t.Errorf("%s: the next request: %v", c.name, err)
			}
			time.Sleep(time.Minute)
		})
	}
}

// TestSilenceEnds checks that cancelling a request ends its silent worker, and that a request fails with the
// reason if no worker ever starts.
func TestSilenceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{behave: func(_ proto.Request, _ events, told orders) { <-told.end }}
		p := newPool(1, s.start)
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		_, err := p.Do(ctx, request("a"), nil)
		time.Sleep(time.Second)
		if n := s.of(&s.killed); err == nil || n != 1 {
			t.Errorf("given up after 15s: got %v and %d workers ended; want an error and 1", err, n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		started := 0
		p := newPool(1, func(events) (port, error) { started++; return port{kill: func() {}}, nil })
		begun := time.Now()
		_, err := p.Do(t.Context(), request("a"), nil)
		if took := time.Since(begun); err == nil || !strings.Contains(err.Error(), "could not be loaded in time") ||
			started != maxStarts || took != maxStarts*heartbeat {
			t.Errorf("no worker starts: got %v after %v and %d tries; want that none could be loaded after %v and %d",
				err, took, started, maxStarts*heartbeat, maxStarts)
		}
	})
}
