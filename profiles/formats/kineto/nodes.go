package kineto

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"memtide/profiles/parse"
)

// node is a part of the forward that has a name: the call of a module, or a
// range that somebody named. Its operators lie within its time.
type node struct {
	start, end int64
	name       string
	class      string // of the module, where it is known
	children   []*node
}

// nest builds trees of nodes that are sorted by start, the longer ones first.
// Nodes without operators that have a backward are left out.
func (s *ktStep) nest(sorted []*node) (roots []*node) {
	var open []*node
	for _, n := range sorted {
		if s.trainedIn(n.start, n.end) == 0 {
			continue
		}
		for len(open) > 0 && open[len(open)-1].end <= n.start {
			open = open[:len(open)-1]
		}
		switch {
		case len(open) == 0:
			roots = append(roots, n)
		case len(open) > deepest:
			continue
		default:
			up := open[len(open)-1]
			up.children = append(up.children, n)
		}
		open = append(open, n)
	}
	return roots
}

// deepest is how deep modules may be within each other.
const deepest = 500

// moduleNodes returns the calls of modules that the profiler has recorded.
func (s *ktStep) moduleNodes() []*node {
	var list []*node
	for _, span := range s.spans {
		if span.thread == s.forward && s.has(span.start) && span.start < s.turn {
			name := s.texts[span.name]
			class := name
			if i := strings.LastIndexByte(name, '_'); i > 0 && parse.AllDigits(name[i+1:]) {
				class = name[:i]
			}
			list = append(list, &node{start: span.start, end: span.end, name: name, class: class})
		}
	}
	return s.nest(list)
}

// namedNodes returns the ranges that somebody named with record_function, if they
// are the layers of the forward: several, none with most of the operators, and
// hardly any outside of them. Phases of the step are none: ranges that reach into
// the backward or have the names of phases. s.notLayers is one that is none.
func (s *ktStep) namedNodes() []*node {
	var list []*node
	for i := range s.ops {
		op := &s.ops[i]
		name := s.texts[op.name]
		switch {
		case !op.named || op.thread != s.forward || op.start >= s.turn || ofPyTorch(name):
		case op.end > s.turn || isPhase(name):
			s.notLayers = cmp.Or(s.notLayers, name)
		default:
			list = append(list, &node{start: op.start, end: op.end, name: name})
		}
	}
	all := len(s.starts)
	var layers []*node
	for open := s.nest(list); len(open) > 0; {
		n := open[0]
		if open = open[1:]; len(n.children) > 1 && 2*s.trainedIn(n.start, n.end) > all {
			open = append(slices.Clone(n.children), open...) // most of the forward has a name, too
			continue
		}
		n.children = nil // what is within a range that somebody chose stays together
		layers = append(layers, n)
	}
	covered := 0
	for _, n := range layers {
		share := s.trainedIn(n.start, n.end)
		if 2*share > all {
			s.notLayers = cmp.Or(s.notLayers, n.name)
			return nil
		}
		covered += share
	}
	if len(layers) < 3 || 5*covered < 4*all {
		if len(layers) > 0 {
			s.notLayers = cmp.Or(s.notLayers, layers[0].name)
		}
		return nil
	}
	return layers
}

// ofPyTorch tells ranges that PyTorch names itself, not the author of the model.
func ofPyTorch(name string) bool {
	return communicates(name) || begins(name, "ProfilerStep", "Optimizer.", "enumerate(", "DistributedDataParallel.",
		"FullyShardedDataParallel.", "FSDP::", "Torch-Compiled Region")
}

// begins reports whether a name begins with one of these.
func begins(name string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// phaseWords are those of names such as "## zero_grad ##" and "train step 7".
var phaseWords = map[string]bool{"forward": true, "fwd": true, "backward": true, "bwd": true, "pass": true,
	"step": true, "train": true, "training": true,
	"model": true, "optimizer": true, "optim": true, "zero": true, "grad": true, "iteration": true, "iter": true,
	"epoch": true, "batch": true, "data": true,
	"dataloader": true, "loader": true, "loading": true, "load": true}

// isPhase tells names of which every word is one of a phase.
func isPhase(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' })
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !phaseWords[w] })
}

// opNodes returns the outermost operators.
func (s *ktStep) opNodes() []*node {
	var list []*node
	for _, i := range s.tops[s.forward] {
		if op := &s.ops[i]; op.start < s.turn {
			list = append(list, &node{start: op.start, end: op.end,
				name: strings.TrimPrefix(s.texts[op.name], "aten::")})
		}
	}
	return s.nest(list)
}

// stackFrame is a line of a call stack: file(line): function.
type stackFrame struct {
	text string
	file string // without directories and ending
	line int
	call bool // the call of a module by PyTorch
	own  bool // a file of PyTorch's modules
}

