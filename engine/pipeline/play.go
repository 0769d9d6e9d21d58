package pipeline

import (
	"errors"
	"fmt"
	"time"

	"memtide/engine"
)

// unknown is the arrival of a result that has not been sent.
const unknown = time.Duration(-1)

// StuckError says that no pass can start any more. It names the first rank that waits, its pass, and what the pass
// waits for.
type StuckError struct {
	Rank  int
	Pass  Pass
	For   Pass         // the pass that it waits for, if Lacks is 0
	Lacks engine.Bytes // missing room
}

func (e *StuckError) Error() string {
	if e.Lacks > 0 {
		return fmt.Sprintf("rank %d waits for ever: %v lacks %d bytes of room", e.Rank, e.Pass, e.Lacks)
	}
	return fmt.Sprintf("rank %d waits for ever: %v waits for %v", e.Rank, e.Pass, e.For)
}

// event is a time at which something may end or start on a rank.
type event struct {
	at   time.Duration
	rank int
}

// Before orders events by time, then by rank.
func (e event) Before(o event) bool { return e.at < o.at || e.at == o.at && e.rank < o.rank }

// cell is the state of a micro batch at a stage.
type cell struct {
	sent, returned   time.Duration // arrival of its output at the next stage, and of its gradient at the stage before
	onDevice, onHost bool          // its activations are complete on the device, or on the host
	moving           int           // copies that are issued and have not ended
}

// runner is the state of a rank.
type runner struct {
	next    int           // index in its order
	running []Pass        // one pass, or the two of a joined one
	ends    time.Duration // end of running
	until   time.Duration // the rank is busy until then, with passes or messages
	used    engine.Bytes  // bytes held
}

// lane carries the copies of a rank in one direction, first in, first out.
type lane struct {
	queue []Pass
	busy  bool
	until time.Duration
}

// player plays an order event by event.
type player struct {
	p      *Problem
	order  [][]Pass
	now    time.Duration
	ranks  []runner
	cells  [][]cell
	lanes  []lane                   // two for each rank: out, in
	sent   map[[2]int]time.Duration // by sender and receiver: arrival of the last message
	events engine.Heap[event]
	look   []bool // by rank: something may end or start now
	out    *Trace
}

// Play plays an order. The error is an OrderError if the lists are not a step, or a StuckError.
func (p *Problem) Play(order [][]Pass) (*Trace, error) {
	if err := errors.Join(p.Check(), p.checkOrder(order)); err != nil {
		return nil, err
	}
	g := &player{p: p, order: order, ranks: make([]runner, p.Ranks), lanes: make([]lane, 2*p.Ranks),
		sent: map[[2]int]time.Duration{}, look: make([]bool, p.Ranks)}
	g.out = newTrace(p, order)
	for s := range p.Stages {
		g.cells = append(g.cells, make([]cell, p.micro(s)))
		for m := range g.cells[s] {
			g.cells[s][m].sent, g.cells[s][m].returned = unknown, unknown
		}
	}
	for r := range g.ranks {
		g.ranks[r].used = p.fixed(r)
		g.events.Push(event{0, r})
	}
	for len(g.events) > 0 {
		g.instant()
	}
	for r := range g.ranks {
		if g.ranks[r].next < len(order[r]) {
			return nil, g.stuck(r)
		}
	}
	return g.out, nil
}

// instant processes everything that happens at the current time: ends, then starts. Passes of no time end at once.
func (g *player) instant() {
	g.now = g.events[0].at
	for len(g.events) > 0 && g.events[0].at == g.now {
		clear(g.look)
		for len(g.events) > 0 && g.events[0].at == g.now {
			g.look[g.events.Pop().rank] = true
		}
		for r := range g.look {
			if g.look[r] {
				g.end(r)
			}
		}
		for r := range g.look {
			if g.look[r] {
				g.start(r)
			}
		}
	}
}

// lane returns the lane that carries the copies of rank r out of the device or back in.
func (g *player) lane(r int, k Kind) *lane { return &g.lanes[2*r+int(k-Out)] }

// end ends the pass and the copies of a rank that end now.
func (g *player) end(r int) {
	k := &g.ranks[r]
	if len(k.running) > 0 && k.ends == g.now {
		for _, x := range k.running {
			_, give := g.p.Stages[x.Stage].bytes(x.Kind)
			k.used -= give
		}
		k.running = nil
	}
	for _, kind := range []Kind{Out, In} {
		l := g.lane(r, kind)
		if !l.busy || l.until != g.now {
			continue
		}
		x := l.queue[0]
		c := &g.cells[x.Stage][x.Micro]
		c.moving--
		c.onDevice, c.onHost = kind == In, kind == Out
		_, give := g.p.Stages[x.Stage].bytes(kind)
		k.used -= give
		l.queue, l.busy = l.queue[1:], false
	}
}

