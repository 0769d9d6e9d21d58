package snapshot

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"memtide/profiles"
)

// stacks are the call stacks of a snapshot, equal ones once, and what they are called.
type stacks struct {
	profiles.Stacks
	known  map[uint64]int32 // the newest stack with a sum over its frames
	lists  map[uint64]namedList
	recent []namedList // of these, by a few bytes of their texts
	calls  map[profiles.Call]int32
	frames map[profiles.Frame]int32
	places map[framePlace]int32
	names  []string // of each call, once it was asked for
	named  []bool
}

// framePlace is a frame by the numbers of its texts.
type framePlace struct {
	file, name pval
	line       int64
}

func (s *stacks) init() {
	s.lists = map[uint64]namedList{}
	s.known, s.calls, s.frames, s.places = map[uint64]int32{}, map[profiles.Call]int32{}, map[profiles.Frame]int32{}, map[framePlace]int32{}
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

// stackFor is the stack of a list of frames, innermost first.
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

// namedList is a list of frames as it is written where all were named before, and its
// stack. Most lists of a snapshot are equal to such a one.
type namedList struct {
	text  string
	stack int32
}

// Lists that are known as they are written, and what one takes beside its text.
const (
	mostLists     = 1 << 16
	namedListRoom = 100
)

// namedFrames reads the items of an empty list up to and with the instruction that
// appends them, if they are all frames that are named by the memo. It says whether that
// is so; otherwise nothing is read.
func (u *unpickler) namedFrames(l *openList) bool {
	if len(l.items) > 0 || l.trace != nil || l.stack != noStack {
		return false
	}
	stack, n := u.namedStack(u.buf[u.lo:u.hi])
	if n == 0 {
		return false
	}
	l.stack, u.lo = stack, u.lo+n
	return true
}

// recentLists is how many lists are found by a few of their bytes, and sampled how many
// bytes these are taken from.
const (
	recentLists = 1 << 12
	sampled     = 64
)

// namedStack is the stack of items that are all frames named by the memo, and the bytes
// up to and with the instruction that appends them; 0 if they are not.
func (u *unpickler) namedStack(b []byte) (stack int32, n int) {
	var recent *namedList
	if u.renamed {
		return 0, 0
	}
	if len(b) >= sampled {
		if u.stacks.recent == nil {
			u.stacks.recent = make([]namedList, recentLists)
			u.built += recentLists * namedListRoom / 4
		}
		sum := binary.LittleEndian.Uint64(b) ^ binary.LittleEndian.Uint64(b[20:])*3 ^ binary.LittleEndian.Uint64(b[50:])*5
		recent = &u.stacks.recent[sum*1099511628211>>52%recentLists]
		if n := len(recent.text); n > 0 && n < len(b) && b[n] == 'e' && recent.text == string(b[:n]) {
			return recent.stack, n + 1
		}
	}
	for n < len(b) && (b[n] == 'j' || b[n] == 'h') {
		if n += 5; b[n-5] == 'h' {
			n -= 3
		}
	}
	if n >= len(b) || b[n] != 'e' || n == 0 {
		return 0, 0
	}
	list, ok := u.knownList(b[:n])
	if !ok {
		return 0, 0
	}
	if recent != nil {
		*recent = list
	}
	return list.stack, n + 1
}

// knownList is the list with a text, if its items are all frames.
func (u *unpickler) knownList(text []byte) (list namedList, ok bool) {
	sum, rest := uint64(14695981039346656037), text // FNV-1a, by words
	for ; len(rest) >= 8; rest = rest[8:] {
		sum = (sum ^ binary.LittleEndian.Uint64(rest)) * 1099511628211
	}
	for _, c := range rest {
		sum = (sum ^ uint64(c)) * 1099511628211
	}
	if known, ok := u.stacks.lists[sum]; ok && known.text == string(text) {
		return known, true
	}
	if list.stack, ok = u.nameFrames(text); !ok {
		return list, false
	}
	if len(u.stacks.lists) < mostLists {
		list.text = string(text)
		u.stacks.lists[sum] = list
		u.built += namedListRoom + len(text)
	}
	return list, true
}

// nameFrames finds the stack of a list of which all items are named; false if one is
// no frame.
func (u *unpickler) nameFrames(text []byte) (stack int32, ok bool) {
	var frames []pval
	for len(text) > 0 {
		i, n := int(text[1]), 2
		if text[0] == 'j' {
			i, n = int(binary.LittleEndian.Uint32(text[1:])), 5
		}
		if text = text[n:]; i >= u.memo.n {
			return 0, false
		}
		v := pval(*u.memo.at(i))
		if v.kind() != pvFrame {
			return 0, false
		}
		frames = append(frames, v)
	}
	return u.stackFor(frames[:min(len(frames), mostDeep)]), true
}

// spread makes the items of a list that has a stack, so that more can follow.
func (u *unpickler) spread(l *openList) {
	if l.stack == noStack {
		return
	}
	for at := l.stack; at > 0; at = u.stacks.Calls[at].Parent {
		l.items = append(l.items, indexed(pvFrame, int(u.stacks.Calls[at].Frame)))
	}
	l.framed, l.stack = len(l.items) > 0, noStack
}

// is says whether a stack is that of a list of frames, innermost first.
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

// frameOf is the place of a frame among the stacks.
func (u *unpickler) frameOf(r *record) int32 {
	s, p := &u.stacks, framePlace{r.a, r.b, r.at}
	if at, ok := s.places[p]; ok {
		return at
	}
	file, name := u.text(r.a), u.text(r.b)
	f := profiles.Frame{Line: int(max(0, min(r.at, 1<<31-1))),
		File: profiles.CleanText(strings.ReplaceAll(string(file[max(0, len(file)-briefText):]), `\`, "/")),
		Name: profiles.CleanText(string(name[:min(len(name), briefText)]))}
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

// name is the text for a stack.
func (s *stacks) name(stack int32) string {
	if s.names == nil {
		s.names, s.named = make([]string, len(s.Calls)), make([]bool, len(s.Calls))
	}
	if !s.named[stack] {
		s.names[stack], s.named[stack] = profiles.Clip(s.describe(stack)), true
	}
	return s.names[stack]
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
