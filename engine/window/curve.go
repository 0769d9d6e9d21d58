package window

import (
	"time"

	"memtide/engine"
)

// Point is what one size of the window costs.
type Point struct {
	Window   engine.Bytes
	StepTime time.Duration // 0: it does not fit, or there is no link for what has to move
	Peak     engine.Bytes  // resident memory included; 0 like StepTime
	Moved    engine.Bytes  // by all transfers, in both directions
}

// Range is what the window can be on a problem.
type Range struct {
	Fits engine.Bytes // the largest window that fits into the budget
	All  engine.Bytes // the smallest that covers everything: larger ones are the same
}

// Curve is the step time against the size of the window, at count sizes (two at
// least) at equal distances from none to the largest that fits, and at All where
// that does not fit, so that the curve shows its end. Paper 004 says that both a
// small and a large window can be slow (section 3), so no shape is promised. The
// error is that of a strategy: nothing fits, the graph cannot be scheduled in its
// order, or time is over; in the last case the points so far are returned.
func Curve(p *engine.Problem, count int, poll *engine.Poll) (points []Point, r Range, err error) {
	n, err := newNetwork(p)
	if err != nil {
		return nil, r, err
	}
	n.poll = poll
	r.All = n.sums[len(n.seq)]
	most, ok := n.largestWindow()
	switch {
	case poll.Err() != nil:
		return nil, r, poll.Err()
	case !ok:
		_, err := n.ofWindow(0)
		return nil, r, err
	}
	r.Fits = most
	count = max(count, 2)
	for k := range count {
		// Two halves, because a product of sizes could overflow.
		size := most/engine.Bytes(count-1)*engine.Bytes(k) + most%engine.Bytes(count-1)*engine.Bytes(k)/engine.Bytes(count-1)
		if k > 0 && size == points[len(points)-1].Window {
			continue
		}
		points = append(points, n.point(size))
		poll.Report(engine.Progress{Done: k + 1, Total: count})
		if err := poll.Err(); err != nil {
			return points[:len(points)-1], r, err
		}
	}
	if r.Fits < r.All {
		points = append(points, Point{Window: r.All})
	}
	return points, r, nil
}

// point walks with one window.
func (n *network) point(size engine.Bytes) Point {
	at := Point{Window: size}
	r, ok := n.windowed(size)(n.p.Budget)
	if !ok || r.travels() && !n.linked() {
		return at
	}
	at.StepTime, at.Peak = r.duration(), r.peak
	for _, st := range r.steps {
		if st.Kind == engine.StepFetch || st.Kind == engine.StepOffload {
			at.Moved += n.size(st.Value)
		}
	}
	return at
}

// WindowStops is the operation at which the schedule of a window does not fit into
// the budget; ok is false if it fits.
func WindowStops(p *engine.Problem, bytes engine.Bytes) (op engine.OpID, ok bool, err error) {
	n, err := newNetwork(p)
	if err != nil {
		return engine.NoOp, false, err
	}
	return n.stops(n.windowed(bytes))
}

// LMSStops is the same for the two numbers of ByLMS.
func LMSStops(p *engine.Problem, threshold, ahead int) (op engine.OpID, ok bool, err error) {
	n, err := newNetwork(p)
	if err != nil {
		return engine.NoOp, false, err
	}
	return n.stops(n.lms(max(threshold, 1), ahead))
}

func (n *network) stops(w walk) (op engine.OpID, ok bool, err error) {
	r, fits := w(n.p.Budget)
	if fits {
		return engine.NoOp, false, nil
	}
	return engine.OpID(r.at), true, nil
}
