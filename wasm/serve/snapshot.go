package serve

import (
	"context"

	"memtide/engine"
	"memtide/profiles"
	"memtide/wasm/proto"
)

// newExaminer is nil in a program that does not examine recordings, like the page's.
var newExaminer func(*profiles.Profile) (Examiner, error)

// RegisterExaminer makes this program examine recordings with of (see package serve/examine). of
// may change the buffers of the profile: it notes what each is for.
func RegisterExaminer(of func(*profiles.Profile) (Examiner, error)) {
	Register((*Server).examine)
	newExaminer = of
}

// keep keeps the recording in p for later requests under the number q.Keep, if this program
// examines recordings.
func (s *Server) keep(q *proto.Open, p *profiles.Profile) {
	if q.Keep > 0 && newExaminer != nil {
		if of, err := newExaminer(p); err == nil {
			s.kept = kept{q.Keep, of}
		}
	}
}

// examine answers about a recording. It reads the file, unless that recording is kept already.
func (s *Server) examine(ctx context.Context, q *proto.Doctor, _ func(*proto.Nothing)) (*proto.Examined,
	*proto.Failure) {
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

// compare reads a second recording and compares it with the one that is kept.
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

// ask asks the examiner of the recording that is kept. second is what to compare it with, or nil.
func (s *Server) ask(ctx context.Context, q *proto.Doctor, second *profiles.Profile,
	poll *engine.Poll) (*proto.Examined, *proto.Failure) {
	out, err := s.kept.examine(q, second, poll)
	if err != nil {
		if ctx.Err() != nil || poll.Err() != nil {
			return nil, proto.Fail(proto.Deadline, "it was stopped before it was done")
		}
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	return out, nil
}
