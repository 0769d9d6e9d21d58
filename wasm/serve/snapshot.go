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
	out, err := s.kept.examine(q, poll)
	if err != nil {
		if ctx.Err() != nil || poll.Err() != nil {
			return nil, proto.Fail(proto.Deadline, "it was stopped before it was done")
		}
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	return out, nil
}
