package snapshot

import (
	"iter"
	"math"
	"path"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// event is an event of the allocator.
type event struct {
	at, size int64
	time     int64 // as recorded; 0 if not recorded
	stack    int32
	stream   int16
	is       snapWord
}

// trace is the list of the newest events of a device that concern addresses.
type trace struct {
	number int
	count  int           // number of all items in the list
	events chunks[event] // ring of the kept events
	cut    int           // number of events that were dropped
	failed bool          // a request found no room
	bad    string        // what is wrong with the first invalid item
	badAt  int
}

// add adds an event with its stack. If most events are kept already, it drops the oldest one.
func (t *trace) add(r *record, stack int32, most int) {
	t.count++
	t.failed = t.failed || r.is == actionOOM
	if r.is == unknownWord || r.is == actionFreeRequested {
		return
	}
	if r.is == actionOOM && r.has&hasAt == 0 {
		r.has, r.at = r.has|hasAt, 0
	}
	if bad := misplaced(r); bad != "" {
		t.wrong(bad)
		return
	}
	e := event{at: r.at, size: r.size, stack: stack, stream: r.stream, is: r.is}
	if r.b.kind() == pvInt {
		e.time = r.b.int()
	}
	if t.events.n < most {
		t.events.add(e)
		return
	}
	*t.at(0) = e
	t.cut++
}

// at returns kept event i, counted from the oldest.
func (t *trace) at(i int) *event { return t.events.at((t.cut + i) % t.events.n) }

// skip counts an item that is not an event. It has to be a dictionary.
func (t *trace) skip(v pval) {
	t.count++
	if v.kind() != pvDict && v.kind() != pvFrame {
		t.wrong("is not a dictionary")
	}
}

func (t *trace) wrong(what string) {
	if t.bad == "" {
		t.bad, t.badAt = what, t.count-1
	}
}

// all returns the kept events, the oldest first.
func (t *trace) all() iter.Seq[*event] {
	return func(yield func(*event) bool) {
		for i := 0; i < t.events.n && yield(t.at(i)); i++ {
		}
	}
}

// backward returns the kept events, the newest first.
func (t *trace) backward() iter.Seq[*event] {
	return func(yield func(*event) bool) {
		for i := t.events.n - 1; i >= 0 && yield(t.at(i)); i-- {
		}
	}
}

// emptying is a sequence of releases of segments.
type emptying struct {
	event int
	sure  bool         // the program called empty_cache
	need  engine.Bytes // the bytes that would have been reserved without these releases
}

// emptyingFinder finds the sequences of releases.
type emptyingFinder struct {
	s     *snapshot
	calls []bool // by stack: it is within empty_cache
	open  bool   // the event before released a segment
}

func newEmptyings(s *snapshot) *emptyingFinder {
	stacks := &s.u.stacks.Stacks
	f := &emptyingFinder{s: s, calls: make([]bool, len(stacks.Calls))}
	for i := 1; i < len(stacks.Calls); i++ { // a stack comes after its parent
		c := stacks.Calls[i]
		f.calls[i] = f.calls[c.Parent] || stacks.Frames[c.Frame].Name == "empty_cache"
	}
	return f
}

// see handles the next event, before it is played.
func (f *emptyingFinder) see(e *event) {
	s := f.s
	if e.is == actionUnreserve {
		if !f.open {
			s.emptied = append(s.emptied, emptying{event: len(s.memory.Requests.Events), need: engine.Bytes(s.held)})
			f.open = true
		}
		last := &s.emptied[len(s.emptied)-1]
		last.sure = last.sure || f.calls[e.stack]
		return
	}
	if f.open && e.is == actionReserve {
		s.emptied[len(s.emptied)-1].need += engine.Bytes(e.size)
	}
	if f.open && e.is == actionOOM {
		s.emptied[len(s.emptied)-1].need = math.MaxInt64
	}
	f.open = false
}

// emptyings returns the events before which the program emptied the cache. The allocator also releases segments itself,
// when it has to reserve more than it can, and when it collects garbage. So a release is not counted if the program
// then reserved more than ever was reserved; pressed reports whether there was such a release.
func (s *snapshot) emptyings() (list []int, pressed bool) {
	most := s.memory.Recorded.PeakReserved()
	collects := strings.Contains(s.history.Settings, "garbage_collection_threshold")
	for _, e := range s.emptied {
		if e.sure || !collects && e.need <= most {
			list = append(list, e.event)
		}
		pressed = pressed || !e.sure && !collects && e.need > most
	}
	return list, pressed
}

// stacks holds the call stacks of a snapshot without duplicates, and their names.
type stacks struct {
	profiles.Stacks
	known  map[uint64]int32 // newest stack by the hash of its frames
	calls  map[profiles.Call]int32
	frames map[profiles.Frame]int32
	places map[framePlace]int32
	names  map[int32]string // cache of name
}

// framePlace identifies a frame by the numbers of its texts.
type framePlace struct {
	file, name pval
	line       int64
}

// frameRoom, placeRoom and callRoom are the approximate memory of a frame, of another framePlace
// for a frame, and of a call. briefText is how many bytes of a text are kept in a frame: a long
// text may be in many frames. mostDeep is a little more than the depth of Python's stacks.
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
	u.built += callRoom // the next object reports an exceeded limit
	s.known[sum] = at
	return at
}

// is reports whether a stack consists of these frames, innermost first.
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

// frameOf returns the index of a frame in Frames.
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

func (s *stacks) name(stack int32) string {
	name, ok := s.names[stack]
	if !ok {
		name = profiles.Clip(s.describe(stack))
		s.names[stack] = name
	}
	return name
}

// describe returns the innermost Python frame outside PyTorch, with the module or function of
// PyTorch that it called: "conv, net.py:42 forward". Without such a frame, it returns the step
// of autograd, if C++ frames were recorded, or the innermost Python frame.
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

// libraries lists parts of the paths of PyTorch and Python.
var libraries = []string{"-packages/torch/", "pytorch/torch/", "torch/nn/", "torch/optim/", "torch/autograd/",
	"torch/utils/", "<frozen", "<eval_with_key>"}

func isLibrary(file string) bool {
	return slices.ContainsFunc(libraries, func(part string) bool { return strings.Contains(file, part) }) ||
		strings.Contains(file, "lib/python3") && !strings.Contains(file, "-packages/")
}

// module returns a word for the computation of a frame in PyTorch: the function of
// functional.py, or the file of a module or an optimizer. It returns "" for other frames.
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
