package pool

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/hack-pad/safejs"

	"memtide/wasm/proto"
)

// What follows is there only on a page that was opened with ?selftest, for the
// browser tests: they prove that each way to fail shows as an error and that
// the next request works. A page without it ignores Request.Test.

func selftestAllowed(self safejs.Value) bool {
	v, err := self.Get("selftest")
	if err != nil {
		return false
	}
	ok, err := v.Truthy()
	return err == nil && ok
}

// breakDown fails in the way that is asked for.
func breakDown(how string) {
	switch how {
	case "overflow":
		fmt.Println(deeper(1, 2))
	case "oom":
		var hold [][]byte
		for { // nothing is written, so that the machine's memory is not used up
			hold = append(hold, make([]byte, 256<<20))
			runtime.KeepAlive(hold)
		}
	case "panic":
		panic("self-test")
	case "loop":
		for {
		}
	}
}

//go:noinline
func deeper(a, b int) int {
	if a == 1<<40 {
		return b
	}
	return deeper(a+1, b+a) + 1
}

// publish lets scripts send requests and spoil those of the page:
//
//	memtide.request(json, onProgress)  a promise of the reply as JSON (without
//	    schedule and trace, but with their lengths), rejected with the failure as
//	    JSON. The promise has a function cancel. The profile of a network, which is
//	    not in the JSON of a request, is a field "profile" beside the others.
//	memtide.breakNext = "panic"        the worker of the next solve fails that way
func publish(p *Pool) error {
	page, err := spoil(p)
	if err != nil {
		return err
	}
	f, err := safejs.FuncOf(func(_ safejs.Value, args []safejs.Value) any {
		text, err := args[0].String()
		if err != nil {
			return err.Error()
		}
		return safejs.Unsafe(p.promise(text, args[1]))
	})
	if err != nil {
		return err
	}
	return page.Set("request", f)
}

// spoil lets scripts spoil the requests of the page.
func spoil(p *Pool) (page safejs.Value, err error) {
	page, err = safejs.Global().Get("memtide")
	p.tamper = func(req *proto.Request) *proto.Request { return spoiled(page, req) }
	return page, err
}

// spoiled is the request, with the way to fail that memtide.breakNext names.
func spoiled(page safejs.Value, req *proto.Request) *proto.Request {
	how, err := stringField(page, "breakNext")
	if err != nil || req.Op != proto.OpSolve {
		return req
	}
	if err := page.Delete("breakNext"); err != nil {
		return req
	}
	bad := *req
	bad.Test = how
	return &bad
}

func (p *Pool) promise(text string, onProgress safejs.Value) safejs.Value {
	ctx, cancel := context.WithCancel(context.Background())
	start, err := safejs.FuncOf(func(_ safejs.Value, settle []safejs.Value) any {
		go func() {
			reply, err := p.scripted(ctx, text, onProgress)
			if err != nil {
				_, _ = settle[1].Invoke(jsonOf(err))
				return
			}
			_, _ = settle[0].Invoke(jsonOf(reply))
		}()
		return nil
	})
	if err != nil {
		panic(err)
	}
	promise, err := construct("Promise", start)
	if err != nil {
		panic(err)
	}
	stop, err := safejs.FuncOf(func(safejs.Value, []safejs.Value) any { cancel(); return nil })
	if err == nil {
		err = promise.Set("cancel", stop)
	}
	if err != nil {
		panic(err)
	}
	return promise
}

func (p *Pool) scripted(ctx context.Context, text string, onProgress safejs.Value) (*proto.Reply, error) {
	var req struct {
		proto.Request
		Profile json.RawMessage `json:"profile"`
	}
	if err := json.Unmarshal([]byte(text), &req); err != nil {
		return nil, err
	}
	if to := req.Request.Profile(); to != nil && req.Profile != nil {
		*to = req.Profile
	}
	return p.Do(ctx, &req.Request, func(r *proto.Reply) { _, _ = onProgress.Invoke(jsonOf(r)) })
}

func jsonOf(v any) string {
	if err, ok := v.(error); ok {
		if _, isFailure := v.(*proto.Failure); !isFailure {
			v = map[string]string{"text": err.Error()}
		}
	}
	if r, ok := v.(*proto.Reply); ok && r.Solved != nil && r.Solved.Trace != nil {
		v = map[string]any{"reply": r, "spans": len(r.Solved.Trace.Spans), "steps": len(r.Solved.Schedule)}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
