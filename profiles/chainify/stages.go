package chainify

import (
	"fmt"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// findEnds finds the nodes that end a stage: no edge of the path jumps over
// them, no reader overwrites or renames their output, and it is not the input
// under another name, which is there anyway.
func (l *linearizer) findEnds() {
	core := func(i int) bool { return l.role[i] == onPath && !l.ops[i].Is(IsShape) }
	var cuts []int
	far := -1 // the furthest node that an edge from before reaches
	for i := range l.ops {
		if core(i) && !l.hasPathBefore(i) {
			far = i // a parallel start: nothing before it can be a cut
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
		input := l.role[l.root[i]] == dataIn
		if k == len(cuts)-1 || !l.overwritten(i) && !l.ops[i].Is(Inside) && !input {
			l.ends = append(l.ends, i)
		}
	}
	if len(l.ends) == 0 {
		profiles.End(errNoStages)
	}
}

// hasPathBefore reports whether a node reads from another node of the path.
func (l *linearizer) hasPathBefore(i int) bool {
	return slices.ContainsFunc(l.ops[i].Preds, func(p int) bool { return l.role[p] == onPath })
}

// overwritten reports whether a reader of a node works in the node's storage.
func (l *linearizer) overwritten(i int) bool {
	return slices.ContainsFunc(l.succs[i], func(s int) bool {
		return l.ops[s].Is(InPlace|IsView) && l.root[s] == l.root[i]
	})
}

// assignStages gives every operator a stage: the first one whose end needs it,
// and for the others the last stage that they read from.
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

// buildStages adds the operators of each stage up.
func (l *linearizer) buildStages() {
	members := make([][]int, len(l.ends))
	for i, k := range l.stage {
		if k >= 0 {
			members[k] = append(members[k], i)
		}
	}
	var prevGrad engine.Bytes // of the network's input: it needs none
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
		// The chain's last output is what the step is for: somebody holds it.
		if r := l.root[end]; m.own[r] && !l.kept[r] && !l.mayBeKept(end) && k < len(l.ends)-1 {
			s.Unsaved = true
			s.Saved -= s.Out
		}
		s.FwdTemp = max(0, m.forwardPeak()-m.saved)
		s.BwdTemp = max(0, m.backwardPeak()-m.saved-s.Grad-prevGrad)
		l.result.Stages = append(l.result.Stages, s)
		prevGrad = s.Grad
	}
}

// mayBeKept reports whether an end or one of its readers may save more than is known.
func (l *linearizer) mayBeKept(end int) bool {
	return l.ops[end].Is(Guessed) || slices.ContainsFunc(l.succs[end], func(s int) bool { return l.ops[s].Is(Guessed) })
}

// stageName joins the kinds of the operators, or the ends of a long list.
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

// families orders the kinds of stages: a stage is called after the first that
// one of its operators belongs to.
var families = []string{"conv", "attention", "rnn", "fc", "embed", "pool", "norm", "act"}

func (l *linearizer) stageKind(members []int) string {
	for _, f := range families {
		if slices.ContainsFunc(members, func(i int) bool { return l.ops[i].Family == f }) {
			return f
		}
	}
	return ""
}

// findStorages joins nodes that share memory: a view with its input, an
// operator in place with the input it overwrites. root is the node that
// allocated; the storage is as large as the largest of its nodes. kept marks
// the storages that the backward needs.
func (l *linearizer) findStorages() {
	n := len(l.ops)
	l.root, l.size, l.kept = make([]int, n), make([]engine.Bytes, n), make([]bool, n)
	for i := range l.ops {
		l.root[i] = i
		if from := l.overwrites(i); from >= 0 {
			l.root[i] = l.root[from] // preds come earlier: theirs is final
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

// overwrites returns the input whose memory a node takes over, or -1 if it allocates.
// Of several, an input that has no other reader is preferred, and then the latest.
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

// tensorReaders counts the readers of a node's values, not of its shape.
func (l *linearizer) tensorReaders(i int) (n int) {
	for _, s := range l.succs[i] {
		if !l.ops[s].Is(IsShape) {
			n++
		}
	}
	return n
}

// stageMemory is the memory of one stage: what it allocates, and what of it the
// backward needs.
type stageMemory struct {
	l       *linearizer
	members []int        // ascending
	index   map[int]int  // position of a node in members
	end     int          // the node whose output leaves the stage
	own     map[int]bool // storages that are allocated here
	keep    []int        // those that stay until the backward, in order of allocation
	saved   engine.Bytes // [abar] sizes of keep, and what operators save besides
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

// forwardPeak returns the most that is alive during the forward.
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
		// The node that allocates stands for its storage.
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

// gradBuffer is memory that holds a gradient. Several nodes may hold it.
type gradBuffer struct {
	size engine.Bytes
	refs int
}

// gradMemory follows the backward of a stage: buffers of gradients are counted
// by reference, as in PyTorch's autograd.
type gradMemory struct {
	live, peak engine.Bytes
	of         map[int]*gradBuffer // gradient of a node's output
}

// outside is the key of the gradient that leaves the stage.
const outside = -1

func (g *gradMemory) alloc(size engine.Bytes) *gradBuffer {
	g.live += size
	g.peak = max(g.peak, g.live)
	return &gradBuffer{size: size, refs: 1}
}

func (g *gradMemory) release(b *gradBuffer) {
	if b.refs--; b.refs == 0 {
		g.live -= b.size
	}
}

// give adds a buffer, and one reference to it, to the gradient of a node. size
// is that of the gradient: buffers of other sizes cannot be added in place.
func (g *gradMemory) give(node int, b *gradBuffer, size engine.Bytes) {
	old := g.of[node]
	switch {
	case old == nil:
		g.of[node] = b
	case old.refs == 1 && old.size == size:
		g.release(b)
	case b.refs == 1 && b.size == size:
		g.release(old)
		g.of[node] = b
	default:
		sum := g.alloc(size)
		g.release(old)
		g.release(b)
		g.of[node] = sum
	}
}

// backwardPeak returns the most that is alive during the backward: what is saved,
// gradients, and the gradient of the stage's output. Saved storages go after
// the last operator that needs them; gradients of Add, Concat and views are
// handed on without a copy, other operators allocate theirs.
func (m *stageMemory) backwardPeak() engine.Bytes {
	l := m.l
	free := m.freedAfter()
	g := &gradMemory{live: m.saved, of: map[int]*gradBuffer{}}
	g.of[m.end] = g.alloc(l.size[l.root[m.end]])
	for at := len(m.members) - 1; at >= 0; at-- {
		i := m.members[at]
		if b := g.of[i]; b != nil {
			delete(g.of, i)
			m.stepBack(g, &l.ops[i], b)
		}
		g.live -= free[at] + l.ops[i].Aux
	}
	return g.peak
}

// stepBack runs the backward of one operator, whose gradient is b.
func (m *stageMemory) stepBack(g *gradMemory, o *Operator, b *gradBuffer) {
	for _, p := range o.Preds {
		from := &m.l.ops[p]
		if from.Is(IsShape) || m.l.role[p] == dataIn || m.l.role[p] == constant || from.Out == 0 {
			continue
		}
		to := p
		if _, inside := m.index[p]; !inside {
			to = outside
		}
		if o.Is(PassesGrad) {
			b.refs++
			g.give(to, b, from.Out)
		} else {
			g.give(to, g.alloc(from.Out), from.Out)
		}
	}
	g.release(b)
}

// freedAfter says how much of the saved storages each backward is the last to
// need, by position. A storage that no operator of the stage needs goes first.
func (m *stageMemory) freedAfter() []engine.Bytes {
	l := m.l
	user := map[int]int{} // position of the first member, last in the backward
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
