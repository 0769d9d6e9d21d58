package kineto

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"memtide/profiles/parse"
)

// node is a named part of the forward: the call of a module, or a range that the author of the
// program named. Its operators run between start and end.
type node struct {
	start, end int64
	name       string
	class      string // of the module; empty if unknown
	children   []*node
}

// nest builds trees of nodes that are sorted by start, the longer ones first. It leaves out
// nodes without an operator that has a backward.
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

// deepest is the largest depth of nested modules.
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

// namedNodes returns the ranges that the author of the program named with record_function, if they are the layers of
// the forward: at least three, none with most of the operators, and together with at least 80 % of them. Phases of the
// step are left out: ranges that extend into the backward, or have the name of a phase. Otherwise it returns nil, and
// s.notLayers is the name of a range that is not a layer.
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
			open = append(slices.Clone(n.children), open...) // the range of the whole forward
			continue
		}
		n.children = nil // a range that the author chose is not split
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

// ofPyTorch reports whether a range is named by PyTorch itself, not by the author of the program.
func ofPyTorch(name string) bool {
	return communicates(name) || begins(name, "ProfilerStep", "Optimizer.", "enumerate(", "DistributedDataParallel.",
		"FullyShardedDataParallel.", "FSDP::", "Torch-Compiled Region")
}

func begins(name string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// phaseWords holds the words in names of phases, such as "## zero_grad ##" and "train step 7".
var phaseWords = map[string]bool{"forward": true, "fwd": true, "backward": true, "bwd": true, "pass": true,
	"step": true, "train": true, "training": true,
	"model": true, "optimizer": true, "optim": true, "zero": true, "grad": true, "iteration": true, "iter": true,
	"epoch": true, "batch": true, "data": true,
	"dataloader": true, "loader": true, "loading": true, "load": true}

// isPhase reports whether a name consists of words of phases.
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
func frames(stack string) (list []stackFrame) {
	for text := range strings.SplitSeq(stack, ";") {
		f := stackFrame{text: text}
		path, rest, _ := strings.Cut(text, "(")
		number, function, _ := strings.Cut(rest, ")")
		f.line, _ = strconv.Atoi(number)
		f.own = strings.Contains(path, "torch/nn/modules/") || strings.Contains(path, `torch\nn\modules\`)
		f.file = strings.TrimSuffix(path[strings.LastIndexAny(path, `/\`)+1:], ".py")
		f.call = f.file == "module" && strings.HasSuffix(function, ": _call_impl")
		f.text = path + function // without the line
		list = append(list, f)
	}
	slices.Reverse(list)
	return list
}

// stackNodes rebuilds the calls of modules from the call stacks of operators. Two calls in the
// same line, as in the loop of nn.Sequential, differ in the called function, or the lines of the
// second call start again from a smaller number.
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

// sharedFrames returns the number of frames that two operators share, in the same calls.
// sameName reports whether the operators have the same name.
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
		// The same line again: a module of PyTorch that is a single operator.
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

// prune removes nodes without an operator that has a backward.
func (s *ktStep) prune(list []*node) []*node {
	list = slices.DeleteFunc(list, func(n *node) bool { return s.trainedIn(n.start, n.end) == 0 })
	for _, n := range list {
		n.children = s.prune(n.children)
	}
	return list
}

// parts returns the nodes that become stages. The children of a node may become stages only if a
// child passes nothing but its output to the next one. This holds in nn.Sequential. It is usual
// on the outermost level of a model, and where many modules of one class follow each other, such
// as the layers of a transformer. Residual connections are within blocks, which are not split.
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