// start starts what can start now on a rank: items of its order, then copies on its lanes.
func (g *player) start(r int) {
	k := &g.ranks[r]
	for k.next < len(g.order[r]) {
		x := g.order[r][k.next]
		if x.Kind.copies() {
			if x.Kind == Out && len(k.running) > 0 {
				break
			}
			g.cells[x.Stage][x.Micro].moving++
			l := g.lane(r, x.Kind)
			l.queue = append(l.queue, x)
			k.next++
			continue
		}
		if len(k.running) > 0 || !g.begin(r) {
			break
		}
	}
	for _, kind := range []Kind{Out, In} {
		g.copy(r, g.lane(r, kind))
	}
}

// copy starts the first copy in a lane of rank r if it can start.
func (g *player) copy(r int, l *lane) {
	if l.busy || len(l.queue) == 0 {
		return
	}
	x := l.queue[0]
	c := &g.cells[x.Stage][x.Micro]
	take, _ := g.p.Stages[x.Stage].bytes(x.Kind)
	if x.Kind == Out && !c.onDevice || x.Kind == In && !c.onHost || g.ranks[r].used+take > g.p.limit(r) {
		return
	}
	g.take(r, take)
	l.busy, l.until = true, g.now+g.p.Time(x)
	g.out.Copies[r] = append(g.out.Copies[r], Span{x, g.now, l.until})
	g.out.Makespan = max(g.out.Makespan, l.until)
	g.events.Push(event{l.until, r})
}

func (g *player) take(r int, b engine.Bytes) {
	g.ranks[r].used += b
	g.out.Peak[r] = max(g.out.Peak[r], g.ranks[r].used)
}

// item returns the next pass of a rank, with both parts if it is joined.
func (g *player) item(r int) []Pass {
	i := g.ranks[r].next
	if g.order[r][i].Joined {
		return g.order[r][i : i+2]
	}
	return g.order[r][i : i+1]
}

// begin starts the next pass of a rank, and reports whether it could.
func (g *player) begin(r int) bool {
	k, list := &g.ranks[r], g.item(r)
	var at, before, took time.Duration
	var take engine.Bytes
	for _, x := range list {
		arrived, message := g.arrival(x)
		if arrived == unknown {
			return false
		}
		at, before = max(at, arrived), max(before, message)
		b, _ := g.p.Stages[x.Stage].bytes(x.Kind)
		take += b
		took += g.p.Time(x)
	}
	if len(list) == 2 && g.p.Pair != nil {
		took = g.p.Pair(list[0], list[1])
	}
	at = max(at, k.until) // the rank may still be sending
	if at > g.now {
		g.events.Push(event{at, r})
		return false
	}
	if k.used+take > g.p.limit(r) {
		return false
	}
	g.take(r, take)
	start := g.now + before
	end := start + took
	k.running, k.ends, k.until = list, end, end
	k.next += len(list)
	g.out.Busy[r] += end - start
	g.out.Makespan = max(g.out.Makespan, end)
	for _, x := range list {
		g.out.Ranks[r] = append(g.out.Ranks[r], Span{x, start, end})
		k.until = max(k.until, g.deliver(x, end))
	}
	g.events.Push(event{end, r})
	g.events.Push(event{k.until, r})
	return true
}

// arrival returns when the results that a pass waits for arrive, or unknown if they have not been sent, and how long
// the rank is busy receiving the message.
func (g *player) arrival(x Pass) (at, message time.Duration) {
	p, s := g.p, x.Stage
	c := &g.cells[s][x.Micro]
	switch {
	case x.Kind == Forward || x.Kind == Dropped:
		if p.first(s) {
			return 0, 0
		}
		return g.cells[s-1][x.Micro].sent, p.blocked(s)
	case x.Kind != Backward && x.Kind != Inputs:
		return 0, 0
	case !c.onDevice || c.moving > 0:
		return unknown, 0
	case p.last(s):
		return 0, 0
	}
	return g.cells[s+1][x.Micro].returned, p.blocked(s + 1)
}

// blocked returns how long a rank is busy with a message between stage s and the one before.
func (p *Problem) blocked(s int) time.Duration {
	if p.Messages != Blocking {
		return 0
	}
	return p.Stages[s].Comm
}

// deliver records the results of a pass that ends at end, and returns until when its rank is busy sending them.
func (g *player) deliver(x Pass, end time.Duration) time.Duration {
	p, s := g.p, x.Stage
	c := &g.cells[s][x.Micro]
	c.onDevice = c.onDevice || x.Kind == Forward || x.Kind == Again
	switch {
	case (x.Kind == Forward || x.Kind == Dropped) && !p.last(s):
		c.sent = g.message(s, s+1, s+1, end)
	case (x.Kind == Backward || x.Kind == Inputs) && !p.first(s):
		c.returned = g.message(s, s-1, s, end)
	}
	return end + p.sending(x)
}

