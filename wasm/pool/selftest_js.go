package pool

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/hack-pad/safejs"

	"memtide/profiles"
	"memtide/wasm/proto"
)

// The rest of this file is used only on a page that was opened with ?selftest, by the browser tests: they prove that
// each way to fail is shown as an error and that the next request works. Workers of other pages refuse proto.Break.

func selftestAllowed(self safejs.Value) bool {
	ok, err := profiles.Try(func() bool { return must(get(self, "selftest").Truthy()) })
	return err == nil && ok
}

// breakDown fails in the way that how names.
func breakDown(how string) {
	switch how {
	case "overflow":
		fmt.Println(deeper(1, 2))
	case "oom":
		var hold [][]byte
		for { // the memory is never written, so that the machine's own is not used up
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
//	memtide.request(message, tell)     a promise of the result as JSON (without schedule
//	    and trace, but with their lengths), rejected with the failure as JSON. The promise
//	    has a function cancel. The message is what proto.EncodeRequest writes, in base64.
//	memtide.breakNext = "panic"        the worker of the next solve fails that way
func publish(p *Pool) {
	f := must(safejs.FuncOf(func(_ safejs.Value, args []safejs.Value) any {
		text, err := args[0].String()
		if err != nil {
			return err.Error()
		}
		return safejs.Unsafe(p.promise(text, args[1]))
	}))
	profiles.End(spoil(p).Set("request", f))
}

// spoil lets scripts replace requests of the page. It returns the page's object memtide.
func spoil(p *Pool) (page safejs.Value) {
	page = get(safejs.Global(), "memtide")
	p.spoil = func(req proto.Request) proto.Request { return spoiled(page, req) }
	return page
}

// spoiled returns req, or for a solve a proto.Break if the script has set memtide.breakNext.
func spoiled(page safejs.Value, req proto.Request) proto.Request {
	how, err := profiles.Try(func() string { return stringField(page, "breakNext") })
	if _, ok := req.(*proto.Solve); err != nil || !ok || page.Delete("breakNext") != nil {
		return req
	}
	return &proto.Break{How: how}
}

func (p *Pool) promise(text string, tell safejs.Value) safejs.Value {
	ctx, cancel := context.WithCancel(context.Background())
	start := must(safejs.FuncOf(func(_ safejs.Value, settle []safejs.Value) any {
		go func() {
			result, err := p.scripted(ctx, text, tell)
			if err != nil {
				_, _ = settle[1].Invoke(jsonOf(err))
				return
			}
			_, _ = settle[0].Invoke(jsonOf(result))
		}()
		return nil
	}))
	promise := construct("Promise", start)
	profiles.End(promise.Set("cancel", must(safejs.FuncOf(func(safejs.Value,
		[]safejs.Value) any {
		cancel()
		return nil
	}))))
	return promise
}

func (p *Pool) scripted(ctx context.Context, text string, tell safejs.Value) (any, error) {
	message, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	req, err := proto.DecodeRequest(message)
	if err != nil {
		return nil, err
	}
	return p.Do(ctx, req, func(v any) { _, _ = tell.Invoke(jsonOf(v)) })
}

func jsonOf(v any) string {
	switch x := v.(type) {
	case *proto.Failure:
	case error:
		v = map[string]string{"text": x.Error()}
	case *proto.Solved:
		if x.Trace != nil {
			v = map[string]any{"solved": x, "spans": len(x.Trace.Spans), "steps": len(x.Schedule)}
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
