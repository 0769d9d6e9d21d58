package chainify

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// findEnds finds the nodes that end a stage: no edge of the path jumps over them, no reader
// overwrites or renames their output, and they do not rename the input, which exists anyway.
func (l *linearizer) findEnds() {
	core := func(i int) bool { return l.role[i] == onPath && !l.ops[i].Is(IsShape) }
	var cuts []int
	far := -1 // the last node that an edge from a node before i reaches
	for i := range l.ops {
		if core(i) && !slices.ContainsFunc(l.ops[i].Preds, func(p int) bool { return l.role[p] == onPath }) {
			far = i // a parallel start: no node before it can be a cut
		}
	}
	for i := range l.ops {
		if !core(i) {
			continue
		}
		if far <= i {
			cuts = append(cuts, i)
		}
		for _, s := range l.succs[i] {
			if core(s) {
				far = max(far, s)
			}
		}
	}
	for k, i := range cuts {
		overwritten := slices.ContainsFunc(l.succs[i], func(s int) bool {
			return l.ops[s].Is(InPlace|IsView) && l.root[s] == l.root[i]
		})
		input := l.role[l.root[i]] == dataIn
		if k == len(cuts)-1 || !overwritten && !l.ops[i].Is(Inside) && !input {
			l.ends = append(l.ends, i)
		}
	}
	if len(l.ends) == 0 {
		profiles.End(errNoStages)
	}
}

// assignStages gives every operator the first stage whose end needs it. An operator that no end
// needs gets the last stage that it reads from.
func (l *linearizer) assignStages() {
	none := len(l.ends)
	l.stage = slices.Repeat([]int{none}, len(l.ops))
	for k, i := range l.ends {
		l.stage[i] = k
	}
	for i := len(l.ops) - 1; i >= 0; i-- {
		for _, s := range l.succs[i] {
			l.stage[i] = min(l.stage[i], l.stage[s])
		}
	}
	for i := range l.ops {
		if l.stage[i] < none {
			continue
		}
		at := -1
		for _, p := range l.ops[i].Preds {
			if l.role[p] != dataIn && l.role[p] != constant {
				at = max(at, l.stage[p])
			}
		}
		if at < 0 {
			at = none - 1
		}
		l.stage[i] = at
	}
	for i := range l.ops {
		if l.role[i] == dataIn || l.role[i] == constant {
			l.stage[i] = -1
		}
	}
}

// buildStages builds each stage from its operators.
func (l *linearizer) buildStages() {
	members := make([][]int, len(l.ends))
	for i, k := range l.stage {
		if k >= 0 {
			members[k] = append(members[k], i)
		}
	}
	guessed := func(i int) bool { return l.ops[i].Is(Guessed) } // it may save more than is known
	var prevGrad engine.Bytes                                   // 0 for the network's input
	for k, end := range l.ends {
		profiles.End(l.poll.Err())
		m := l.newStageMemory(members[k], end)
		s := engine.Stage{Name: l.stageName(members[k], end), Kind: l.stageKind(members[k])}
		for _, i := range members[k] {
			o := &l.ops[i]
			s.Forward += o.Forward
			s.Back += o.Back
			l.result.Weights += o.Weights
		}
		s.Out = l.size[l.root[end]]
		s.Grad = s.Out
		s.Saved = max(m.saved, s.Out)
		// The chain's last output is the result of the step, so it is always held.
		if r := l.root[end]; m.own[r] && !l.kept[r] && !guessed(end) && !slices.ContainsFunc(l.succs[end], guessed) &&
			k < len(l.ends)-1 {
			s.Unsaved = true
			s.Saved -= s.Out
		}
		s.FwdTemp = max(0, m.forwardPeak()-m.saved)
		s.BwdTemp = max(0, m.backwardPeak()-m.saved-s.Grad-prevGrad)
		l.result.Stages = append(l.result.Stages, s)
		prevGrad = s.Grad
	}
}

// stageName returns a name from the kinds of the operators, shortened if there are more than four.
func (l *linearizer) stageName(members []int, end int) string {
	var kinds []string
	for _, i := range members {
		if !l.ops[i].Is(IsShape) {
			kinds = append(kinds, l.ops[i].Kind)
		}
	}
	name := strings.Join(kinds, "+")
	if n := len(kinds); n > 4 {
		name = fmt.Sprintf("%s..%s (%d operators)", kinds[0], kinds[n-1], n)
	}
	return l.ops[end].Name + " " + name
}

// families lists the kinds of stages. The kind of a stage is the first one that one of its operators has.
var families = []string{"conv", "attention", "rnn", "fc", "embed", "pool", "norm", "act"}

func (l *linearizer) stageKind(members []int) string {
	for _, f := range families {
		if slices.ContainsFunc(members, func(i int) bool { return l.ops[i].Family == f }) {
			return f
		}
	}
	return ""
}

// findStorages joins nodes that share memory: a view with its input, an operator in place with
// the input that it overwrites. It sets root to the node that allocated, size to the largest
// output in the storage, and kept for the storages that the backward needs.
func (l *linearizer) findStorages() {
	n := len(l.ops)
	l.root, l.size, l.kept = make([]int, n), make([]engine.Bytes, n), make([]bool, n)
	for i := range l.ops {
		l.root[i] = i
		if from := l.overwrites(i); from >= 0 {
			l.root[i] = l.root[from] // preds come earlier: their root is final
		}
		r := l.root[i]
		l.size[r] = max(l.size[r], l.ops[i].Out)
	}
	for i := range l.ops {
		o := &l.ops[i]
		if o.Is(SavesOut) {
			l.kept[l.root[i]] = true
		}
		if !o.Is(SavesIn) {
			continue
		}
		for _, p := range o.Preds {
			if !l.ops[p].Is(IsShape) {
				l.kept[l.root[p]] = true
			}
		}
	}
}

