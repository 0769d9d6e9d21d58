package pool

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

// speculative is what the first worker has solved before anybody asked: the request, as
// the page is going to write it, and the reply. While a page starts, its own
// thread is the busy one.
type speculative struct {
	request, reply []byte
}

// speculativeLimit is how long a worker may solve ahead. A page that asks for something
// else waits so long at most.
const speculativeLimit = 150 * time.Millisecond

// speculate answers a request; without a reply if that is not done within
// speculativeLimit.
func speculate(s *serve.Server, req proto.Request) (a speculative, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), speculativeLimit)
	defer cancel()
	request, err := proto.EncodeRequest(req)
	if err != nil {
		return speculative{}, err
	}
	last := proto.Ended(s.Handle(ctx, req, nil))
	// Where no timer fires while a solver is busy, only the solver knows that it
	// was stopped. What it had found by then is not what the page asks for.
	if ctx.Err() != nil || last.Failure != nil && last.Failure.Kind == proto.Deadline {
		return speculative{request: request}, nil
	}
	reply, err := proto.EncodeReply(last)
	return speculative{request, reply}, err
}

// answers tells whether the reply is the answer to a request.
func (a speculative) answers(request []byte) bool {
	return len(a.reply) > 0 && bytes.Equal(a.request, request)
}

// message is both as one message: the length of the request, and the two. It is sent
// also when there was no time for a reply: what was expected can be seen then, too.
func (a speculative) message() []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(a.request)))
	return append(append(b, a.request...), a.reply...)
}

// speculativeOf reads what message wrote; the zero value if it is something else.
func speculativeOf(b []byte) speculative {
	if len(b) < 4 {
		return speculative{}
	}
	n := uint64(binary.BigEndian.Uint32(b))
	if b = b[4:]; n > uint64(len(b)) {
		return speculative{}
	}
	return speculative{b[:n], b[n:]}
}

// onSpeculative keeps a reply until the page asks.
func (p *Pool) onSpeculative(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.answered {
		p.speculative = speculativeOf(b)
	}
}

// takeSpeculative is the reply to a request if there is one already; only the first
// solve can have one.
func (p *Pool) takeSpeculative(req proto.Request, payload []byte) *proto.Reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := req.(*proto.Solve); !ok || len(p.speculative.reply) == 0 {
		return nil
	}
	a := p.speculative
	p.speculative = speculative{}
	if !a.answers(payload) {
		return nil
	}
	reply, err := proto.DecodeReply(req, a.reply)
	if err != nil {
		return nil // it is asked for, and the error found again
	}
	p.asked = time.Now()
	p.followFirst()
	return reply
}
