package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"text/tabwriter"
	"time"

	"memtide/cmd/cli"
	"memtide/engine/alloc"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	_ "memtide/wasm/serve/addresses" // finds them
	"memtide/web/choice"
	"memtide/web/format"
)

var placeCommand = &command{
	name: "place",
	flags: about(asked{addresses: true}, func(fs *flag.FlagSet, c *asked) doing {
		limit := fs.Duration("limit", 0,
			"`TIME` most that the solve and the placement may take each, such as 30s; 0 is as long as they need")
		c.flag(fs, "alloc", choice.FieldWords["alloc"].Help)
		c.flag(fs, "alloc.", choice.FieldWords["alloc."].Help)
		return func(ctx context.Context, e *env, in *input) {
			if in.profile.Memory != nil {
				placeFile(ctx, e, in, *limit)
				return
			}
			for _, p := range in.problems {
				refuse(p)
			}
			if in.link.Alloc == choice.Recorded {
				refuse(choice.Problem{Key: "alloc", Name: in.link.Alloc})
			}
			in.link.Alloc = cmp.Or(in.link.Alloc, choice.DefaultAllocator)
			place(ctx, e, in, *limit)
		}
	}),
}

func allocators() (names []string) {
	for _, a := range alloc.Allocators() {
		names = append(names, a.Name)
	}
	return names
}

// place finds a schedule and addresses, and writes both.
func place(ctx context.Context, e *env, in *input, limit time.Duration) {
	solved, fail := findSchedule(ctx, e, in, limit)
	if fail != nil { // the best schedule so far would have other buffers
		tellFailure(ctx, e, in, solveOptions{}, fail)
	}
	if solved.Trace == nil {
		cli.Fail("the schedule is not verified: %s", solved.Verdict.Problem)
	}
	r := &placement{in: in, buffers: len(solved.Trace.Lives), solved: solved}
	r.find(ctx, e, &proto.Place{
		Setting: in.setting(), Budget: solved.Budget, Schedule: solved.Schedule,
		Allocator: in.link.Alloc, Args: in.link.AllocArgs, Limit: limit,
	}, r.table)
}

// find places the buffers, with a bar on a terminal, and writes the result: after an error the
// best placement so far, if there is one.
func (r *placement) find(ctx context.Context, e *env, q *proto.Place, table func() string) {
	b := cli.NewBar(e.stderr)
	text := "Placing with " + alloc.Lookup(q.Allocator).Title
	b.Set(0, 0, text)
	r.placed, r.failure = proto.Do(ctx, new(serve.Server).Handle, q,
		func(p *proto.Progress) { b.Set(p.Done, p.Total, text) })
	b.Clear()
	if r.placed == nil {
		cli.Check(r.failure)
	}
	fmt.Fprint(e.stdout, table())
	cli.Check(r.err())
}

// err returns why the buffers have no places, or nil if they have.
func (r *placement) err() error {
	switch p := r.placed; {
	case r.failure != nil:
		return r.failure
	case p.Failed != nil || p.NoneFits:
		return fmt.Errorf("the buffers find no room in %s", format.Bytes(p.Pool))
	case !p.Verdict.Verified && !p.Unchecked:
		return fmt.Errorf("the placement is not verified: %s", p.Verdict.Problem)
	}
	return nil
}

// placement is a schedule with addresses for its buffers.
type placement struct {
	in      *input
	buffers int
	solved  *proto.Solved // nil for files about addresses
	placed  *proto.Placed
	failure error // set with the best placement so far of a search
}

// table returns the placement for people.
func (r *placement) table() string {
	return r.in.header() + cli.Table(func(w *tabwriter.Writer) {
		s, p := r.solved, r.placed
		fmt.Fprintf(w, "%s (%s), budget %s, peak %s\n", r.in.title(), methodText(r.in.method()),
			format.Bytes(s.Budget), format.Bytes(s.Trace.Peak))
		fmt.Fprintf(w, "%s, pool %s beside %s resident\n\n", r.allocator(), format.Bytes(p.Pool),
			format.Bytes(p.Resident))
		r.numbers(w)
		fmt.Fprintf(w, "\n%s\n%s\n", r.outcome(), r.verdict())
	})
}

// allocator returns the title and the parameters of the allocator.
func (r *placement) allocator() string {
	a := alloc.Lookup(r.placed.Allocator)
	return fmt.Sprintf("%s (%s)", a.Title, methodText(proto.Method{Strategy: a.Name, Args: r.in.link.AllocArgs}))
}

