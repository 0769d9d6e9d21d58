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
