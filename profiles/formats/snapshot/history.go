package snapshot

import (
	"memtide/engine/alloc"
)

// event adds an event, at the time of what is played.
func (s *snapshot) event(e alloc.Event) {
	s.memory.Requests.Events = append(s.memory.Requests.Events, e)
	s.history.Times = append(s.history.Times, s.clock)
}

// remember notes where and on which stream the newest buffer was asked for.
func (s *snapshot) remember(stack int32, stream int16) {
	s.history.Stack, s.history.Streams = append(s.history.Stack, stack), append(s.history.Streams, stream)
}

// finishHistory lets times begin at 0.
func (s *snapshot) finishHistory() {
	h := s.history
	h.Device, h.Devices, h.Stacks, h.Expandable = s.device, s.devices, s.u.stacks.Stacks, s.expandable
	h.Emptied, h.Pressed = s.emptyings()
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
