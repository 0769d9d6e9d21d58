//go:build !js

package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"memtide/cmd/cli"
	"memtide/engine/alloc"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/format"
)

// placeFile places the buffers of a file about addresses.
func placeFile(ctx context.Context, e *env, in *input, limit time.Duration) error {
	m := in.profile.Memory
	if in.link.Alloc == "" {
		in.link.Alloc = "optimal"
	}
	a := alloc.Lookup(in.link.Alloc)
	if a == nil {
		return refuse(choice.Problem{Key: "alloc", Name: in.link.Alloc})
	}
	if _, err := a.Parse(in.link.AllocArgs); err != nil {
		return refuse(choice.Problem{Key: "alloc.", Err: err})
	}
	pool := m.Capacity
	if in.link.Budget != (choice.Budget{}) {
		pool = in.link.Budget.Of(m.Requests.AggregatePeak())
	}
	p, err := placed(ctx, e, &proto.Place{Pool: pool, Allocator: a.Name, Args: in.link.AllocArgs, Limit: limit,
		Buffers: &proto.Buffers{List: m.Requests.Buffers, Tick: time.Microsecond}})
	if p == nil {
		return err
	}
	r := &placement{in: in, buffers: len(m.Requests.Buffers), placed: p, failure: err}
	fmt.Fprint(e.stdout, r.fileTable())
	return r.err()
}

// fileTable is the placement of a file about addresses for people.
func (r *placement) fileTable() string {
	return cli.Table(func(w *tabwriter.Writer) {
		p, profile := r.placed, r.in.profile
		fmt.Fprintf(w, "%s (%s)\n", cli.Printable(profile.Name), profile.Format)
		for _, text := range profile.Warnings {
			fmt.Fprintf(w, "Finding: %s\n", cli.Printable(text))
		}
		a := alloc.Lookup(p.Allocator)
		pool := "no pool given"
		if p.Fixed {
			pool = "pool " + format.Bytes(p.Pool)
		}
		fmt.Fprintf(w, "%s (%s), %s\n\n", a.Title, methodText(proto.Method{Strategy: a.Name, Args: r.in.link.AllocArgs}), pool)
		r.numbers(w)
		if l := profile.Memory.Recorded; l != nil {
			fmt.Fprintf(w, "recorded\t%s reserved\n", format.Bytes(max(l.PeakReserved(), 0)))
		}
		fmt.Fprintf(w, "\n%s\n%s\n", r.outcome(), r.verdict())
		fmt.Fprintf(w, "%s\n", r.proof())
	})
}

// proof says what is proven about whether the buffers fit.
func (r *placement) proof() string {
	p := r.placed
	switch {
	case p.NoneFits:
		return "Proven: they do not fit."
	case p.Failed == nil && p.Fixed && p.Top <= p.Pool && p.Verdict.Verified:
		return "Proven: they fit, as the checked layout shows."
	case p.Fixed:
		return "Not proven: whether another placement fits is open; -alloc optimal searches for one."
	case p.Optimal:
		return "Proven: no smaller pool holds them."
	}
	return "Not proven: a smaller pool may hold them."
}