// numbers writes the rows about the memory of the buffers.
func (r *placement) numbers(w *tabwriter.Writer) {
	p := r.placed
	needs := p.Top
	if p.Failed != nil {
		needs = p.Needs
	}
	if p.Chunk > 0 { // every address is used once, so physical memory counts
		needs = max(p.Reserved, p.Needs)
	}
	fmt.Fprintf(w, "buffers\t%d\n", r.buffers)
	peak := "in use at the peak"
	if m := r.in.profile.Memory; m != nil && m.Recorded != nil && m.Recorded.Failed != nil {
		peak = "asked for at the peak" // including the failed request
	}
	fmt.Fprintf(w, "%s\t%s\n", peak, format.Bytes(p.Peak))
	if needs > 0 && p.Peak > 0 {
		fmt.Fprintf(w, "needed\t%s\t%s over the peak\n", format.BytesUp(needs),
			format.Percent(float64(needs)/float64(p.Peak)-1))
	}
	if p.Waste > 0 {
		fmt.Fprintf(w, "lost inside blocks\t%s\n", format.Bytes(p.Waste))
	}
}

// outcome returns whether the buffers fit, as a sentence.
func (r *placement) outcome() string {
	p := r.placed
	switch {
	case r.failure != nil:
		return "Stopped: this is the best found so far, and whether a better one exists is not decided."
	case p.NoneFits:
		return "Proven: no placement fits into the pool; what is needed is that of the smallest."
	case p.Failed != nil:
		return fmt.Sprintf("Does not fit: a request for %s finds no hole larger than %s, with %s free.",
			format.BytesUp(p.Failed.Bytes), format.Bytes(p.Failed.Largest), format.Bytes(p.Failed.Free))
	}
	return "All buffers find room."
}

func (r *placement) verdict() string {
	switch p := r.placed; {
	case p.Unchecked:
		return "not checked: there are too many buffers to compare each with all others"
	case !p.Verdict.Verified:
		return "NOT VERIFIED: " + p.Verdict.Problem
	case p.NoneFits:
		return "checked: the layout in the larger pool"
	case p.Optimal:
		return "layout checked; by the search's own proof no smaller pool would do"
	case p.Failed != nil:
		return "the blocks before the failure are checked"
	}
	return "layout checked"
}

func allocatorsHelp(w *tabwriter.Writer) {
	fmt.Fprint(w, "Allocators, for -alloc; parameters, for -alloc-arg NAME=VALUE.\n")
	for _, a := range alloc.Allocators() {
		describe(w, a.Name, a.Title, a.Doc, "-alloc-arg", a.Params)
	}
}

// placeFile places the buffers of a file about addresses.
func placeFile(ctx context.Context, e *env, in *input, limit time.Duration) {
	m := in.profile.Memory
	in.link.Alloc = cmp.Or(in.link.Alloc, "optimal")
	a := alloc.Lookup(in.link.Alloc)
	if a == nil {
		refuse(choice.Problem{Key: "alloc", Name: in.link.Alloc})
	}
	if _, err := a.Parse(in.link.AllocArgs); err != nil {
		refuse(choice.Problem{Key: "alloc.", Err: err})
	}
	pool := m.Capacity
	if in.link.Budget != (choice.Budget{}) {
		pool = in.link.Budget.Of(m.Requests.AggregatePeak())
	}
	r := &placement{in: in, buffers: len(m.Requests.Buffers)}
	r.find(ctx, e, &proto.Place{Pool: pool, Allocator: a.Name, Args: in.link.AllocArgs, Limit: limit,
		Buffers: &proto.Buffers{List: m.Requests.Buffers, Tick: time.Microsecond}}, r.fileTable)
}

// fileTable returns the placement of a file about addresses for people.
func (r *placement) fileTable() string {
	return cli.Table(func(w *tabwriter.Writer) {
		p, profile := r.placed, r.in.profile
		fmt.Fprintf(w, "%s (%s)\n", cli.Printable(profile.Name), profile.Format)
		for _, text := range profile.Warnings {
			fmt.Fprintf(w, "Finding: %s\n", cli.Printable(text))
		}
		pool := "no pool given"
		if p.Fixed {
			pool = "pool " + format.Bytes(p.Pool)
		}
		fmt.Fprintf(w, "%s, %s\n\n", r.allocator(), pool)
		r.numbers(w)
		if l := profile.Memory.Recorded; l != nil {
			fmt.Fprintf(w, "recorded\t%s reserved\n", format.Bytes(max(l.PeakReserved(), 0)))
		}
		fmt.Fprintf(w, "\n%s\n%s\n", r.outcome(), r.verdict())
		fmt.Fprintf(w, "%s\n", r.proof())
	})
}

// proof returns what is proven about whether the buffers fit.
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
