package snapshot

import (
	"path"
	"slices"
	"strings"

	"memtide/profiles"
)

// stacks are the call stacks of a snapshot, equal ones once, and what they are called.
type stacks struct {
	profiles.Stacks
	known  map[uint64]int32 // the newest stack with a sum over its frames
	calls  map[profiles.Call]int32
	frames map[profiles.Frame]int32
	places map[framePlace]int32
	names  map[int32]string // of calls, once they were asked for
}

// framePlace is a frame by the numbers of its texts.
type framePlace struct {
	file, name pval
	line       int64
}

func (s *stacks) init() {
	s.known, s.calls, s.frames, s.places = map[uint64]int32{}, map[profiles.Call]int32{}, map[profiles.Frame]int32{},
		map[framePlace]int32{}
	s.names = map[int32]string{}
	s.Frames, s.Calls = make([]profiles.Frame, 1), make([]profiles.Call, 1)
}

// frameRoom is about what a frame takes, placeRoom and callRoom what another way to say
// it and a call do, and briefText how much of a text is kept: texts are shared, and a
// long one may be named often. Stacks are as deep as Python's, and a little deeper.
const (
	frameRoom = 600
	placeRoom = 60
	callRoom  = 60
	briefText = 200
	mostDeep  = 1100
)

// stackFor returns the stack of a list of frames, innermost first.
func (u *unpickler) stackFor(items []pval) (at int32) {
	s := &u.stacks
	sum := uint64(14695981039346656037) // FNV-1a, by words
	for _, v := range items {
		sum = (sum ^ uint64(v)) * 1099511628211
	}
	if at, ok := s.known[sum]; ok && s.is(at, items) {
		return at
	}
	for _, v := range slices.Backward(items) {
		if v.kind() == pvFrame {
			at = u.call(profiles.Call{Parent: at, Frame: int32(v.index())})
		}
	}
	u.built += callRoom // if that is too much, the next object says so
	s.known[sum] = at
	return at
}

// is reports whether a stack is that of a list of frames, innermost first.
func (s *stacks) is(at int32, items []pval) bool {
	for _, v := range items {
		if v.kind() != pvFrame {
			continue
		}
		if at == 0 || s.Calls[at].Frame != int32(v.index()) {
			return false
		}
		at = s.Calls[at].Parent
	}
	return at == 0
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

// frameOf returns the place of a frame among the stacks.
func (u *unpickler) frameOf(r *record) int32 {
	s, p := &u.stacks, framePlace{r.a, r.b, r.at}
	if at, ok := s.places[p]; ok {
		return at
	}
	file, name := u.text(r.a), u.text(r.b)
	f := profiles.Frame{Line: int(max(0, min(r.at, 1<<31-1))),
		File: profiles.CleanText(strings.ReplaceAll(file[max(0, len(file)-briefText):], `\`, "/")),
		Name: profiles.CleanText(name[:min(len(name), briefText)])}
	at, ok := s.frames[f]
	if !ok {
		at = int32(len(s.Frames))
		s.Frames = append(s.Frames, f)
		s.frames[f] = at
		u.built += frameRoom
	}
	s.places[p] = at
	u.built += placeRoom
	return at
}

// name returns the text for a stack.
func (s *stacks) name(stack int32) string {
	name, ok := s.names[stack]
	if !ok {
		name = profiles.Clip(s.describe(stack))
		s.names[stack] = name
	}
	return name
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
			if what != "" {
				what += ", "
			}
			return what + f.Text()
		}
	}
	switch {
	case back != nil:
		return strings.TrimPrefix(back.Name, "torch::autograd::generated::")
	case python != nil:
		return python.Text()
	}
	return ""
}

// libraries are parts of the paths of PyTorch and of Python itself.
var libraries = []string{"-packages/torch/", "pytorch/torch/", "torch/nn/", "torch/optim/", "torch/autograd/",
	"torch/utils/", "<frozen", "<eval_with_key>"}

func isLibrary(file string) bool {
	for _, part := range libraries {
		if strings.Contains(file, part) {
			return true
		}
	}
	return strings.Contains(file, "lib/python3") && !strings.Contains(file, "-packages/")
}

// module returns the word for a frame in PyTorch that says what was computed: the
// function of functional.py, the file of a module or of an optimizer.
func module(f *profiles.Frame) string {
	switch {
	case strings.HasSuffix(f.File, "torch/nn/functional.py"):
		return f.Name
	case strings.HasSuffix(f.File, "torch/nn/modules/module.py"):
		return "" // every module goes through it
	case strings.Contains(f.File, "torch/nn/modules/"), strings.Contains(f.File, "torch/optim/"):
		return strings.TrimSuffix(path.Base(f.File), ".py")
	}
	return ""
}
