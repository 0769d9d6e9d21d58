package pool

import (
	"context"
	"fmt"
	"time"

	"github.com/hack-pad/safejs"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/choice"
)

// warmUps is how often a worker that nobody asks solves the toy problem. The
// browser compiles code again after it has run a few times.
const warmUps = 5

// Serve is the life of a worker: it answers the page's requests, one after the
// other, and never returns. The first worker of a page answers ahead what the
// page is going to ask, which expect tells from its address: nil if it asks nothing.
// While nobody asks, at first, a worker warms itself up.
func Serve(expect func(search, hash string) proto.Request) {
	self := safejs.Global()
	requests := make(chan asked, 1)
	listener, err := safejs.FuncOf(func(_ safejs.Value, args []safejs.Value) any {
		data, err := args[0].Get("data")
		if err != nil {
			panic(err)
		}
		r := asked{}
		if r.body, err = body(data); err == nil {
			r.file, err = data.Get("file")
		}
		if err != nil {
			panic(err)
		}
		requests <- r
		return nil
	})
	if err == nil {
		err = self.Set("onmessage", listener)
	}
	if err == nil {
		_, err = self.Call("postMessage", map[string]any{"type": "ready"})
	}
	if err != nil {
		panic(err) // worker.js tells the page
	}
	w := worksite{self: self, selftest: selftestAllowed(self)}
	w.server.Unseen = unseen
	w.lookAhead(expect)
	for cold := warmUps; ; cold-- {
		var idle <-chan time.Time // never, once it is warm
		if cold > 0 {
			idle = time.After(20 * time.Millisecond)
		}
		select {
		case r := <-requests:
			w.answer(r)
		case <-idle:
			w.warmUp()
		}
	}
}

// asked is a message of the page, and the file that came with it, undefined if
// there is none.
type asked struct {
	body []byte
	file safejs.Value
}

// unseen is how long a solver works before the page shows its best so far: pictures that
// stand for less would only flicker, and move what is below them.
const unseen = 150 * time.Millisecond

type worksite struct {
	self        safejs.Value
	selftest    bool
	server      serve.Server
	speculative speculative
	beaten      time.Time // when the page was last told that this worker is at work
}

// lookAhead solves what the page will ask first. The page is told, and if it had
// asked before it heard of it, it is answered with the same.
func (w *worksite) lookAhead(expect func(search, hash string) proto.Request) {
	first, err := w.self.Get("first")
	if err != nil || first.IsUndefined() {
		return
	}
	search, err := stringField(first, "search")
	if err != nil {
		panic(err)
	}
	hash, err := stringField(first, "hash")
	if err != nil {
		panic(err)
	}
	req := expect(search, hash)
	if req == nil {
		return
	}
	w.speculative, err = speculate(&w.server, req)
	if err == nil {
		err = post(w.self, "speculative", w.speculative.message(), nil)
	}
	if err != nil {
		panic(err)
	}
}

func (w *worksite) answer(r asked) {
	a := w.speculative
	w.speculative = speculative{}
	if a.answers(r.body) {
		if err := post(w.self, "reply", a.reply, nil); err != nil {
			panic(err)
		}
		return
	}
	req, err := proto.DecodeRequest(r.body)
	if err == nil && !r.file.IsUndefined() {
		if file := proto.FileOf(req); file != nil {
			file.Content, err = newFile(r.file)
		}
	}
	if err != nil {
		w.say(proto.Ended(nil, proto.Fail(proto.BadRequest, "%v", err)))
		return
	}
	if b, ok := req.(*proto.Break); ok && w.selftest {
		breakDown(b.How)
	}
	w.beaten = time.Now()
	ctx := context.WithValue(context.Background(), engine.Yield{}, w.beat)
	w.say(proto.Ended(w.server.Handle(ctx, req, func(p any) { w.say(&proto.Reply{Value: p}) })))
}

// beatEvery is how often a worker that polls says that it is at work, at most.
const beatEvery = 2 * time.Second

// beat tells the page that this worker is at work.
func (w *worksite) beat() {
	if time.Since(w.beaten) < beatEvery {
		return
	}
	w.beaten = time.Now()
	if _, err := w.self.Call("postMessage", map[string]any{"type": "beat"}); err != nil {
		panic(err)
	}
}

// say panics if the page cannot be told: then nothing else can be said either,
// and a dead worker is noticed.
func (w *worksite) say(r *proto.Reply) {
	b, err := proto.EncodeReply(r)
	if err == nil {
		err = post(w.self, "reply", b, nil)
	}
	if err != nil {
		panic(fmt.Sprintf("the answer cannot be sent: %v", err))
	}
}

// warmUp solves a toy problem with a server of its own.
func (w *worksite) warmUp() {
	var s serve.Server
	_, _ = s.Handle(context.Background(), &proto.Solve{
		Setting: proto.Setting{
			Network: proto.Network{Preset: "resnet50-b1"},
			Device:  engine.Device{ToHost: 12_500_000_000, ToDev: 12_500_000_000},
		},
		Method: proto.Method{Strategy: choice.DefaultStrategy},
		Budget: choice.Budget{Share: 60 * choice.Percent},
	}, nil)
}
