package serve

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/wasm/proto"
)

func init() { Register((*Server).open) }

// openMemory opens a file about addresses. It is nil in a program without package serve/addresses.
var openMemory func(p *profiles.Profile, poll *engine.Poll) *proto.Opened

// RegisterMemory makes this program open files about addresses, with the function open.
func RegisterMemory(open func(p *profiles.Profile, poll *engine.Poll) *proto.Opened) {
	openMemory = open
}

func (s *Server) open(ctx context.Context, q *proto.Open, tell func(*proto.Progress)) (*proto.Opened, *proto.Failure) {
	poll := engine.NewPoll(ctx, func(pr engine.Progress) { tell(&proto.Progress{Done: pr.Done, Total: pr.Total}) })
	s.kept = kept{} // free the old recording before the new one is read
	p := decode(q, poll)
	if p.Memory != nil {
		if q.Keep > 0 && newExaminer != nil { // the recording is kept for later requests under this number
			if of, err := newExaminer(p); err == nil {
				s.kept = kept{q.Keep, of}
			}
		}
		if openMemory == nil {
			return nil, proto.Fail(proto.Elsewhere, "this program cannot open files about addresses")
		}
		return openMemory(p, poll), nil
	}
	file := q.Bytes
	if q.Decoded == nil {
		var b bytes.Buffer
		if err := native.Encode(&b, p); err != nil {
			return nil, proto.Fail(proto.BadRequest, "the profile cannot be written: %v", err)
		}
		file = b.Bytes()
	}
	out := &proto.Opened{
		Profile: file,
		Decoded: p,
		Lint:    p.Warnings,
		NoChain: noChain(p),
		Packed:  p.Packed,
		Step:    p.Step,
		Model:   p.Model,
	}
	if p.Chain != nil {
		out.Totals, out.Asides = totals(p), asides(p.Chain)
	}
	if p.Graph == nil {
		return out, nil
	}
	sums, err := profiles.Try(func() proto.Totals { return graphTotals(p) })
	fail := proto.FailureOf(err)
	switch {
	case p.Chain == nil:
		out.Totals = sums
		return out, fail
	case fail == nil:
		out.GraphTotals = sums
		return out, nil
	case fail.Kind == proto.Elsewhere:
		return nil, fail
	}
	out.Lint = append(slices.Clone(out.Lint), "The operations cannot be used, only the chain: "+fail.Text)
	return out, nil
}

// asides returns what runs beside the stages of a chain, or nil if nothing does.
func asides(c *engine.Chain) [][2]engine.Aside {
	out, some := make([][2]engine.Aside, len(c.Stages)), false
	for i := range c.Stages {
		out[i] = c.Stages[i].Asides
		some = some || out[i] != [2]engine.Aside{}
	}
	if !some {
		return nil
	}
	return out
}

func totals(p *profiles.Profile) proto.Totals {
	t := p.Totals()
	states := t.Resident.Total()
	if p.Chain != nil {
		states = p.Chain.States()
	}
	return proto.Totals{
		Stages: t.Stages, Forward: t.Forward, Back: t.Back, Saved: t.Saved, Resident: t.Resident.Total(),
		States: states, KeepAllPeak: t.KeepAllPeak, Batch: p.Batch,
	}
}

// graphTotals returns the sums over the operations of a profile. Saved is all activations, Resident
// is all weights and what stays with them.
func graphTotals(p *profiles.Profile) proto.Totals {
	nw := build(p, true)
	operations := *p
	operations.Chain = nil
	t := totals(&operations)
	t.Ops, t.KeepAllPeak = len(p.Graph.Ops), nw.keepAll.Peak
	return t
}

// noChain says why strategies for chains cannot be used; it returns "" if they can.
func noChain(p *profiles.Profile) string {
	if p.Chain == nil {
		return fmt.Sprintf("%s is read, but its operations do not form a chain", p.Name)
	}
	return p.NotLinear()
}

// newExaminer is nil in a program that does not examine recordings, like the page's.
var newExaminer func(*profiles.Profile) (Examiner, error)

// RegisterExaminer makes this program examine recordings with of (see package serve/examine). of
// may change the buffers of the profile: it notes what each is for.
func RegisterExaminer(of func(*profiles.Profile) (Examiner, error)) {
	Register((*Server).examine)
	newExaminer = of
}

// examine answers about a recording. It reads the file, unless that recording is kept already.
func (s *Server) examine(ctx context.Context, q *proto.Doctor, _ func(*proto.Nothing)) (*proto.Examined,
	*proto.Failure) {
	poll := engine.NewPoll(ctx, nil)
	if q.File.Keep == 0 || s.kept.number != q.File.Keep {
		s.kept = kept{}
		s.kept = kept{q.File.Keep, Valid(newExaminer(decode(&q.File, poll)))}
	}
	out, err := s.kept.examine(q, poll)
	if err != nil && (ctx.Err() != nil || poll.Err() != nil) {
		return nil, proto.Fail(proto.Deadline, "it was stopped before it was done")
	}
	return Valid(out, err), nil
}
