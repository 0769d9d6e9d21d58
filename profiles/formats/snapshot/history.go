package snapshot

import (
	"memtide/engine/alloc"
)

// tick takes the time of an event of the trace.
func (s *snapshot) tick(r *record) {
	if r.b.kind() == pvInt {
		s.clock = max(s.clock, r.b.int())
	}
}

// event adds an event, at the time of what is played.
func (s *snapshot) event(e alloc.Event) {
	s.memory.Requests.Events = append(s.memory.Requests.Events, e)
	s.history.Times = append(s.history.Times, s.clock)
}

// remember notes where and on which stream the newest buffer was asked for.
func (s *snapshot) remember(stack pval, stream int16) {
	at := int32(0)
	if stack.kind() == pvStack {
		at = int32(stack.index())
	}
	s.history.Stack, s.history.Streams = append(s.history.Stack, at), append(s.history.Streams, stream)
}

// finishHistory lets times begin at 0.
func (s *snapshot) finishHistory() {
	h := s.history
	h.Device, h.Devices, h.Stacks, h.Expandable = s.device, s.devices, s.u.stacks.Stacks, s.expandable
	first := int64(0)
	for _, t := range h.Times {
		if t > 0 {
			first = t
			break
		}
	}
	if first == 0 {
		h.Times = nil
	}
	for i := range h.Times {
		h.Times[i] = max(0, h.Times[i]-first)
	}
}
