//go:build !js

package main

import (
	"maps"
	"slices"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/caching"
	"memtide/engine/play"
)

// steps is two training steps of a PyTorch program, as requests to its allocator.
type steps struct {
	trace   *play.Trace
	log     []play.Entry
	roles   map[int]string
	moments int // that the optimizer has of each trained weight
	states  engine.Bytes

	cache     *caching.Cache
	rules     *caching.Rules
	poll      *engine.Poll
	there     map[[2]int]engine.Bytes // address of each instance of a storage
	now, peak engine.Bytes
	part, at  string // what runs, and what ran at the peak
}

func newSteps(t *play.Trace, roles map[int]string, optimizer string, segments []*play.Segment) *steps {
	_, log := play.NewPlayer(t).Log(segments)
	s := &steps{trace: t, log: log, roles: roles, moments: map[string]int{"adamw": 2, "momentum": 1}[optimizer]}
	for n, role := range roles {
		switch role {
		case "weight", "buffer":
			s.states += t.Storages[n]
		case "grad":
			s.states += t.Storages[n] * engine.Bytes(1+s.moments)
		}
	}
	return s
}

// run plays two steps: the second finds the moments of the first. It returns the most that is
// allocated, the most that is reserved, and what ran when most was allocated.
func (s *steps) run(rules caching.Rules, poll *engine.Poll) (allocated, reserved engine.Bytes, at string) {
	s.cache, s.rules, s.poll = caching.NewWith(engine.NoLimit, rules), &rules, poll
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

// step is the forward and the backward. A gradient is there from the operator on that first
// adds to it.
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
				if _, ok := s.there[[2]int{n, 0}]; !ok && s.roles[n] == "grad" {
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
		if s.roles[key[0]] == "" { // what a step leaves in attributes of modules goes with the next one
			s.give(key)
		}
	}
}

// optimizer makes the moments at the first step, and takes foreach's temporary of each weight.
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
		if s.roles[n] == role {
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

// alloc asks the allocator; an empty request takes nothing.
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
