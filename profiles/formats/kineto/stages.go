package kineto

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// stage is a stage under construction.
type stage struct {
	node         *node
	from, to     int64 // of its forward; to is the start of the next stage
	forward      int64
	back         int64
	backAt       int64 // start of its backward; -1 if it has no backward
	backEnd      int64
	input        int64 // bytes; 0 if unknown
	batch        int32
	kind         dType
	grads        int64 // bytes of the gradients of its weights
	joined       int   // number of stages that were joined to it
	growth       int64 // memory in use at its end minus at its start
	renames      bool  // it only works in place or makes views
	isLoss       bool
	nothingKnown bool // the size of its output is unknown
}

// cut makes stages from nodes. A stage lasts until the next node starts.
func (s *ktStep) cut(nodes []*node) (list []stage) {
	end := s.starts[len(s.starts)-1]
	if top := s.topAt(s.forward, end); top >= 0 {
		end = s.ops[top].end
	}
	for _, n := range nodes {
		if len(list) > 0 && n.start <= list[len(list)-1].from {
			continue // it starts with the node before
		}
		list = append(list, stage{node: n, from: n.start, backAt: -1})
	}
	if len(list) > 0 {
		list[0].from = min(list[0].from, s.starts[0])
	}
	list = s.cutLoss(list)
	for i := range list {
		list[i].to = end
		if i+1 < len(list) {
			list[i].to = list[i+1].from
		}
	}
	return list
}

// cutLoss makes the loss a stage: the last module or the first operator after it whose name says loss.
func (s *ktStep) cutLoss(list []stage) []stage {
	if n := len(list); n > 1 && strings.Contains(strings.ToLower(list[n-1].node.class+list[n-1].node.name), "loss") {
		list[n-1].isLoss = true
		return list
	}
	for _, i := range s.tops[s.forward] {
		op := &s.ops[i]
		name := s.texts[op.name]
		if op.start >= s.turn || len(list) == 0 || op.start <= list[len(list)-1].from ||
			s.trainedIn(op.start, op.end) == 0 {
			continue
		}
		if strings.Contains(name, "loss") || strings.Contains(name, "cross_entropy") {
			n := &node{start: op.start, end: op.end, name: parse.LossName}
			return append(list, stage{node: n, from: op.start, backAt: -1, isLoss: true})
		}
	}
	return list
}

// stageOf returns the stage whose forward includes time at, or -1.
func stageOf(list []stage, at int64) int {
	k, _ := slices.BinarySearchFunc(list, at+1, func(st stage, at int64) int { return cmp.Compare(st.from, at) })
	if k == 0 || at >= list[k-1].to {
		return -1
	}
	return k - 1
}

// measure sets the times, inputs and gradients of the stages.
func (s *ktStep) measure(list []stage) {
	for i := range s.ops {
		profiles.End(s.poll.Err())
		op := &s.ops[i]
		if op.thread != s.forward || op.named || op.start >= s.turn {
			continue
		}
		if k := stageOf(list, op.start); k >= 0 && list[k].input == 0 && op.input > 0 {
			list[k].input, list[k].batch, list[k].kind = op.input, op.batch, op.kind
		}
	}
	owner := s.owners(list)
	for i := range s.ops {
		if op := &s.ops[i]; op.input > 0 && s.texts[op.name] == accumulate {
			if k, ok := owner[s.topAt(op.thread, op.start)]; ok {
				list[k].grads += op.input
			}
		}
	}
	for _, w := range s.works {
		if w.kind != ofLayers {
			continue
		}
		if w.thread == s.forward && w.at < s.turn {
			if k := stageOf(list, w.at); k >= 0 {
				list[k].forward += w.took
			}
			continue
		}
		if top := s.topAt(w.thread, w.at); top >= 0 {
			if k, ok := owner[top]; ok {
				list[k].back += w.took
			}
		}
	}
}

// owners returns the stage of each outermost operator of the backward. An operator without a sequence number, such as
// the sum of a gradient, belongs to the stage of the operator before it.
func (s *ktStep) owners(list []stage) map[int]int {
	owner := map[int]int{}
	for thread, tops := range s.tops {
		current, learns := -1, false
		for _, i := range tops {
			learns = learns || s.ops[i].back
		}
		for _, i := range tops {
			op := &s.ops[i]
			if !learns || op.start < s.turn {
				continue
			}
			if f, ok := s.trained[op.sequence]; ok && op.back {
				current = stageOf(list, s.ops[f].start)
			} else if thread == s.forward && op.start > s.last &&
				!strings.Contains(s.texts[op.name], "AccumulateGrad") {
				break // the optimizer
			}
			if current < 0 {
				continue
			}
			owner[i] = current
			st := &list[current]
			if st.backAt < 0 || op.start < st.backAt {
				st.backAt = op.start
			}
			st.backEnd = max(st.backEnd, op.end)
		}
	}
	return owner
}

