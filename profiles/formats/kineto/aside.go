package kineto

import (
	"cmp"
	"slices"
)

// What runs during a step and is no layer's: collectives, which wait for other
// devices, and forwards that the backward runs again (checkpointing). Their time
// is left out of the stages and told apart.

// workKind says what work is for.
type workKind uint8

const (
	ofLayers workKind = iota
	ofCollectives
	ofRecomputation
)

// aside is time of a thread that is no layer's.
type aside struct {
	window
	kind workKind
}

// communicates tells kernels and operators that move data between devices, and
// those that pack it for that.
func communicates(name string) bool {
	return begins(name, "nccl", "rccl", "msccl", "c10d::", "gloo:", "record_param_comms", "_c10d_functional::",
		"torch::distributed::", "torch.distributed.")
}

// findAsides finds what is no layer's, and takes it off the work.
func (s *ktStep) findAsides() {
	again := map[int32]bool{} // names of the forward's operators
	for _, i := range s.trained {
		again[s.ops[i].name] = true
	}
	type state struct {
		backEnd int64 // of the operators of the backward that began
		running bool  // the last aside is a forward within one of them
	}
	threads := map[int32]*state{}
	s.asides = map[int32][]aside{}
	for i := range s.ops {
		op := &s.ops[i]
		st := threads[op.thread]
		if st == nil {
			st = &state{}
			threads[op.thread] = st
		}
		list := s.asides[op.thread]
		last := len(list) - 1
		within := op.start >= s.turn && op.start < st.backEnd
		switch {
		case last >= 0 && op.start < list[last].to:
		case communicates(s.texts[op.name]):
			s.asides[op.thread] = append(list, aside{window{op.start, op.end}, ofCollectives})
			st.running = false
		case op.named:
		case op.back:
			st.backEnd, st.running = max(st.backEnd, op.end), false
		case within && op.sequence >= 0 && again[op.name] && st.running:
			list[last].to = op.end
		case within && op.sequence >= 0 && again[op.name]:
			s.asides[op.thread] = append(list, aside{window{op.start, op.end}, ofRecomputation})
			st.running = true
		}
	}
	s.sortWorks()
}

// sortWorks gives work its kind. Work of the CPU is the time of outermost
// operators: what lies within them is taken off.
func (s *ktStep) sortWorks() {
	for i := range s.works {
		w := &s.works[i]
		list := s.asides[w.thread]
		k, _ := slices.BinarySearchFunc(list, w.at, func(a aside, at int64) int { return cmp.Compare(a.to, at+1) })
		switch {
		case !s.onCPU:
			if w.kind == ofLayers && k < len(list) && list[k].from <= w.at {
				w.kind = list[k].kind
			}
			s.spent[w.kind] += w.took
		default:
			end := w.at + w.took
			for ; k < len(list) && list[k].from < end; k++ {
				off := min(list[k].to, end) - max(list[k].from, w.at)
				w.took -= off
				s.spent[list[k].kind] += off
			}
			s.spent[ofLayers] += w.took
		}
	}
}

// clocks returns the time from the first work of the step on the device to the last,
// and what of it the device works.
func (s *ktStep) clocks() (wall, busy int64) {
	works := slices.Clone(s.works)
	slices.SortFunc(works, func(a, b work) int { return cmp.Compare(a.begin, b.begin) })
	end := works[0].begin
	for _, w := range works {
		from := max(w.begin, end)
		end = max(end, w.begin+w.ran)
		busy += max(0, end-from)
	}
	return end - works[0].begin, busy
}