// message sends a message from a stage to a neighbour, and returns when it arrives. comm is the stage whose Comm is
// its time.
func (g *player) message(from, to, comm int, at time.Duration) time.Duration {
	p, lane := g.p, [2]int{g.p.Stages[from].Rank, g.p.Stages[to].Rank}
	c := p.Stages[comm].Comm
	switch p.Messages {
	case Latency:
		at += c
	case Queued:
		at = max(at, g.sent[lane]) + c
		g.sent[lane] = at
	}
	g.events.Push(event{at, lane[1]})
	return at
}

// stuck returns the error that says what a rank waits for.
func (g *player) stuck(r int) error {
	e := &StuckError{Rank: r, Pass: g.order[r][g.ranks[r].next]}
	if e.Pass.Kind.copies() {
		e.For = e.Pass
		return e
	}
	var take engine.Bytes
	for _, x := range g.item(r) {
		b, _ := g.p.Stages[x.Stage].bytes(x.Kind)
		take += b
		if at, _ := g.arrival(x); at != unknown {
			continue
		}
		e.Pass, e.For = x, Pass{Kind: In, Micro: x.Micro, Stage: x.Stage}
		switch c := g.cells[x.Stage][x.Micro]; {
		case x.Kind == Forward || x.Kind == Dropped:
			e.For = Pass{Kind: Forward, Micro: x.Micro, Stage: x.Stage - 1}
		case c.onDevice && c.moving == 0:
			e.For = Pass{Kind: Backward, Micro: x.Micro, Stage: x.Stage + 1}
		}
		return e
	}
	e.Lacks = g.ranks[r].used + take - g.p.limit(r)
	return e
}

// OrderError says why lists of passes are not a step: a pass comes before one that it needs on its own rank, or is
// missing.
type OrderError struct {
	Rank, Place int // Place is the index in the order of the rank; -1 if the pass is missing
	Pass        Pass
	Reason      string
}

func (e *OrderError) Error() string {
	if e.Place < 0 {
		return fmt.Sprintf("rank %d: %v is missing: %s", e.Rank, e.Pass, e.Reason)
	}
	return fmt.Sprintf("rank %d, place %d: %v: %s", e.Rank, e.Place, e.Pass, e.Reason)
}

// The states of a micro batch at a stage, after a part of its rank's list.
const (
	fresh    = iota // nothing has run
	kept            // its activations are on the device
	dropped         // only its input is on the device
	hosted          // its activations are on the host
	halfway         // B has run
	finished        // A, or B and W have run
)

// steps holds, for every kind, the state that it needs, the state after it, and the error if it is in another state.
var steps = [...]struct {
	from, to int
	needs    string
}{
	Forward:  {fresh, kept, "it runs once"},
	Dropped:  {fresh, dropped, "it runs once"},
	Again:    {dropped, kept, "it needs a dropped forward before it"},
	Backward: {kept, finished, "it needs its activations on the device before it, and runs once"},
	Inputs:   {kept, halfway, "it needs its activations on the device before it, and runs once"},
	Weights:  {halfway, finished, "it needs its backward of inputs before it"},
	Out:      {kept, hosted, "it needs activations on the device"},
	In:       {hosted, kept, "it needs a copy to the host before it"},
}

// checkOrder returns an error if the lists are not a whole step.
func (p *Problem) checkOrder(order [][]Pass) error {
	if len(order) != p.Ranks {
		return fmt.Errorf("%d lists of passes; want one for each of %d ranks", len(order), p.Ranks)
	}
	state := make([][]int8, len(p.Stages))
	for s := range state {
		state[s] = make([]int8, p.micro(s))
	}
	for r, list := range order {
		for i, x := range list {
			bad := ""
			switch {
			case x.Stage < 0 || x.Stage >= len(p.Stages) || x.Micro < 0 || x.Micro >= p.micro(x.Stage):
				return &OrderError{r, i, x, "there is no such stage or micro batch"}
			case p.Stages[x.Stage].Rank != r:
				bad = fmt.Sprintf("the stage lies on rank %d", p.Stages[x.Stage].Rank)
			case x.Joined && (x.Kind != Forward || i+1 == len(list) || list[i+1].Kind != Backward ||
				list[i+1].Micro == x.Micro && list[i+1].Stage == x.Stage):
				bad = "it is joined; want a forward before a backward of something else"
			case x.Kind.copies() && p.Stages[x.Stage].Off == 0:
				bad = "the stage has nothing to copy"
			case int(state[x.Stage][x.Micro]) != steps[x.Kind].from:
				bad = steps[x.Kind].needs
			}
			if bad != "" {
				return &OrderError{r, i, x, bad}
			}
			state[x.Stage][x.Micro] = int8(steps[x.Kind].to)
		}
	}
	for s := range state {
		for m, at := range state[s] {
			next := Pass{Kind: Backward, Micro: m, Stage: s}
			switch at {
			case finished:
				continue
			case fresh:
				next.Kind = Forward
			case halfway:
				next.Kind = Weights
			}
			return &OrderError{p.Stages[s].Rank, -1, next, "every micro batch runs forward and backward at every stage"}
		}
	}
	return nil
}
