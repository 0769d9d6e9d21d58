package window

import "memtide/engine"

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