// join joins stages that keep no memory of their own to the stage before them: operators in
// place overwrite its output, and views rename it.
func (s *ktStep) join(list []stage) []stage {
	s.findRenames(list)
	var out []stage
	for i := range list {
		st := list[i]
		st.growth = s.heldAt(st.to) - s.heldAt(st.from)
		empty := len(s.used) > 0 && st.growth <= 0
		if i == 0 || st.isLoss || !empty && !st.renames {
			out = append(out, st)
			continue
		}
		p := &out[len(out)-1]
		p.to, p.joined = st.to, p.joined+1
		p.forward, p.back, p.grads = p.forward+st.forward, p.back+st.back, p.grads+st.grads
		p.growth += st.growth
		if st.backAt >= 0 {
			if p.backAt < 0 || st.backAt < p.backAt {
				p.backAt = st.backAt
			}
			p.backEnd = max(p.backEnd, st.backEnd)
		}
	}
	return out
}

// views lists operators that only rename their input.
var views = map[string]bool{"aten::flatten": true, "aten::view": true, "aten::reshape": true, "aten::permute": true,
	"aten::transpose": true,
	"aten::squeeze":   true, "aten::unsqueeze": true, "aten::t": true, "aten::expand": true, "aten::slice": true,
	"aten::select": true}

// findRenames marks stages that consist only of operators in place and views.
func (s *ktStep) findRenames(list []stage) {
	seen := make([]bool, len(list))
	for _, i := range s.tops[s.forward] {
		op := &s.ops[i]
		k := stageOf(list, op.start)
		if op.start >= s.turn || k < 0 {
			continue
		}
		name := s.texts[op.name]
		renames := views[name] || strings.HasPrefix(name, "aten::") && strings.HasSuffix(name, "_")
		list[k].renames = renames && (list[k].renames || !seen[k])
		seen[k] = true
	}
}

func (s *ktStep) chain(list []stage) *engine.Chain {
	c := &engine.Chain{}
	names := map[string]int{}
	for i := range list {
		names[list[i].node.name]++
	}
	number := map[string]int{}
	for i := range list {
		st := &list[i]
		out := int64(0)
		if i+1 < len(list) {
			out = list[i+1].input
		}
		if out == 0 && !st.isLoss {
			st.nothingKnown = true
			out = max(0, st.growth)
		}
		e := engine.Stage{Name: st.node.name, Kind: parse.ModuleKind(st.node.class),
			Forward: time.Duration(st.forward), Back: time.Duration(st.back),
			Out: engine.Bytes(out), Saved: engine.Bytes(max(out, st.growth)), Grad: engine.Bytes(out)}
		if names[st.node.name] > 1 {
			number[st.node.name]++
			e.Name = fmt.Sprintf("%s %d", st.node.name, number[st.node.name])
		}
		if st.isLoss {
			e.Name = parse.LossName
		}
		before, after := s.heldAt(st.from), s.heldAt(st.to)
		e.FwdTemp = engine.Bytes(max(0, s.peakIn(st.from, st.to)-max(before, after)))
		if st.backAt >= 0 {
			given := int64(0) // the gradient of the input; 0 for the first stage
			if i > 0 {
				given = list[i].input
			}
			e.BwdTemp = engine.Bytes(max(0, s.peakIn(st.backAt, st.backEnd+1)-s.heldAt(st.backAt)-given))
		}
		c.Stages = append(c.Stages, e)
	}
	c.Input, c.Batch = engine.Bytes(list[0].input), int(list[0].batch)
	return c
}

// Work during a step that does not belong to layers: collectives, which wait for other devices, and forwards that the
// backward runs again (checkpointing). Its time is not part of the stages but reported in notes.

// workKind is the purpose of work on the device.
type workKind uint8

const (
	ofLayers workKind = iota
	ofCollectives
	ofRecomputation
)

// aside is a time range of a thread that does not belong to layers.
type aside struct {
	window
	kind workKind
}

// communicates reports whether a kernel or an operator moves data between devices, or packs it for that.
func communicates(name string) bool {
	return begins(name, "nccl", "rccl", "msccl", "c10d::", "gloo:", "record_param_comms", "_c10d_functional::",
		"torch::distributed::", "torch.distributed.")
}

// findAsides finds the asides of each thread and sets the kinds of the work.
func (s *ktStep) findAsides() {
	again := map[int32]bool{} // names of the forward's operators
	for _, i := range s.trained {
		again[s.ops[i].name] = true
	}
	type state struct {
		backEnd int64 // latest end of the operators of the backward so far
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

// sortWorks sets the kind of all work. Without a device, the work is the time of outermost
// operators, less the asides within them.
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

// clocks returns the time from the first work of the step on the device to its last, and how
// much of it the device is busy.
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
