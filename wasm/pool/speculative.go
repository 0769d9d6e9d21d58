package pool

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

// speculative is a request that the first worker has answered before the page sent it. request is
// encoded exactly as the page will encode it. While a page starts, its own thread is busy and the
// worker is not.
type speculative struct {
	request, reply []byte
}

// speculativeLimit is how long a worker may compute ahead. A page that asks for something else
// waits that long at most.
const speculativeLimit = 150 * time.Millisecond

// speculate answers req with s. The reply is empty if that takes longer than speculativeLimit.
func speculate(s *serve.Server, req proto.Request) (a speculative, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), speculativeLimit)
	defer cancel()
	request, err := proto.EncodeRequest(req)
	if err != nil {
		return speculative{}, err
	}
	last := proto.Ended(s.Handle(ctx, req, nil))
	// Where no timer fires while a solver is busy, only the solver's failure tells that it was
	// stopped. Its best so far is not the answer that the page asks for.
	if ctx.Err() != nil || last.Failure != nil && last.Failure.Kind == proto.Deadline {
		return speculative{request: request}, nil
	}
	reply, err := proto.EncodeReply(last)
	return speculative{request, reply}, err
}

// answers reports whether a holds the reply to request.
func (a speculative) answers(request []byte) bool {
	return len(a.reply) > 0 && bytes.Equal(a.request, request)
}

// message encodes a: the length of the request, the request, the reply. It is sent even without a
// reply, so that tests see which request was expected.
func (a speculative) message() []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(a.request)))
	return append(append(b, a.request...), a.reply...)
}

// speculativeOf decodes what message wrote. It returns the zero value for anything else.
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

// onSpeculative keeps the reply in b until the page asks for it.
func (p *Pool) onSpeculative(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.answered {
		p.speculative = speculativeOf(b)
	}
}

// takeSpeculative returns the reply that is there already for req, encoded as payload, or nil if
// there is none. Only the first solve can have one.
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
		return nil // it is asked for as usual, and the error found again
	}
	p.asked = time.Now()
	p.followFirst()
	return reply
}
