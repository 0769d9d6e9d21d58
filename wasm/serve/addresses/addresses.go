// Package addresses answers requests for the addresses of buffers, in programs that import it: of the values of a
// schedule, with an allocator, and of files about addresses.
package addresses

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

func init() {
	serve.Register(place)
	serve.RegisterMemory(open)
}

// maxChecked is the largest number of buffers for which all pairs are checked. That takes about half a second in a
// browser.
const maxChecked = 6000

// maxNeeds is the largest number of buffers for which Placed.Needs is computed.
const maxNeeds = 200_000

// placement is a request for addresses whose buffers and pool are known.
type placement struct {
	requests  *alloc.Requests
	at        func(event int) time.Duration // time of an event of requests on the pictures' axis
	resident  engine.Bytes
	pool      engine.Bytes // engine.NoLimit: the allocator chooses
	allocator *alloc.Allocator
	args      engine.Args
	segments  []alloc.Segment // of a recording
}

func place(s *serve.Server, ctx context.Context, q *proto.Place, tell func(*proto.Progress)) (*proto.Placed,
	*proto.Failure) {
	p := &placement{pool: engine.NoLimit, allocator: alloc.Lookup(q.Allocator), args: q.Args}
	if p.allocator == nil {
		return nil, proto.Fail(proto.BadRequest, "there is no allocator %q", q.Allocator)
	}
	serve.Valid(p.allocator.Parse(q.Args))
	if q.Buffers == nil {
		p.takeSchedule(s, q)
	} else {
		p.requests = serve.Valid(alloc.FromLives(q.Buffers.List))
		if q.Pool > 0 {
			p.pool = q.Pool
		}
		p.at = clockOf(p.requests, q.Buffers)
	}
	ctx, cancel := proto.Within(ctx, q.Limit)
	defer cancel()
	return p.run(ctx, engine.NewPoll(ctx,
		func(pr engine.Progress) { tell(&proto.Progress{Done: pr.Done, Total: pr.Total}) }))
}

// clockOf returns the function placement.at for buffers with a clock of their own.
func clockOf(r *alloc.Requests, b *proto.Buffers) func(event int) time.Duration {
	return func(event int) time.Duration {
		e := r.Events[event]
		if e.Free {
			return b.At(r.Buffers[e.Buffer].End)
		}
		return b.At(r.Buffers[e.Buffer].Start)
	}
}

// takeSchedule plays the schedule and takes the lives of its trace as buffers.
func (p *placement) takeSchedule(s *serve.Server, q *proto.Place) {
	_, problem := s.Problem(&q.Setting, q.Budget)
	trace, err := sim.Play(problem, q.Schedule)
	if err != nil {
		profiles.End(proto.Fail(proto.BadRequest, "the schedule cannot be played: %v", err))
	}
	p.requests = alloc.FromTrace(trace, p.allocator.Order(p.args))
	p.resident = problem.Graph.Fixed
	if q.Budget != engine.NoLimit {
		p.pool = max(q.Budget-p.resident, 0)
	}
	p.at = func(event int) time.Duration {
		e := p.requests.Events[event]
		if e.Free {
			return trace.Lives[e.Buffer].End
		}
		return trace.Lives[e.Buffer].Start
	}
}

