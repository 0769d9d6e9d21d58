package serve

import (
	"context"

	"memtide/engine"
	"memtide/profiles"
	"memtide/wasm/proto"
)

// newExaminer is nil in a program without an examiner, like the page.
var newExaminer func(*profiles.Profile) (Examiner, error)

// RegisterExaminer makes this program one that examines recordings: see package
// serve/examine. of may write into the buffers what each is for.
func RegisterExaminer(of func(*profiles.Profile) (Examiner, error)) {
	Register((*Server).examine)
	newExaminer = of
}

// keep has what was read at hand for what is asked about it later, if this program
// answers that.
func (s *Server) keep(q *proto.Open, p *profiles.Profile) {
	if q.Keep > 0 && newExaminer != nil {
		if of, err := newExaminer(p); err == nil {
			s.kept = kept{q.Keep, of}
		}
	}
}

// examine answers about a recording, which it reads if it is not the one at hand.
func (s *Server) examine(ctx context.Context, q *proto.Doctor, _ func(*proto.Nothing)) (*proto.Examined, *proto.Failure) {
	poll := engine.NewPoll(ctx, nil)
	if q.Part == proto.PartCompare {
		return s.compare(ctx, q, poll)
	}
	if q.File.Keep == 0 || s.kept.number != q.File.Keep {
		s.kept = kept{}
		p, fail := decode(&q.File, poll)
		if fail != nil {
			return nil, fail
		}
		of, err := newExaminer(p)
		if err != nil {
			return nil, proto.Fail(proto.BadRequest, "%v", err)
		}
		s.kept = kept{q.File.Keep, of}
	}
	return s.ask(ctx, q, nil, poll)
}

// compare reads a second recording and compares it with the one that is at hand.
func (s *Server) compare(ctx context.Context, q *proto.Doctor, poll *engine.Poll) (*proto.Examined, *proto.Failure) {
	if s.kept.examine == nil || s.kept.number != q.With {
		return nil, proto.Fail(proto.BadRequest, "the first snapshot is not at hand any more; open it again")
	}
	p, fail := decode(&q.File, poll)
	if fail != nil {
		return nil, fail
	}
	return s.ask(ctx, q, p, poll)
}

// ask asks the examiner that is at hand.
func (s *Server) ask(ctx context.Context, q *proto.Doctor, second *profiles.Profile, poll *engine.Poll) (*proto.Examined, *proto.Failure) {
	out, err := s.kept.examine(q, second, poll)
	if err != nil {
		if ctx.Err() != nil || poll.Err() != nil {
			return nil, proto.Fail(proto.Deadline, "it was stopped before it was done")
		}
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	return out, nil
}
