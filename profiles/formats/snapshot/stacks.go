package snapshot

import (
	"slices"
	"strconv"
	"strings"

	"memtide/profiles"
)

// stacks are the call stacks of a snapshot, equal ones once, and what they are called.
type stacks struct {
	profiles.Stacks
	known  map[uint64][]stackKey // by a sum over the frames
	calls  map[profiles.Call]int32
	frames map[profiles.Frame]int32
	names  []string // of each call, once it was asked for
	named  []bool
}

// stackKey is a list of frames, innermost first, and its stack.
type stackKey struct {
	frames []pval
	stack  int32
}

func (s *stacks) init() {
	s.known, s.calls, s.frames = map[uint64][]stackKey{}, map[profiles.Call]int32{}, map[profiles.Frame]int32{}
	s.Frames, s.Calls = make([]profiles.Frame, 1), make([]profiles.Call, 1)
}

// frameRoom is about what a frame takes, callRoom what a call does, and briefText how
// much of a text is kept: texts are shared, and a long one may be named often. Stacks
// are as deep as Python's, and a little deeper.
const (
	frameRoom = 600
	callRoom  = 60
	briefText = 200
	mostDeep  = 1100
)

// stackOf turns a list of frames, innermost first, into a stack, and forgets the
// frames.
func (u *unpickler) stackOf(v pval) pval {
	if v.kind() != pvList {
		return pvOther
	}
	l := u.lists.at(v.index())
	if l.stack == pvOther {
		l.stack = indexed(pvStack, int(u.stackFor(l.items[:min(len(l.items), mostDeep)])))
		u.built -= itemRoom * len(l.items)
		l.items = nil
	}
	return l.stack
}

func (u *unpickler) stackFor(items []pval) (at int32) {
	sum := uint64(14695981039346656037) // FNV-1a, by words
	for _, v := range items {
		sum = (sum ^ uint64(v)) * 1099511628211
	}
	for _, k := range u.stacks.known[sum] {
		if slices.Equal(k.frames, items) {
			return k.stack
		}
	}
	for _, v := range slices.Backward(items) {
		if v.kind() == pvDict {
			if f := u.frameOf(u.dicts.at(v.index())); f > 0 {
				at = u.call(profiles.Call{Parent: at, Frame: f})
			}
		}
	}
	u.built += 8*len(items) + callRoom // if that is too much, the next object says so
	u.stacks.known[sum] = append(u.stacks.known[sum], stackKey{slices.Clone(items), at})
	return at
}

func (u *unpickler) call(c profiles.Call) int32 {
	s := &u.stacks
	at, ok := s.calls[c]
	if !ok {
		at = int32(len(s.Calls))
		s.Calls = append(s.Calls, c)
		s.calls[c] = at
		u.built += callRoom
	}
	return at
}

// frameOf is the place of a frame among the stacks; 0 of what is none.
func (u *unpickler) frameOf(r *record) int32 {
	if !r.isFrame {
		return 0
	}
	if r.size > 0 && r.has&hasSize == 0 {
		return int32(r.size)
	}
	file, name := u.text(r.a), u.text(r.b)
	f := profiles.Frame{Line: int(max(0, min(r.at, 1<<31-1))),
		File: profiles.CleanText(strings.ReplaceAll(string(file[max(0, len(file)-briefText):]), `\`, "/")),
		Name: profiles.CleanText(string(name[:min(len(name), briefText)]))}
	s := &u.stacks
	at, ok := s.frames[f]
	if !ok {
		at = int32(len(s.Frames))
		s.Frames = append(s.Frames, f)
		s.frames[f] = at
		u.built += frameRoom
	}
	if r.has&hasSize == 0 {
		r.size = int64(at)
	}
	return at
}

// name is the text for a stack; empty of anything else.
func (s *stacks) name(v pval) string {
	if v.kind() != pvStack || v.index() >= len(s.Calls) {
		return ""
	}
	if s.names == nil {
		s.names, s.named = make([]string, len(s.Calls)), make([]bool, len(s.Calls))
	}
	i := v.index()
	if !s.named[i] {
		s.names[i], s.named[i] = profiles.Clip(s.describe(int32(i))), true
	}
	return s.names[i]
}

// describe names the innermost Python frame outside PyTorch, with the module or
// function of PyTorch that it called: "conv, net.py:42 forward". Without such a
// frame it is the step of autograd that was running, if C++ was recorded, or the
// innermost Python frame.
func (s *stacks) describe(stack int32) string {
	var back, python *profiles.Frame
	what := ""
	for ; stack > 0; stack = s.Calls[stack].Parent {
		f := &s.Frames[s.Calls[stack].Frame]
		if f.File == "" {
			continue
		}
		switch {
		case !strings.HasSuffix(f.File, ".py") && f.File[0] != '<':
			if back == nil && strings.Contains(f.Name, "Backward") {
				back = f
			}
		case isLibrary(f.File):
			if what == "" {
				what = module(f)
			}
			if python == nil {
				python = f
			}
		default:
			return where(what, f)
		}
	}
	switch {
	case back != nil:
		return strings.TrimPrefix(back.Name, "torch::autograd::generated::")
	case python != nil:
		return where("", python)
	}
	return ""
}

// libraries are parts of the paths of PyTorch and of Python itself.
var libraries = []string{"-packages/torch/", "pytorch/torch/", "torch/nn/", "torch/optim/", "torch/autograd/", "torch/utils/", "<frozen", "<eval_with_key>"}

func isLibrary(file string) bool {
	for _, part := range libraries {
		if strings.Contains(file, part) {
			return true
		}
	}
	return strings.Contains(file, "lib/python3") && !strings.Contains(file, "-packages/")
}

// module is the word for a frame in PyTorch that says what was computed: the
// function of functional.py, the file of a module or of an optimizer.
func module(f *profiles.Frame) string {
	switch {
	case strings.HasSuffix(f.File, "torch/nn/functional.py"):
		return f.Name
	case strings.HasSuffix(f.File, "torch/nn/modules/module.py"):
		return "" // every module goes through it
	case strings.Contains(f.File, "torch/nn/modules/"), strings.Contains(f.File, "torch/optim/"):
		return strings.TrimSuffix(baseName(f.File), ".py")
	}
	return ""
}

func baseName(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// where writes a frame.
func where(what string, f *profiles.Frame) string {
	text := baseName(f.File)
	if what != "" {
		text = what + ", " + text
	}
	if f.Line > 0 {
		text += ":" + strconv.Itoa(f.Line)
	}
	if f.Name != "" {
		text += " " + f.Name
	}
	return text
}
