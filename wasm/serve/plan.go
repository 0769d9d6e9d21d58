package serve

import (
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
)

// part is what one request of a spread sweep asks for: budgets of one method,
// by their indices in the sweep.
type part struct {
	method, level int
	budgets       []int
}

// plan is the order in which the points of a sweep are asked for: the first
// method always before the others, coarse before fine, so that all lines grow
// together, and what has turned out to be slow after everything else.
type plan struct {
	parts   []part // not yet given out, in order
	methods []course
}

// course is what is known about a method while a sweep is under way.
type course struct {
	asked   bool // a part has been given out
	known   bool // and one has been answered
	points  int
	took    time.Duration // for all points so far
	refused *proto.Failure
}

const (
	// coarsest is the distance between the budgets of the first level; every
	// level after it halves that. It is a power of two.
	coarsest = 8
	// slow is how long a method may take for a point on average without being
	// put off until the others are done.
	slow = 8 * time.Millisecond
	// partTime is about how long a part may take: short enough to let others
	// grow too, long enough to be worth a message.
	partTime = 40 * time.Millisecond
)

func newPlan(q *proto.Sweep) *plan {
	p := &plan{methods: make([]course, len(q.Methods))}
	together := make([]bool, len(q.Methods))
	for m := range q.Methods {
		s := engine.Lookup(q.Methods[m].Strategy)
		together[m] = s != nil && s.Sweeper != nil
	}
	all := make([]int, len(q.Budgets))
	for b := range all {
		all[b] = b
	}
	for level, step := 0, coarsest; step > 0; level, step = level+1, step/2 {
		var first, others []part
		for down := range all { // from the largest budget: there most methods find something
			if b := len(all) - 1 - down; levelOf(down) == level {
				for m := range q.Methods {
					next := part{method: m, level: level, budgets: []int{b}}
					if together[m] && down > 0 {
						continue
					} else if together[m] {
						next.budgets = all
					}
					if m == 0 {
						first = append(first, next)
					} else {
						others = append(others, next)
					}
				}
			}
		}
		p.parts = append(append(p.parts, first...), others...)
	}
	return p
}

// levelOf is the level of the budget with so many larger ones.
func levelOf(down int) (level int) {
	for step := coarsest; down%step != 0; step /= 2 {
		level++
	}
	return level
}

// wait says for how much else a method waits: for those that are faster, and,
// until its first answer is here, for everything, because it may not apply.
func (c *course) wait() int {
	switch {
	case c.asked && !c.known:
		return 2
	case c.points > 0 && c.took > slow*time.Duration(c.points):
		return 1
	}
	return 0
}

// next takes the next part out of the plan; false if there is none left.
func (p *plan) next() (part, bool) {
	if len(p.parts) == 0 {
		return part{}, false
	}
	best := 0
	for i := range p.parts {
		if p.methods[p.parts[i].method].wait() < p.methods[p.parts[best].method].wait() {
			best = i
		}
	}
	out := p.parts[best]
	c := &p.methods[out.method]
	c.asked = true
	room := 1
	if c.points > 0 {
		room = int(min(partTime/max(c.took/time.Duration(c.points), 1), time.Duration(len(p.parts))))
	}
	out.budgets = nil
	p.take(func(q *part) bool {
		if q.method != out.method || q.level != out.level || len(out.budgets) > 0 && len(out.budgets)+len(q.budgets) > room {
			return false
		}
		out.budgets = append(out.budgets, q.budgets...)
		return true
	})
	return out, true
}

// take removes the parts that are wanted.
func (p *plan) take(wanted func(*part) bool) {
	kept := p.parts[:0]
	for i := range p.parts {
		if !wanted(&p.parts[i]) {
			kept = append(kept, p.parts[i])
		}
	}
	p.parts = kept
}

// learn takes note of a point. It returns the budgets that need not be asked for
// any more, because the method does not apply: their failure is the point's.
func (p *plan) learn(method int, point *proto.Point) (pointless []int) {
	c := &p.methods[method]
	c.known = true
	c.points++
	c.took += point.Took
	if f := point.Failure; f != nil && f.Kind == proto.Unsupported {
		c.refused = f
	}
	if c.refused != nil {
		p.take(func(q *part) bool {
			if q.method == method {
				pointless = append(pointless, q.budgets...)
			}
			return q.method == method
		})
	}
	return pointless
}