// frames splits a call stack, the outermost frame first.
func frames(stack string) []stackFrame {
	var list []stackFrame
	for text := range strings.SplitSeq(stack, ";") {
		f := stackFrame{text: text}
		path, rest, _ := strings.Cut(text, "(")
		number, function, _ := strings.Cut(rest, ")")
		f.line, _ = strconv.Atoi(number)
		f.own = strings.Contains(path, "torch/nn/modules/") || strings.Contains(path, `torch\nn\modules\`)
		f.file = strings.TrimSuffix(path[strings.LastIndexAny(path, `/\`)+1:], ".py")
		f.call = f.file == "module" && strings.HasSuffix(function, ": _call_impl")
		f.text = path + function // two lines of one function are the same function
		list = append(list, f)
	}
	slices.Reverse(list)
	return list
}

// stackNodes rebuilds the calls of modules from the call stacks of operators.
// Two calls of the same line, as in the loop of nn.Sequential, differ in what
// they call, or in that its lines begin anew.
func (s *ktStep) stackNodes() (roots []*node) {
	type call struct {
		frame int
		node  *node
	}
	var open []call
	var before []stackFrame
	lastName := int32(-1)
	for _, i := range s.tops[s.forward] {
		op := &s.ops[i]
		if op.start >= s.turn || op.stack == 0 {
			continue
		}
		now := frames(s.texts[op.stack])
		same := sharedFrames(before, now, op.name == lastName)
		for len(open) > 0 && open[len(open)-1].frame >= same {
			open = open[:len(open)-1]
		}
		for f := same; f+1 < len(now); f++ {
			if !now[f].call || len(open) > deepest {
				continue
			}
			n := &node{start: op.start, name: now[f+1].file, class: now[f+1].file}
			if len(open) == 0 {
				roots = append(roots, n)
			} else {
				up := open[len(open)-1].node
				up.children = append(up.children, n)
			}
			open = append(open, call{f, n})
		}
		for _, c := range open {
			c.node.end = max(c.node.end, op.end)
		}
		before, lastName = now, op.name
	}
	return s.prune(roots)
}

// sharedFrames returns how many frames two operators share, in the same calls.
// sameName tells that the operators have one name.
func sharedFrames(before, now []stackFrame, sameName bool) int {
	n := 0
	for n < len(before) && n < len(now) && before[n].text == now[n].text && before[n].line == now[n].line {
		n++
	}
	call := n - 1 // the innermost call that both are in
	for call >= 0 && !now[call].call {
		call--
	}
	if call < 0 {
		return n
	}
	if n == len(now) || n == len(before) {
		// The same line once more: a module of PyTorch that is one operator.
		if n == len(now) && n == len(before) && sameName && call+1 < n && now[call+1].own {
			return call
		}
		return n
	}
	other := call == n-1 && before[n].text != now[n].text // the line calls another module
	again := before[n].text == now[n].text && now[n].line < before[n].line
	if other || again {
		return call
	}
	return n
}

// prune leaves out nodes without operators that have a backward.
func (s *ktStep) prune(list []*node) []*node {
	list = slices.DeleteFunc(list, func(n *node) bool { return s.trainedIn(n.start, n.end) == 0 })
	for _, n := range list {
		n.children = s.prune(n.children)
	}
	return list
}

// parts chooses the nodes that become stages. Children of a node may only
// become stages if nothing but the output of one reaches the next: that is so in
// nn.Sequential, and usual on the outermost level of a model and where many
// modules of one class follow each other (the layers of a transformer). Residual
// connections are within blocks, which stay whole.
func (s *ktStep) parts(roots []*node) (list []*node) {
	for _, n := range roots {
		share := s.trainedIn(n.start, n.end)
		if 2*share > len(s.starts) && len(n.children) > 0 {
			for _, c := range n.children {
				list = s.split(list, c)
			}
			continue
		}
		list = s.split(list, n)
	}
	slices.SortStableFunc(list, func(a, b *node) int { return cmp.Compare(a.start, b.start) })
	return list
}

func (s *ktStep) split(list []*node, n *node) []*node {
	if !s.splits(n) {
		return append(list, n)
	}
	for _, c := range n.children {
		list = s.split(list, c)
	}
	return list
}

func (s *ktStep) splits(n *node) bool {
	if len(n.children) == 0 {
		return false
	}
	inside := 0
	classes := map[string]int{}
	most := 0
	for _, c := range n.children {
		inside += s.trainedIn(c.start, c.end)
		classes[c.class]++
		most = max(most, classes[c.class])
	}
	all := s.trainedIn(n.start, n.end)
	share := float64(all) / float64(len(s.starts))
	switch {
	case n.class == "Sequential" || n.class == "container":
		return true
	case len(n.children) == 1 && inside == all:
		return true // a wrapper
	}
	return share > 0.8 || share > 0.4 && most >= 4
}