// run places the buffers and measures the result. With a failure of kind Deadline, or of kind Unsupported because
// the search cannot handle the buffers, it may also return the best placement so far.
func (p *placement) run(ctx context.Context, poll *engine.Poll) (*proto.Placed, *proto.Failure) {
	l, err := p.allocator.Place(p.requests, p.pool, p.args, poll)
	_, proven := errors.AsType[*engine.InfeasibleError](err)
	if proven { // no placement fits the pool: find the smallest
		l, err = p.allocator.Place(p.requests, engine.NoLimit, p.args, poll)
	}
	switch {
	case err == nil:
	case errors.Is(err, engine.ErrUnsupported) && l == nil:
		return nil, proto.Fail(proto.Unsupported, "%v", err)
	case errors.Is(err, engine.ErrUnsupported): // use the best so far
	case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled):
		return nil, proto.Fail(proto.Crash, "The program failed: %v", err)
	case l == nil || slices.Contains(l.Addr, alloc.NoAddr): // the layout is not complete
		return nil, proto.Fail(proto.Deadline, "%s was stopped before it was done", p.allocator.Title)
	}
	out, merr := p.measure(l, engine.NewPoll(context.WithoutCancel(ctx), nil))
	if merr != nil {
		return nil, proto.Fail(proto.Deadline, "%v", merr)
	}
	out.NoneFits = proven
	switch {
	case errors.Is(err, engine.ErrUnsupported):
		return out, proto.Fail(proto.Unsupported, "%v", err)
	case err != nil:
		return out, proto.Fail(proto.Deadline, "%s was stopped before it was done", p.allocator.Title)
	}
	if l.Failed != nil && len(p.requests.Buffers) <= maxNeeds {
		if free, err := p.allocator.Place(p.requests, engine.NoLimit, p.args, poll); err == nil && free.Failed == nil {
			out.Needs = max(free.Pool, free.PeakReserved())
			if free.Chunk > 0 {
				out.Needs = free.PeakReserved()
			}
		}
	}
	return out, nil
}

// measure returns the layout l with how it uses memory.
func (p *placement) measure(l *alloc.Layout, poll *engine.Poll) (*proto.Placed, error) {
	r := p.requests
	moments, err := l.Moments(r, p.segments, poll)
	if err != nil {
		return nil, err
	}
	out := &proto.Placed{
		Pool: p.pool, Fixed: p.pool != engine.NoLimit, Resident: p.resident,
		Reserved: l.PeakReserved(), Waste: l.PeakWaste(r), Chunk: l.Chunk, Optimal: l.Optimal,
		Failed: l.Failed, Pieces: pieces(r, l),
	}
	if p.allocator != nil {
		out.Allocator = p.allocator.Name
	}
	for _, x := range out.Pieces {
		out.Top = max(out.Top, x.Addr+x.Bytes)
	}
	if !out.Fixed {
		out.Pool = l.Pool
		if l.Chunk > 0 {
			out.Pool = out.Reserved
		}
	}
	refused := -1
	if p.allocator == nil && l.Failed != nil { // the recording continues without the failed request
		refused = l.Failed.Buffer
	}
	out.Peak, out.PeakAt = p.peak(refused)
	out.Moments = p.moments(moments)
	if l.Failed != nil {
		out.FailAt = p.at(l.Failed.Event)
		out.Largest = p.largestHole(l, out.Pieces)
	}
	if len(r.Buffers) > maxChecked {
		out.Unchecked = true
		return out, nil
	}
	if bad := alloc.Check(r, l); len(bad) > 0 {
		out.Verdict.Problem = fmt.Sprintf("%d rules are broken; the first: %v", len(bad), bad[0])
		return out, nil
	}
	out.Verdict.Verified = true
	return out, nil
}

// peak returns the most bytes in use, and when. It leaves out the buffer with index without; -1 leaves out no buffer.
func (p *placement) peak(without int) (most engine.Bytes, when time.Duration) {
	var sum engine.Bytes
	at := 0
	for i, e := range p.requests.Events {
		switch b := p.requests.Buffers[e.Buffer].Bytes; {
		case e.Buffer == without:
		case e.Free:
			sum -= b
		default:
			sum += b
		}
		if sum > most {
			most, at = sum, i
		}
	}
	if len(p.requests.Events) == 0 {
		return 0, 0
	}
	return most, p.at(at)
}

// moments returns list on the pictures' time axis. Of several events at the same time it returns the last.
func (p *placement) moments(list []alloc.Moment) []proto.Moment {
	out := make([]proto.Moment, 0, len(list)) // there may be a million
	for i := range list {
		m := &list[i]
		x := proto.Moment{At: p.at(m.Event), Used: m.Used, Reserved: m.Reserved, Largest: m.Largest}
		if n := len(out); n > 0 && out[n-1].At == x.At {
			out[n-1] = x
		} else {
			out = append(out, x)
		}
	}
	return out
}

