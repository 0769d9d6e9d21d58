package kineto

import (
	"cmp"
	"slices"
)

// splitSteps cuts windows, sorted by begin, where a forward follows a backward:
// what runs both several times, without marks or within one, is several steps.
// Parts without a forward and its backward are left out, where others have both.
func (t *trace) splitSteps(list []window) []window {
	var out []window
	for _, w := range list {
		first, _ := slices.BinarySearchFunc(t.ops, w.from,
			func(op ktOp, at int64) int { return cmp.Compare(op.start, at) })
		c := stepCutter{window: w, began: -1, turned: -1, next: -1}
		open := map[int32]int64{}
		for i := first; i < len(t.ops) && t.ops[i].start < w.to; i++ {
			op := &t.ops[i]
			if op.named || op.start < open[op.thread] {
				continue
			}
			open[op.thread] = op.end
			if op.sequence >= 0 {
				c.take(op, t)
			}
		}
		if c.complete { // what follows the last step belongs to it
			c.steps = append(c.steps, c.window)
		}
		out = append(out, c.steps...)
	}
	if len(out) == 0 {
		return list
	}
	return out
}

// stepCutter reads the outermost operators of a window in their order. Sequence
// numbers grow during forwards; a backward has those of its forward.
type stepCutter struct {
	window         // what is left of it
	began    int64 // first number of the forward; -1: none
	turned   int64 // largest number of the backward; -1: none
	next     int64 // first number of a forward behind that backward; -1: none
	nextAt   int64 // it begins
	backEnd  int64 // of the backward so far
	complete bool  // the forward has a backward
	steps    []window
}

func (c *stepCutter) take(op *ktOp, t *trace) {
	switch {
	case op.back && c.next >= 0 && op.sequence >= c.next:
		if c.complete {
			c.steps = append(c.steps, window{c.from, c.nextAt})
		}
		c.from, c.began, c.next, c.turned, c.complete = c.nextAt, c.next, -1, op.sequence, true
	case op.back:
		c.backEnd = max(c.backEnd, op.end)
		c.turned = max(c.turned, op.sequence)
		c.complete = c.complete || c.began >= 0 && op.sequence >= c.began
	case c.turned < 0:
		if c.began < 0 {
			c.began = op.sequence
		}
	case op.sequence > c.turned && (c.next < 0 || c.next == op.sequence):
		c.next, c.nextAt = op.sequence, t.beginAround(op, c.backEnd) // a number is given to the last that has it
	}
}

// beginAround returns the begin of an operator, or of the outermost call of a module
// or named range around it that begins at a time or later.
func (t *trace) beginAround(op *ktOp, from int64) int64 {
	begin := op.start
	i, _ := slices.BinarySearchFunc(t.spans, from, func(s ktSpan, at int64) int { return cmp.Compare(s.start, at) })
	for ; i < len(t.spans) && t.spans[i].start < begin; i++ {
		if s := &t.spans[i]; s.thread == op.thread && s.end >= op.end {
			begin = s.start
		}
	}
	i, _ = slices.BinarySearchFunc(t.ops, from, func(o ktOp, at int64) int { return cmp.Compare(o.start, at) })
	for ; i < len(t.ops) && t.ops[i].start < begin; i++ {
		if o := &t.ops[i]; o.named && o.thread == op.thread && o.end >= op.end {
			begin = o.start
		}
	}
	return begin
}
