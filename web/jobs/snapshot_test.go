//go:build !js

package jobs

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"memtide/wasm/proto"
	"memtide/web/state"
)

// TestExamine checks that the second program examines recordings. The answer to a cancelled request is discarded,
// and a second program that cannot be loaded is a failure with a text.
func TestExamine(t *testing.T) {
	for _, c := range []struct {
		what   string
		load   error
		answer error
		cancel bool
		want   []state.Message
	}{
		{"an answer", nil, nil, false, []state.Message{state.Examined{ID: 7}}},
		{"a failure", nil, errors.New("no recording"), false,
			[]state.Message{state.Examined{ID: 7, Failed: "no recording"}}},
		{"no second program", errors.New("offline"), nil, false,
			[]state.Message{state.Examined{ID: 7, Failed: "no second program: offline"}}},
		{"given up", nil, nil, true, nil},
	} {
		bench(t, func(j *Runner, p *paper, own *worker) {
			second := &worker{answer: make(chan error)}
			j.Second.Fetch = func(context.Context) (func() (proto.Pool, error), error) {
				return func() (proto.Pool, error) { return second, nil }, c.load
			}
			j.Start(state.Examine{ID: 7, Request: proto.Doctor{Part: proto.PartReport}})
			p.work()
			switch {
			case c.cancel:
				j.Start(state.Cancel{ID: 7})
			case c.load == nil:
				second.answer <- c.answer
			}
			p.work()
			if !reflect.DeepEqual(p.told, c.want) || j.Busy() || len(own.sofar()) > 0 {
				t.Errorf("%s: told %+v, busy %t, the page's workers were asked %v; want %+v", c.what, p.told,
					j.Busy(), own.sofar(), c.want)
			}
		})
	}
}
