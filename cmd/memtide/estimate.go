package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/caching"
	"memtide/engine/play"
	"memtide/profiles/card"
	"memtide/web/format"
)

// estimateOptions holds the flags of estimate.
type estimateOptions struct {
	card, optimizer, plan string
	asJSON                bool
}

var estimateCommand = &command{
	name: "estimate",
	flags: func(fs *flag.FlagSet) action {
		o := estimateOptions{card: card.DefaultID, optimizer: "adamw"}
		fs.StringVar(&o.card, "card", o.card, "`NAME` of the card; memtide help devices lists them")
		fs.Func("optimizer", "`adamw|momentum|sgd` two moments, one, or none for every trained weight (default adamw)", oneOf(&o.optimizer, "adamw", "momentum", "sgd"))
		fs.StringVar(&o.plan, "plan", "", "`FILE` the plan that the step runs by")
		fs.BoolVar(&o.asJSON, "json", false, "write the answer as JSON")
		return func(ctx context.Context, e *env, args []string) { o.run(ctx, e, args) }
	},
}

// cudaContext is the memory that CUDA takes besides PyTorch's reserved memory: an assumption.
const cudaContext = engine.GiB

// estimate is the output of estimate -json: the memory of two steps.
type estimate struct {
	Schema      string       `json:"schema"`
	Name        string       `json:"name"`
	Card        string       `json:"card"`
	CardBytes   engine.Bytes `json:"card_bytes"`
	Allocated   engine.Bytes `json:"allocated_bytes"`
	Expandable  engine.Bytes `json:"reserved_expandable_bytes"`
	Reserved    engine.Bytes `json:"reserved_bytes"`
	LowBytes    engine.Bytes `json:"low_bytes"`
	HighBytes   engine.Bytes `json:"high_bytes"`
	Verdict     string       `json:"verdict"`
	PeakStep    string       `json:"peak_in"`
	StatesBytes engine.Bytes `json:"states_bytes"`
}

func (o *estimateOptions) run(ctx context.Context, e *env, args []string) {
	if len(args) == 1 && strings.Contains(args[0], ":") && !strings.Contains(args[0], ".json") {
		fail("%s is a factory in Python: python -m memtide estimate %s collects its step and estimates it", args[0],
			args[0])
	}
	if len(args) != 1 {
		fail("estimate takes one file of kind operators; got %d", len(args))
	}
	c := cardOf(o.card)
	poll := engine.NewPoll(ctx, nil)
	_, trace := operatorsOf(args[0], contents(ctx, e, args[0]), poll)
	var segments []*play.Segment
	if o.plan != "" {
		plan := valid(play.ReadPlan(contents(ctx, e, o.plan)))
		failAt(o.plan, trace.Validate(plan.Segments))
		segments = plan.Segments
	}
	est := newEstimate(newSteps(args[0], trace, o.optimizer, segments), c, poll)
	e.tell(o.asJSON, func() any { return est }, func() string { return est.text(c) })
}

// newEstimate plays the steps with the allocator's default settings and with expandable segments.
func newEstimate(s *steps, c *card.Card, poll *engine.Poll) *estimate {
	est := &estimate{Schema: "memtide-estimate/1", Name: s.trace.Name, Card: c.ID, CardBytes: c.Memory}
	est.Allocated, est.Reserved, est.PeakStep = s.run(caching.Rules{}, poll)
	_, est.Expandable, _ = s.run(caching.Rules{Expandable: true}, poll)
	est.StatesBytes = s.states
	est.LowBytes = min(est.Expandable, est.Reserved) + cudaContext
	est.HighBytes = est.Reserved + est.Reserved*6/100 + cudaContext
	switch {
	case est.HighBytes <= c.Memory:
		est.Verdict = "fits"
	case est.LowBytes > c.Memory:
		est.Verdict = "does not fit"
	default:
		est.Verdict = "uncertain"
	}
	return est
}

func cardOf(name string) *card.Card {
	c := card.Find(name)
	if c == nil {
		fail("there is no card %q; memtide help devices lists them", name)
	}
	return c
}

// text returns the estimate for people.
func (est *estimate) text(c *card.Card) string {
	return fmt.Sprintf("%s on %s: %s. The driver would show %s to %s of %s.\n"+
		"At most %s are allocated, in the %s; states, weights, gradients and optimizer, are %s. PyTorch reserves %s, or %s with expandable segments.\n",
		cli.Printable(est.Name), c.Name, est.Verdict, format.Bytes(est.LowBytes), format.Bytes(est.HighBytes),
		format.Bytes(est.CardBytes), format.Bytes(est.Allocated), est.PeakStep, format.Bytes(est.StatesBytes),
		format.Bytes(est.Reserved), format.Bytes(est.Expandable))
}

