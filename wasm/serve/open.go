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

// openMemory is a file about addresses, for the page; nil in a program without package
// serve/addresses.
var openMemory func(p *profiles.Profile, poll *engine.Poll) (*proto.Opened, *proto.Failure)

// RegisterMemory makes this program one that opens files about addresses.
func RegisterMemory(open func(p *profiles.Profile, poll *engine.Poll) (*proto.Opened, *proto.Failure)) {
	openMemory = open
}

func (s *Server) open(ctx context.Context, q *proto.Open, tell func(*proto.Progress)) (*proto.Opened, *proto.Failure) {
	poll := engine.NewPoll(ctx, func(pr engine.Progress) { tell(&proto.Progress{Done: pr.Done, Total: pr.Total}) })
	s.kept = kept{} // before there are two
	p, fail := decode(q, poll)
	if fail != nil {
		return nil, fail
	}
	if p.Memory != nil {
		s.keep(q, p)
		if openMemory == nil {
			return nil, proto.Fail(proto.Elsewhere, "this program cannot open files about addresses")
		}
		return openMemory(p, poll)
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
		Preset:  q.Preset,
		Format:  p.Format,
		Lint:    p.Warnings,
		NoChain: noChain(p),
		Packed:  p.Packed,
	}
	if p.Chain != nil {
		out.Totals = totals(p)
	}
	if p.Graph == nil {
		return out, nil
	}
	sums, fail := graphTotals(p)
	switch {
	case p.Chain == nil:
		out.Totals = sums
		return out, fail
	case fail != nil && fail.Kind == proto.Elsewhere:
		return nil, fail
	case fail != nil: // the chain can be solved all the same
		out.Lint = append(slices.Clone(out.Lint), "The operations cannot be used, only the chain: "+fail.Text)
		return out, nil
	}
	out.GraphTotals = sums
	return out, nil
}

func totals(p *profiles.Profile) proto.Totals {
	t := p.Totals()
	return proto.Totals{
		Stages: t.Stages, Forward: t.Forward, Back: t.Back, Saved: t.Saved, Out: t.Out,
		Resident: t.Resident.Total(), KeepAllPeak: t.KeepAllPeak, Batch: p.Batch,
	}
}

// graphTotals are the sums of the operations of a profile. Saved are all
// activations, Resident are all weights with what stays beside them.
func graphTotals(p *profiles.Profile) (proto.Totals, *proto.Failure) {
	nw, fail := build(p, true)
	if fail != nil {
		return proto.Totals{}, fail
	}
	operations := *p
	operations.Chain = nil
	t := totals(&operations)
	t.Ops, t.KeepAllPeak = len(p.Graph.Ops), nw.keepAll.Peak
	return t, nil
}

// noChain says why the strategies for chains are of no use; empty if they are.
func noChain(p *profiles.Profile) string {
	if p.Chain == nil {
		return fmt.Sprintf("%s is read, but its operations do not form a chain", p.Name)
	}
	return p.NotLinear()
}
