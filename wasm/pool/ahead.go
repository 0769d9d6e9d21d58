package pool

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

// ahead is what the first worker has solved before anybody asked: the request, as
// the page is going to write it, and the reply. While a page starts, its own
// thread is the busy one.
type ahead struct {
	request, reply []byte
}

// aheadLimit is how long a worker may solve ahead. A page that asks for something
// else waits so long at most.
const aheadLimit = 150 * time.Millisecond

// solveAhead answers a request; without a reply if that is not done within
// aheadLimit.
func solveAhead(s *serve.Server, req *proto.Request) (a ahead, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), aheadLimit)
	defer cancel()
	request, err := proto.EncodeRequest(req)
	if err != nil {
		return ahead{}, err
	}
	var last *proto.Reply
	s.Handle(ctx, req, func(r *proto.Reply) { last = r })
	// Where no timer fires while a solver is busy, only the solver knows that it
	// was stopped. What it had found by then is not what the page asks for.
	if ctx.Err() != nil || last == nil || last.Failure != nil && last.Failure.Kind == proto.Deadline {
		return ahead{request: request}, nil
	}
	reply, err := proto.EncodeReply(last)
	return ahead{request, reply}, err
}

// answers tells whether the reply is the answer to a request.
func (a ahead) answers(request []byte) bool {
	return len(a.reply) > 0 && bytes.Equal(a.request, request)
}

// message is both as one message: the length of the request, and the two. It is sent
// also when there was no time for a reply: what was expected can be seen then, too.
func (a ahead) message() []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(a.request)))
	return append(append(b, a.request...), a.reply...)
}

// aheadOf reads what message wrote; the zero value if it is something else.
func aheadOf(b []byte) ahead {
	if len(b) < 4 {
		return ahead{}
	}
	n := uint64(binary.BigEndian.Uint32(b))
	if b = b[4:]; n > uint64(len(b)) {
		return ahead{}
	}
	return ahead{b[:n], b[n:]}
}

// onAhead keeps a reply until the page asks.
func (p *Pool) onAhead(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.answered {
		p.ahead = aheadOf(b)
	}
}

// takeAhead is the reply to a request if there is one already. Only the first
// solve can be so lucky.
func (p *Pool) takeAhead(req *proto.Request, payload []byte) *proto.Reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	if req.Op != proto.OpSolve || len(p.ahead.reply) == 0 {
		return nil
	}
	a := p.ahead
	p.ahead = ahead{}
	if !a.answers(payload) {
		return nil
	}
	reply, err := proto.DecodeReply(a.reply)
	if err != nil {
		return nil // it is asked for, and the error found again
	}
	p.asked = time.Now()
	p.followFirst()
	return reply
}