// steps is two training steps of a PyTorch program, as requests to its allocator.
type steps struct {
	trace   *play.Trace
	log     []play.Entry
	moments int // moments of the optimizer for each trained weight
	states  engine.Bytes

	cache     *caching.Cache
	rules     *caching.Rules
	poll      *engine.Poll
	there     map[[2]int]engine.Bytes // address of each instance of a storage
	now, peak engine.Bytes
	part, at  string // the current part of the step, and the part at the peak
}

func newSteps(file string, t *play.Trace, optimizer string, segments []*play.Segment) *steps {
	if len(t.Roles) == 0 {
		fail("%s does not say what is there before the step; collect it again", sourceOf(file))
	}
	_, log := play.NewPlayer(t).Log(segments)
	s := &steps{trace: t, log: log, moments: map[string]int{"adamw": 2, "momentum": 1}[optimizer]}
	for n, role := range t.Roles {
		switch role {
		case "weight", "buffer":
			s.states += t.Storages[n]
		case "grad":
			s.states += t.Storages[n] * engine.Bytes(1+s.moments)
		}
	}
	return s
}

// run plays two steps: the second has the moments of the first. It returns the most bytes
// allocated, the most bytes reserved, and the part of the step with the most bytes allocated.
func (s *steps) run(rules caching.Rules, poll *engine.Poll) (allocated, reserved engine.Bytes, at string) {
	s.cache, s.rules, s.poll = caching.New(engine.NoLimit, rules), &rules, poll
	s.there, s.now, s.peak = map[[2]int]engine.Bytes{}, 0, 0
	s.each("weight", s.take)
	s.each("buffer", s.take)
	for step := range 2 {
		s.part = "forward"
		s.each("input", s.take)
		s.step()
		s.optimizer(step == 0)
		s.each("grad", s.give)
		s.each("input", s.give)
	}
	return s.peak, s.cache.Reserved(), s.at
}

// step plays the forward and the backward. A gradient exists from the first operator that adds to it.
func (s *steps) step() {
	for _, e := range s.log {
		cli.Check(s.poll.Err())
		switch key := [2]int{e.ID, e.Run}; e.Kind {
		case play.EntryMade:
			s.take(key)
		case play.EntryGone:
			s.give(key)
		case play.EntryRan:
			op := &s.trace.Ops[e.ID]
			if e.ID >= s.trace.Forward {
				s.part = "backward"
			}
			for _, n := range op.Write {
				if _, ok := s.there[[2]int{n, 0}]; !ok && s.trace.Roles[n] == "grad" {
					s.take([2]int{n, 0})
				}
			}
			if op.Temp > 0 {
				s.free(s.alloc(op.Temp), op.Temp)
			}
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(s.there),
		func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		if s.trace.Roles[key[0]] == "" { // the next step frees what this one left in attributes of modules
			s.give(key)
		}
	}
}

// optimizer makes the moments in the first step, and allocates foreach's temporary of each weight.
func (s *steps) optimizer(first bool) {
	s.part = "optimizer"
	var temps [][2]engine.Bytes
	s.each("grad", func(key [2]int) {
		n := s.trace.Storages[key[0]]
		for range s.moments {
			if first {
				s.alloc(n)
			}
		}
		if s.moments == 2 {
			temps = append(temps, [2]engine.Bytes{s.alloc(n), n})
		}
	})
	for _, t := range temps {
		s.free(t[0], t[1])
	}
}

// each calls do for the storages of a role, in order.
func (s *steps) each(role string, do func(key [2]int)) {
	for n := range s.trace.Storages {
		if s.trace.Roles[n] == role {
			do([2]int{n, 0})
		}
	}
}

func (s *steps) take(key [2]int) {
	if _, ok := s.there[key]; !ok {
		s.there[key] = s.alloc(s.trace.Storages[key[0]])
	}
}

func (s *steps) give(key [2]int) {
	if addr, ok := s.there[key]; ok {
		delete(s.there, key)
		s.free(addr, s.trace.Storages[key[0]])
	}
}

// alloc makes a request of the allocator; an empty request takes nothing.
func (s *steps) alloc(n engine.Bytes) (addr engine.Bytes) {
	if n > 0 {
		addr, _, _ = s.cache.Alloc(n) // there is no limit
		if s.now += s.rules.Round(n); s.now > s.peak {
			s.peak, s.at = s.now, s.part
		}
	}
	return addr
}

func (s *steps) free(addr, n engine.Bytes) {
	if n > 0 {
		s.now -= s.rules.Round(n)
		cli.Check(s.cache.Free(addr))
	}
}
