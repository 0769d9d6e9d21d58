package pool

import (
	"context"
	"fmt"
	"time"

	"github.com/hack-pad/safejs"

	"memtide/engine"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/choice"
)

// warmUps is how many times an idle worker solves a toy problem after its start. The browser
// optimizes code after it has run a few times.
const warmUps = 5

// Serve runs a worker: it answers the page's requests, one after the other, and never returns. The
// first worker of a page computes an answer ahead: expect returns the request that the page with
// this address will send first, or nil if it sends none. While no request has come a worker warms
// itself up.
func Serve(expect func(search, hash string) proto.Request) {
	self := safejs.Global()
	requests := make(chan asked, 1)
	listener := must(safejs.FuncOf(func(_ safejs.Value, args []safejs.Value) any {
		data := get(args[0], "data")
		requests <- asked{body(data), get(data, "file")}
		return nil
	}))
	profiles.End(self.Set("onmessage", listener))
	must(self.Call("postMessage", map[string]any{"type": "ready"}))
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

// asked is a message of the page with the file that came with it. file is undefined if there is
// none.
type asked struct {
	body []byte
	file safejs.Value
}

// unseen is how long a solver works before the page shows its best so far. Pictures that are
// replaced sooner would only flicker, and move what is below them.
const unseen = 150 * time.Millisecond

type worksite struct {
	self        safejs.Value
	selftest    bool
	server      serve.Server
	speculative speculative
	beaten      time.Time // when the last beat was sent
}

// lookAhead computes the answer that the page will ask for first and sends it. If the page's
// request was already on its way, answer replies with the same bytes.
func (w *worksite) lookAhead(expect func(search, hash string) proto.Request) {
	first := get(w.self, "first")
	if first.IsUndefined() {
		return
	}
	if req := expect(stringField(first, "search"), stringField(first, "hash")); req != nil {
		w.speculative = must(speculate(&w.server, req))
		profiles.End(post(w.self, "speculative", w.speculative.message(), nil))
	}
}

func (w *worksite) answer(r asked) {
	a := w.speculative
	w.speculative = speculative{}
	if a.answers(r.body) {
		profiles.End(post(w.self, "reply", a.reply, nil))
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

// beatEvery is the shortest time between two beats.
const beatEvery = 2 * time.Second

// beat tells the page that this worker is working, at most every beatEvery.
func (w *worksite) beat() {
	if time.Since(w.beaten) < beatEvery {
		return
	}
	w.beaten = time.Now()
	must(w.self.Call("postMessage", map[string]any{"type": "beat"}))
}

// say sends a reply. It panics if that fails: then nothing else can be sent either, and the page
// notices a dead worker.
func (w *worksite) say(r *proto.Reply) {
	b, err := proto.EncodeReply(r)
	if err == nil {
		err = post(w.self, "reply", b, nil)
	}
	if err != nil {
		panic(fmt.Sprintf("the answer cannot be sent: %v", err))
	}
}

// warmUp solves a toy problem with a server of its own, so that w.server's caches stay as they are.
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