// pieces returns the addresses of a layout in the order in which their buffers start. For virtual addressing they are
// physical addresses, and adjacent chunks of a buffer are one piece.
func pieces(r *alloc.Requests, l *alloc.Layout) (out []proto.Piece) {
	if l.Chunk == 0 {
		out = make([]proto.Piece, 0, len(r.Buffers))
	}
	for _, e := range r.Events {
		i := e.Buffer
		switch {
		case e.Free || l.Addr[i] == alloc.NoAddr:
		case l.Chunk > 0:
			chunks := slices.Clone(l.Chunks[i])
			slices.Sort(chunks)
			for j, c := range chunks {
				if n := len(out); j > 0 && chunks[j-1]+1 == c {
					out[n-1].Bytes += l.Chunk
				} else {
					out = append(out, proto.Piece{Buffer: i, Addr: engine.Bytes(c) * l.Chunk, Bytes: l.Chunk})
				}
			}
		case l.Took != nil:
			out = append(out, proto.Piece{Buffer: i, Addr: l.Addr[i], Bytes: l.Took[i]})
		default:
			out = append(out, proto.Piece{Buffer: i, Addr: l.Addr[i], Bytes: r.Buffers[i].Bytes})
		}
	}
	return out
}

// largestHole returns the largest hole when the failed request was made: the lowest hole of the size that the allocator
// reports, or, if there is no such hole, the largest one between the addresses.
func (p *placement) largestHole(l *alloc.Layout, all []proto.Piece) proto.Hole {
	live := make([]bool, len(p.requests.Buffers))
	for _, e := range p.requests.Events[:l.Failed.Event] {
		live[e.Buffer] = !e.Free
	}
	var used []proto.Piece
	for _, x := range all {
		if live[x.Buffer] && x.Bytes > 0 {
			used = append(used, x)
		}
	}
	slices.SortFunc(used, func(a, b proto.Piece) int { return cmp.Compare(a.Addr, b.Addr) })
	end := l.Pool
	if l.Chunk > 0 {
		end = p.pool
	}
	var at engine.Bytes
	var best proto.Hole
	for _, x := range append(used, proto.Piece{Addr: max(end, at)}) {
		if h := (proto.Hole{Addr: at, Bytes: x.Addr - at}); h.Bytes > best.Bytes && best.Bytes != l.Failed.Largest {
			best = h
		}
		at = max(at, x.Addr+x.Bytes)
	}
	return best
}

// longClock is the length of a clock in ticks above which a tick is drawn as a nanosecond instead of a microsecond.
const longClock = 1_000_000_000_000

// open opens a file about addresses.
func open(p *profiles.Profile, poll *engine.Poll) *proto.Opened {
	m := memory(p.Memory, poll)
	m.Name, m.Told = p.Name, p.History != nil && p.Memory.Recorded != nil
	if m.Count > maxNeeds { // encoding m next would grow the memory, which WebAssembly never shrinks
		runtime.GC()
	}
	return &proto.Opened{Lint: p.Warnings, Memory: m}
}

// memory returns the contents of a file about addresses for the page.
func memory(m *profiles.Memory, poll *engine.Poll) *proto.Memory {
	b := &proto.Buffers{List: m.Requests.Buffers, Tick: time.Microsecond}
	first, last := math.MaxInt, math.MinInt
	for i := range b.List {
		first, last = min(first, b.List[i].Start), max(last, b.List[i].End)
	}
	if len(b.List) > 0 {
		b.Zero = first
	}
	if last > first && uint64(last)-uint64(first) > longClock {
		b.Tick = 1
	}
	out := &proto.Memory{Buffers: b, Capacity: m.Capacity, Peak: m.Requests.AggregatePeak(), Count: len(b.List)}
	if m.Recorded == nil {
		return out
	}
	p := &placement{requests: m.Requests, at: clockOf(m.Requests, b), pool: engine.NoLimit}
	for _, s := range m.Segments {
		p.segments = append(p.segments, alloc.Segment{Addr: s.Addr, Bytes: s.Size, From: s.From, To: s.To})
	}
	placed := serve.Valid(p.measure(m.Recorded, poll))
	placed.Allocator = proto.Recorded
	out.Recorded, out.Peak = placed, placed.Peak
	return out
}
