package preset

import (
	"memtide/engine"
	"memtide/profiles"
)

// How the sizes of a stage follow from its operators.
//
// Values that are computed in place share a storage. The saved set is every storage that a backward of the stage
// reads, the indices, masks and statistics kept beside them, and always the output. It excludes the stage's
// input, which belongs to the stage before. The temporaries are the peaks of a walk through the stage beyond what
// the chain model already counts: in the forward a storage lives until its last reader has run; in the backward a
// gradient lives until it has been passed on, sums are computed in place if no other value holds the buffer, and
// saved storages are freed after their last reader. Workspaces of the libraries that compute are not included.
// With these rules the sizes of most blocks of ResNet-50 equal what the CUDA allocator was seen to hand out.

// measure returns the sizes and times of a stage, from its operators.
func (s *stage) measure() engine.Stage {
	out := s.tape.values[s.output].bytes
	saved := s.tape.savedBytes(s.output)
	forward, back := s.duration()
	inputGrad := s.tape.values[stageInput].bytes // which the stage passes on
	if s.fromData {
		inputGrad = 0
	}
	return engine.Stage{
		Name: s.name, Kind: s.kind,
		Forward: forward, Back: back,
		Out: out, Saved: saved, Grad: out,
		FwdTemp: s.tape.forwardPeak(s.output, true) - saved,
		BwdTemp: max(0, s.tape.backwardPeak(s.output, s.fromData)-saved-out-inputGrad),
	}
}

// kept reports, by root, which storages are in the saved set.
func (t *tape) kept(output valueID) []bool {
	kept := make([]bool, len(t.values))
	kept[t.values[output].root] = true
	for i := range t.ops {
		for _, v := range t.ops[i].keeps {
			kept[t.values[v].root] = true
		}
	}
	kept[stageInput] = false
	return kept
}

// savedBytes returns the size of the saved set.
func (t *tape) savedBytes(output valueID) (sum engine.Bytes) {
	for v, kept := range t.kept(output) {
		if kept {
			sum += t.values[v].bytes
		}
	}
	for i := range t.ops {
		sum += t.ops[i].aux
	}
	return sum
}

// forwardPeak returns the largest size of the stage's own storages during its forward. With keep the forward
// keeps the saved set, otherwise only the output.
func (t *tape) forwardPeak(output valueID, keep bool) engine.Bytes {
	kept := make([]bool, len(t.values))
	if keep {
		kept = t.kept(output)
	}
	kept[t.values[output].root] = true
	last := make([]int, len(t.values)) // by root: the last operator that touches it
	for i := range t.ops {
		last[t.values[t.ops[i].out].root] = i
		for _, v := range t.ops[i].in {
			last[t.values[v].root] = i
		}
	}
	var live, peak engine.Bytes
	for i := range t.ops {
		o := &t.ops[i]
		if t.values[o.out].root == o.out {
			live += t.values[o.out].bytes
		}
		live += o.aux
		peak = max(peak, live)
		if !keep {
			live -= o.aux
		}
		for v := range t.values {
			root := valueID(v) != stageInput && t.values[v].root == valueID(v)
			if root && last[v] == i && !kept[v] {
				live -= t.values[v].bytes
			}
		}
	}
	return peak
}

// leanShortfall returns by how much a forward that keeps only the output exceeds the output and the temporaries.
// The chain model has one figure of temporaries for both kinds of forward; as in the rotor project, it is that of
// the forward that keeps the saved set.
func (s *stage) leanShortfall() engine.Bytes {
	t := s.tape
	temp := t.forwardPeak(s.output, true) - t.savedBytes(s.output)
	return max(0, t.forwardPeak(s.output, false)-t.values[s.output].bytes-temp)
}

// backwardPeak returns the largest size of the saved set and the gradients during the stage's backward.
func (t *tape) backwardPeak(output valueID, fromData bool) engine.Bytes {
	readers := make([]int, len(t.values)) // by root: backwards that have still to read it
	for i := range t.ops {
		for _, v := range t.ops[i].keeps {
			readers[t.values[v].root]++
		}
	}
	live := t.savedBytes(output)
	if root := t.values[output].root; readers[root] == 0 {
		live -= t.values[root].bytes // its readers were in the next stage
	}
	g := profiles.NewGradients(live, int(output), t.values[output].bytes)
	for i := len(t.ops) - 1; i >= 0; i-- {
		o := &t.ops[i]
		g.Step(int(o.out), o.byRef, func(yield func(int, engine.Bytes) bool) {
			for _, v := range o.in {
				if (v != stageInput || !fromData) && !yield(int(v), t.values[v].bytes) {
					return
				}
			}
		})
		g.Live -= o.aux
		for _, v := range o.keeps {
			root := t.values[v].root
			if readers[root]--; readers[root] == 0 && root != stageInput {
				g.Live -= t.values[root].bytes
			}
		}
	}
	return g.Peak
}