// overwrites returns the input whose memory a node takes over, or -1 if the node allocates. Of
// several inputs, it prefers one without another reader, and then the last.
func (l *linearizer) overwrites(i int) int {
	o := &l.ops[i]
	if !o.Is(InPlace|IsView) || o.Is(IsShape) {
		return -1
	}
	best, bestRank := -1, -1
	for _, p := range o.Preds {
		rank := 0
		switch {
		case l.ops[p].Is(IsShape):
			continue
		case l.role[p] == dataIn || l.role[p] == constant:
		case l.tensorReaders(p) == 1:
			rank = 2
		default:
			rank = 1
		}
		if rank > bestRank || rank == bestRank && p > best {
			best, bestRank = p, rank
		}
	}
	return best
}

// tensorReaders counts the readers of a node's values, without those of its shape.
func (l *linearizer) tensorReaders(i int) (n int) {
	for _, s := range l.succs[i] {
		if !l.ops[s].Is(IsShape) {
			n++
		}
	}
	return n
}

// stageMemory is the memory that one stage allocates, and the part of it that the backward needs.
type stageMemory struct {
	l       *linearizer
	members []int        // ascending
	index   map[int]int  // position of a node in members
	end     int          // the node whose output leaves the stage
	own     map[int]bool // storages that the stage allocates
	keep    []int        // storages of own that stay until the backward, in order of allocation
	saved   engine.Bytes // [abar] sizes of keep, and Aux of the operators
}

func (l *linearizer) newStageMemory(members []int, end int) *stageMemory {
	m := &stageMemory{l: l, members: members, end: end, index: map[int]int{}, own: map[int]bool{}}
	for at, i := range members {
		m.index[i] = at
	}
	for _, i := range members {
		if o := &l.ops[i]; !o.Is(IsShape) && o.Out > 0 {
			m.own[l.root[i]] = true
		}
	}
	for _, i := range members {
		for _, p := range l.ops[i].Preds {
			if _, inside := m.index[p]; !inside {
				delete(m.own, l.root[p])
			}
		}
	}
	seen := map[int]bool{}
	for _, i := range members {
		m.saved += l.ops[i].Aux
		if r := l.root[i]; m.own[r] && !seen[r] && m.keeps(r) {
			seen[r] = true
			m.keep = append(m.keep, r)
			m.saved += l.size[r]
		}
	}
	return m
}

func (m *stageMemory) keeps(root int) bool { return m.l.kept[root] || root == m.l.root[m.end] }

// forwardPeak returns the most memory that is allocated at one time in the forward.
func (m *stageMemory) forwardPeak() engine.Bytes {
	l := m.l
	last := map[int]int{} // position of the last member that touches a storage
	for at, i := range m.members {
		last[l.root[i]] = at
		for _, p := range l.ops[i].Preds {
			last[l.root[p]] = at
		}
	}
	free := make([]engine.Bytes, len(m.members))
	for _, i := range m.members {
		// the node that allocates represents its storage
		if r := l.root[i]; r == i && m.own[r] && !m.keeps(r) {
			free[last[r]] += l.size[r]
		}
	}
	var live, peak engine.Bytes
	born := map[int]bool{}
	for at, i := range m.members {
		if r := l.root[i]; m.own[r] && !born[r] {
			born[r] = true
			live += l.size[r]
		}
		live += l.ops[i].Aux
		peak = max(peak, live)
		live -= free[at]
	}
	return peak
}

// outside is the key of the gradient that leaves the stage.
const outside = -1

// backwardPeak returns the most memory that is allocated at one time in the backward: saved storages, gradients, and
// the gradient of the stage's output. A saved storage is freed after the last operator that needs it. Add, Concat and
// views pass gradients on without a copy; other operators allocate theirs.
func (m *stageMemory) backwardPeak() engine.Bytes {
	l := m.l
	free := m.freedAfter()
	g := profiles.NewGradients(m.saved, m.end, l.size[l.root[m.end]])
	for at := len(m.members) - 1; at >= 0; at-- {
		o := &l.ops[m.members[at]]
		g.Step(m.members[at], o.Is(PassesGrad), m.gradients(o))
		g.Live -= free[at] + o.Aux
	}
	return g.Peak
}

// gradients returns the inputs of operator o that have a gradient, and its size.
func (m *stageMemory) gradients(o *Operator) iter.Seq2[int, engine.Bytes] {
	return func(yield func(int, engine.Bytes) bool) {
		for _, p := range o.Preds {
			from := &m.l.ops[p]
			if from.Is(IsShape) || m.l.role[p] == dataIn || m.l.role[p] == constant || from.Out == 0 {
				continue
			}
			to := p
			if _, inside := m.index[p]; !inside {
				to = outside
			}
			if !yield(to, from.Out) {
				return
			}
		}
	}
}

// freedAfter returns the bytes of saved storages that are freed after the backward of each
// member, by position. A storage that no operator of the stage needs is freed first.
func (m *stageMemory) freedAfter() []engine.Bytes {
	l := m.l
	user := map[int]int{} // position of the first member that needs a storage, the last in the backward
	note := func(root, at int) {
		if _, ok := user[root]; !ok {
			user[root] = at
		}
	}
	for at, i := range m.members {
		if l.ops[i].Is(SavesIn) {
			for _, p := range l.ops[i].Preds {
				note(l.root[p], at)
			}
		}
		if l.ops[i].Is(SavesOut) {
			note(l.root[i], at)
		}
	}
	free := make([]engine.Bytes, len(m.members))
	for _, r := range m.keep {
		at, ok := user[r]
		if !ok {
			at = len(m.members) - 1
		}
		free[at] += l.size[r]
	}
	return free
}
