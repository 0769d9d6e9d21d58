package pool

import (
	"context"
	"fmt"
	"io"
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

// Serve runs a worker: it answers the page's requests, one after the other, and never returns. While
// no request has come a worker warms itself up.
func Serve() {
	self := safejs.Global()
	requests := make(chan asked, 1)
	cancel := func() {} // the last request
	profiles.End(self.Set("onmessage", must(safejs.FuncOf(func(_ safejs.Value, args []safejs.Value) any {
		data := get(args[0], "data")
		if stringField(data, "type") == "cancel" {
			cancel()
			return nil
		}
		var ctx context.Context
		ctx, cancel = context.WithCancel(context.Background())
		requests <- asked{ctx, body(data), get(data, "file")}
		return nil
	}))))
	must(self.Call("postMessage", map[string]any{"type": "ready"}))
	w := worksite{self: self, selftest: selftestAllowed(self), turn: newTurn()}
	w.server.Unseen = unseen
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

// asked is a request of the page with the file that came with it. file is undefined if there is
// none. ctx ends when the page cancels the request.
type asked struct {
	ctx  context.Context
	body []byte
	file safejs.Value
}

// unseen is how long a solver works before the page shows its best so far. Pictures that are
// replaced sooner would only flicker, and move what is below them.
const unseen = 150 * time.Millisecond

type worksite struct {
	self     safejs.Value
	selftest bool
	server   serve.Server
	beaten   time.Time // when the last beat was sent
	turn     func()    // lets the browser handle the messages that have come
	turned   time.Time // when turn was last called
}

func (w *worksite) answer(r asked) {
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
	w.turned = w.beaten
	ctx := context.WithValue(r.ctx, engine.Yield{}, w.breathe)
	w.say(proto.Ended(w.server.Handle(ctx, req, func(p any) { w.say(&proto.Reply{Value: p}) })))
}

// beatEvery is the shortest time between two beats, turnEvery that between two calls of turn.
const beatEvery, turnEvery = 2 * time.Second, 20 * time.Millisecond

// breathe hears whether the request is cancelled, at most every turnEvery, and tells the page that this worker is
// working, at most every beatEvery.
func (w *worksite) breathe() {
	now := time.Now()
	if now.Sub(w.turned) >= turnEvery {
		w.turn()
		w.turned = time.Now()
	}
	if now.Sub(w.beaten) >= beatEvery {
		w.beaten = now
		must(w.self.Call("postMessage", map[string]any{"type": "beat"}))
	}
}

// newTurn returns a function that waits until the browser has handled the messages that came before its call. It
// sends a message to itself, because a timer takes the browser at least a millisecond, and soon four.
func newTurn() func() {
	channel, back := construct("MessageChannel"), make(chan bool, 1)
	profiles.End(get(channel, "port1").Set("onmessage", must(safejs.FuncOf(func(safejs.Value, []safejs.Value) any {
		back <- true
		return nil
	}))))
	from := get(channel, "port2")
	return func() {
		must(from.Call("postMessage", nil))
		<-back
	}
}

// say sends a reply. It panics if that fails: then nothing else can be sent either, and the page notices a dead worker.
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

// file is a file of the browser that is read in parts. FileReaderSync blocks until the disk has
// answered, which browsers allow in workers only.
type file struct {
	file   safejs.Value
	reader safejs.Value // a FileReaderSync
	size   int64
	part   safejs.Value // a Uint8Array in the browser's memory: the part that was read last
	at     int64        // offset of part in the file
	length int64        // of part
	unseen int64        // bytes read since the browser was last able to free buffers
}

// partSize is the size of one read. Each takes the browser some milliseconds, however short it is:
// with parts of 1 MiB they were two thirds of the time of a large file.
const partSize = 8 << 20

// collectEvery is how many bytes are read before fetch sleeps for a moment, so that the browser can
// free old buffers: it frees none while a program runs.
const collectEvery = 16 << 20

func newFile(of safejs.Value) (profiles.Content, error) {
	return profiles.Try(func() profiles.Content {
		return &file{file: of, reader: construct("FileReaderSync"), size: int64(must(get(of, "size").Float()))}
	})
}

func (f *file) Size() int64 { return f.size }

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	want := p[:max(min(int64(len(p)), f.size-off), 0)]
	n := 0
	for n < len(want) {
		k, err := profiles.Try(func() int { return f.read(want[n:], off+int64(n)) })
		if n += k; err != nil {
			return n, &profiles.FormatError{Found: "The file cannot be read: " + err.Error(),
				Expected: "The file must not be moved or changed while it is being opened.", Remedy: "Open it again."}
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// read copies bytes from offset off on into p, up to the end of the part. It copies at least one.
func (f *file) read(p []byte, off int64) int {
	if off < f.at || off >= f.at+f.length {
		f.fetch(off)
	}
	from := off - f.at
	return must(safejs.CopyBytesToGo(p, must(f.part.Call("subarray", float64(from),
		float64(min(f.length, from+int64(len(p))))))))
}

// fetch reads the part that begins at offset off.
func (f *file) fetch(off int64) {
	f.part, f.length = safejs.Value{}, 0
	n := min(partSize, f.size-off)
	if f.unseen += n; f.unseen > collectEvery {
		f.unseen = 0
		time.Sleep(time.Millisecond)
	}
	part := must(f.file.Call("slice", float64(off), float64(off+n)))
	f.part = construct("Uint8Array", safejs.Unsafe(must(f.reader.Call("readAsArrayBuffer", safejs.Unsafe(part)))))
	f.at, f.length = off, n
}
