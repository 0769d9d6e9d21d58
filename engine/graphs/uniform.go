package graphs

import (
	"fmt"
	"slices"
)

// Plans in which all blocks are carried out once, and equal ones alike: how many prices
// of memory are tried, and how many mixtures of the plans of two neighbouring prices.
const (
	prices   = 32
	mixtures = 4
)

// uniform adds plans for chains that are too long to choose for every block with many
// trade-offs: every block takes the option that costs least at a price of memory, and a plan between two prices
// has the cheaper options in its first blocks.
func (c *chainOf) uniform(l *plans, m *model) {
	classes := c.classify(m)
	c.analyse(m, classes)
	if c.poll.Err() != nil || slices.ContainsFunc(c.info, func(a *analysis) bool { return len(a.options) == 0 }) {
		return
	}
	note := fmt.Sprintf("The graph is a chain of %d blocks, which are carried out once; equal ones are alike.",
		len(c.blocks))
	before := c.choice(0)
	for _, price := range c.slopes() {
		if c.poll.Err() != nil {
			return
		}
		after := c.choice(price)
		for part := range mixtures {
			mixed := slices.Clone(before)
			copy(mixed, after[:len(after)*part/mixtures])
			l.add(c.carryOut(mixed), note)
		}
		before = after
	}
	l.add(c.carryOut(before), note)
}

// slopes are prices of a byte between those at which the blocks keep everything and nothing, increasing.
func (c *chainOf) slopes() (list []float64) {
	seen := map[int32]bool{}
	for k, in := range c.info {
		if seen[c.class[k]] {
			continue
		}
		seen[c.class[k]] = true
		for i := 1; i < len(in.options); i++ {
			a, b := in.options[i-1], in.options[i]
			if b.timeB > a.timeB && b.saved < a.saved {
				list = append(list, float64(b.timeB-a.timeB)/float64(a.saved-b.saved))
			}
		}
	}
	slices.Sort(list)
	return evenly(list, prices)
}

// choice returns the option of every block at a price.
func (c *chainOf) choice(price float64) []int {
	of := map[int32]int{}
	list := make([]int, len(c.blocks))
	for k, in := range c.info {
		best, known := of[c.class[k]]
		if !known {
			least := 0.0
			for i, o := range in.options {
				if cost := float64(o.timeB) + float64(price*float64(o.saved)); i == 0 || cost < least {
					best, least = i, cost
				}
			}
			of[c.class[k]] = best
		}
		list[k] = best
	}
	return list
}

// carryOut returns the sequence that carries out every block once.
func (c *chainOf) carryOut(options []int) (seq []kindID) {
	for _, b := range c.blocks {
		seq = append(seq, b.forward...)
	}
	for k := len(c.blocks) - 1; k >= 0; k-- {
		for _, i := range c.info[k].options[options[k]].backward {
			seq = append(seq, c.info[k].global[i])
		}
	}
	return seq
}
