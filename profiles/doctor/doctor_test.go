package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/caching"
	"memtide/profiles"
)

const mib = engine.MiB

// tape makes a recording like that of PyTorch's allocator, with the addresses of a simulated cache.
type tape struct {
	t       *testing.T
	p       *profiles.Profile
	cache   *caching.Cache
	live    map[string]int
	reserve engine.Bytes
	calls   map[string]int32
}

func newTape(t *testing.T, limit engine.Bytes) *tape {
	m := &profiles.Memory{Requests: &alloc.Requests{}, Recorded: &alloc.Layout{}}
	h := &profiles.History{Stacks: profiles.Stacks{Frames: make([]profiles.Frame, 1),
		Calls: make([]profiles.Call, 1)}, Devices: []profiles.DeviceMemory{{Events: 1}}}
	return &tape{t: t, p: &profiles.Profile{Memory: m, History: h}, cache: caching.New(limit, caching.Rules{}), live: map[string]int{},
		calls: map[string]int32{}}
}

// stack returns the place given by its frames, outermost first: "file.py name; file.py name".
func (x *tape) stack(text string) (at int32) {
	if text == "" {
		return 0
	}
	s := &x.p.History.Stacks
	path := ""
	for _, part := range strings.Split(text, "; ") {
		path += ";" + part
		if _, ok := x.calls[path]; !ok {
			file, name, _ := strings.Cut(part, " ")
			s.Frames = append(s.Frames, profiles.Frame{File: file, Name: name})
			s.Calls = append(s.Calls, profiles.Call{Parent: at, Frame: int32(len(s.Frames) - 1)})
			x.calls[path] = int32(len(s.Calls) - 1)
		}
		at = x.calls[path]
	}
	return at
}

func (x *tape) event(e alloc.Event) {
	q, l := x.p.Memory.Requests, x.p.Memory.Recorded
	if held := x.cache.Reserved(); held != x.reserve || len(q.Events) == 0 {
		l.Reserved = append(l.Reserved, alloc.Level{Event: len(q.Events), Bytes: held})
		x.reserve = held
	}
	q.Events = append(q.Events, e)
	x.p.History.Times = append(x.p.History.Times, int64(10*len(x.p.History.Times)))
}

// ask requests bytes from the stack and keeps the buffer under name. The request may fail.
func (x *tape) ask(name string, bytes engine.Bytes, stack string) {
	q, l := x.p.Memory.Requests, x.p.Memory.Recorded
	i := len(q.Buffers)
	at, took, ok := x.cache.Alloc(bytes)
	site := stack[strings.LastIndex(stack, ";")+1:]
	q.Buffers = append(q.Buffers, alloc.Buffer{Name: strings.TrimSpace(site), Bytes: bytes, Start: len(q.Events),
		End: 1 << 40})
	l.Addr, l.Took = append(l.Addr, at), append(l.Took, took)
	x.p.History.Stack, x.p.History.Streams = append(x.p.History.Stack, x.stack(stack)), append(x.p.History.Streams, 0)
	if !ok {
		_, free := engine.Bytes(0), engine.Bytes(0)
		l.Failed = &alloc.Failure{Event: len(q.Events), Buffer: i, Bytes: bytes, Free: free}
	}
	x.live[name] = i
	x.event(alloc.Event{Buffer: i})
}

func (x *tape) free(name string) {
	i := x.live[name]
	if err := x.cache.Free(x.p.Memory.Recorded.Addr[i]); err != nil {
		x.t.Fatal(err)
	}
	x.p.Memory.Requests.Buffers[i].End = len(x.p.Memory.Requests.Events)
	x.event(alloc.Event{Buffer: i, Free: true})
}

// done ends the recording. segments are those that exist at its end, and deviceFree is the device memory that was
// not reserved if a request failed.
func (x *tape) done(deviceFree engine.Bytes, segments ...profiles.Segment) *profiles.Profile {
	q := x.p.Memory.Requests
	for i := range q.Buffers {
		q.Buffers[i].End = min(q.Buffers[i].End, len(q.Events))
	}
	for i := range segments {
		segments[i].To = len(q.Events)
	}
	x.p.Memory.Segments = segments
	if f := x.p.Memory.Recorded.Failed; f != nil {
		f.Unreserved = deviceFree
	}
	return x.p
}

func examine(t *testing.T, p *profiles.Profile) *Report {
	t.Helper()
	r, err := Examine(p, Decisive, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	inForward  = "train.py main; torch/nn/modules/module.py _call_impl; net.py forward"
	inBackward = "train.py main; torch/autograd/__init__.py backward; other.py hook"
	inOptim    = "train.py main; torch/optim/adamw.py _init_group"
	inBuild    = "train.py main; torch/nn/modules/linear.py __init__"
)

// TestCategories checks that live memory is categorised by stack or, without a stack, by its lifetime. Guesses
// are counted separately.
func TestCategories(t *testing.T) {
	x := newTape(t, engine.NoLimit)
	x.ask("old", 7*mib, "")
	x.ask("oldfreed", 3*mib, "")
	x.p.Memory.Before = 2
	x.ask("w", 1*mib, inBuild)
	x.ask("a", 2*mib, inForward)
	x.ask("t", 5*mib, inForward)
	x.free("t")
	x.ask("g", 4*mib, inBackward)
	x.ask("thread", 6*mib, "") // a gradient: autograd's thread has no Python
	x.ask("o", 8*mib, inOptim)
	x.ask("else", 9*mib, "data.py load")
	x.free("oldfreed")
	r := examine(t, x.done(0))
	want := []Share{{Weights, 8 * mib, 2, 7 * mib}, {Gradients, 10 * mib, 2, 6 * mib}, {Optimizer, 8 * mib, 1, 0},
		{Activations, 2 * mib, 1, 0}, {Unknown, 12 * mib, 2, 0}}
	if got, _ := json.Marshal(r.Alive.Categories); string(got) != jsonOf(want) {
		t.Errorf("got %s\nwant %s", got, jsonOf(want))
	}
	if r.Peak != 40*mib || r.Alive.At != r.PeakAt || r.PeakAt != 9 || r.Alive.Bytes != r.Peak {
		t.Errorf("peak %d at %d, alive %d at %d; want 40 MiB at 9, both", r.Peak, r.PeakAt, r.Alive.Bytes, r.Alive.At)
	}
	early, err := Examine(x.p, 4, nil) // while t is alive
	if err != nil {
		t.Fatal(err)
	}
	last := early.Alive.Categories[len(early.Alive.Categories)-2]
	if last != (Share{Temporaries, 5 * mib, 1, 0}) {
		t.Errorf("after event 4: %+v, want 5 MiB of temporaries", early.Alive.Categories)
	}
}

func jsonOf(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// TestFlame checks that bytes add up along the calls. A call contains what it calls, and has the category that
// holds most of its bytes.
func TestFlame(t *testing.T) {
	x := newTape(t, engine.NoLimit)
	x.ask("a", 2*mib, "train.py main; net.py left")
	x.ask("b", 3*mib, "train.py main; net.py right")
	x.ask("c", 1*mib, "train.py main")
	x.ask("d", 4*mib, "")
	want := &Flame{"all", Unknown, 10 * mib, []*Flame{
		{"train.py main", Unknown, 6 * mib,
			[]*Flame{{"net.py right", Unknown, 3 * mib, nil}, {"net.py left", Unknown, 2 * mib, nil}}},
		{"no stack recorded", Gradients, 4 * mib, nil}}}
	if got := jsonOf(examine(t, x.done(0)).Alive.Flame); got != jsonOf(want) {
		t.Errorf("got %s\nwant %s", got, jsonOf(want))
	}
}

// TestLayersAreNoSteps checks that repeated requests of the layers of one forward are not taken for steps.
func TestLayersAreNoSteps(t *testing.T) {
	x := newTape(t, engine.NoLimit)
	for i := range 12 {
		x.ask(string(rune('a'+i)), 8*mib, inForward)
	}
	x.ask("grad", 8*mib, inBackward)
	if r := examine(t, x.done(0)); r.Growth != nil {
		t.Errorf("12 layers and a backward: growth %+v; want no steps", r.Growth)
	}
}

// TestPieces checks that a Report, Replays and advice computed one by one are the same as what Examine returns.
func TestPieces(t *testing.T) {
	want := examine(t, failing(t))
	if n := len(settings); n != Settings {
		t.Fatalf("there are %d settings, and Settings is %d", n, Settings)
	}
	r, err := Read(failing(t))
	if err != nil {
		t.Fatal(err)
	}
	got := r.Report(Decisive)
	for i := range Settings {
		v, err := r.Replay(Settings-1-i, nil)
		if err != nil {
			t.Fatal(err)
		}
		got.Replays = append([]Replay{v}, got.Replays...)
	}
	if got.Advice, err = r.Advise(engine.NewPoll(engine.LimitCalls(t.Context(), 0), nil)); err != nil {
		t.Errorf("after all replays the advice fails with %v; want that nothing is replayed again", err)
	}
	if jsonOf(got) != jsonOf(want) {
		t.Errorf("got %s\nwant %s", jsonOf(got), jsonOf(want))
	}
}

// failing returns a recording that requests 30 MiB while 40 MiB are free in two holes of 20.
func failing(t *testing.T) *profiles.Profile {
	x := newTape(t, 80*mib)
	x.ask("big", 80*mib, inForward)
	x.free("big")
	for _, name := range []string{"a", "b", "c", "d"} {
		x.ask(name, 20*mib, "net.py "+name)
	}
	x.free("a")
	x.free("c")
	x.ask("x", 30*mib, "net.py attention")
	return x.done(0, profiles.Segment{Addr: 0, Size: 80 * mib})
}

// TestFailure checks the report of a failed request: the holes that were nearly large enough, and the buffers on
// both sides of them.
func TestFailure(t *testing.T) {
	f := examine(t, failing(t)).Failure
	want := &Failure{At: 8, Site: "net.py attention", Bytes: 30 * mib, InUse: 40 * mib, Reserved: 80 * mib,
		Free: 40 * mib, HoleCount: 2, Holes: []Hole{
			{Addr: 0, Bytes: 20 * mib, Missing: 10 * mib, Below: Neighbour{End: true},
				Above: Neighbour{Buffer: 2, Site: "net.py b", Category: Unknown, Bytes: 20 * mib, Age: 5, Stays: true}},
			{Addr: 40 * mib, Bytes: 20 * mib, Missing: 10 * mib,
				Below: Neighbour{Buffer: 2, Site: "net.py b", Category: Unknown, Bytes: 20 * mib, Age: 5, Stays: true},
				Above: Neighbour{Buffer: 4, Site: "net.py d", Category: Unknown, Bytes: 20 * mib, Age: 3, Stays: true}}}}
	if got := jsonOf(f); got != jsonOf(want) {
		t.Errorf("got %s\nwant %s", got, jsonOf(want))
	}
}

// TestAdvice checks that the advice names a setting under which all requests succeed, or by how much memory is
// exceeded.
func TestAdvice(t *testing.T) {
	r := examine(t, failing(t))
	if want := (Advice{Verdict: Setting, Line: "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
		Replayed: 80 * mib}); r.Advice != want {
		t.Errorf("in pieces: got %+v, want %+v; replays %s", r.Advice, want, jsonOf(r.Replays))
	}
	for _, v := range r.Replays {
		if v.Fits == nil || v.Setting == "" && *v.Fits || v.Setting == "expandable_segments:True" &&
			(!*v.Fits || v.Reserved != 80*mib) {
			t.Errorf("replay %s: want that the default does not fit and that expandable segments do, in 80 MiB",
				jsonOf(v))
		}
	}
	x := newTape(t, 80*mib)
	x.ask("a", 60*mib, inForward)
	x.ask("b", 30*mib, inForward)
	r = examine(t, x.done(0, profiles.Segment{Size: 60 * mib}))
	if want := (Advice{Verdict: TooMuch, Lacks: 30 * mib, Replayed: 60 * mib}); r.Advice != want {
		t.Errorf("too much: got %+v, want %+v", r.Advice, want)
	}
	x = newTape(t, engine.NoLimit)
	x.ask("a", 64*mib, inForward)
	x.free("a")
	x.ask("b", 12*mib, inForward)
	x.ask("c", 64*mib, inForward)
	r = examine(t, x.done(0, profiles.Segment{Size: 64 * mib}))
	if want := (Advice{Verdict: Setting, Line: "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", Saves: 48 * mib,
		Replayed: 128 * mib}); r.Advice != want || r.Capacity != 0 || r.Replays[0].Fits != nil {
		t.Errorf("nothing failed: got %+v of %d, want %+v; replays %s", r.Advice, r.PeakReserved, want,
			jsonOf(r.Replays))
	}
}

// steps records five steps. Each has an activation that is freed and a log entry that is kept if leak is "all".
func steps(t *testing.T, leak string) *profiles.Profile {
	x := newTape(t, engine.NoLimit)
	x.ask("w", 10*mib, inBuild)
	x.p.Memory.Before = 1
	for i := range 5 {
		x.ask("a", 4*mib, inForward)
		x.ask("b", 6*mib, inBackward)
		if i == 0 {
			x.ask("state", 20*mib, inOptim) // requested once and kept: no leak
		}
		x.ask("l", 3*mib, "train.py log_loss")
		if leak == "all" {
			x.live["l"] = -1
		} else {
			x.free("l")
		}
		x.free("b")
		x.free("a")
	}
	return x.done(0)
}

// TestGrowth checks that a site whose memory is kept in every step is named with its bytes per step. A buffer
// that is made once is not reported.
func TestGrowth(t *testing.T) {
	want := &Growth{Steps: 5, PerStep: 3 * mib,
		Leaks: []Leak{{Site: "train.py log_loss", Category: Unknown, PerStep: 3 * mib, Count: 4, Bytes: 12 * mib}}}
	if got := examine(t, steps(t, "all")).Growth; jsonOf(got) != jsonOf(want) {
		t.Errorf("got %s\nwant %s", jsonOf(got), jsonOf(want))
	}
	want = &Growth{Steps: 5}
	if got := examine(t, steps(t, "none")).Growth; jsonOf(got) != jsonOf(want) {
		t.Errorf("without a leak: got %s\nwant %s", jsonOf(got), jsonOf(want))
	}
	if got := examine(t, failing(t)).Growth; got != nil {
		t.Errorf("without steps: got %s, want nothing", jsonOf(got))
	}
}

// TestCompare checks the comparison of two recordings: both on one axis, and the differences by site.
func TestCompare(t *testing.T) {
	c, err := Compare(steps(t, "none"), steps(t, "all"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Difference{"train.py log_loss", 3 * mib, 15 * mib}
	if c.Sites[0] != want || c.Axis != ByTime || c.End != 310 || c.Categories[0].More() != 15*mib {
		t.Errorf("got %+v, axis %s to %d, categories %+v; want %+v, time to 310", c.Sites, c.Axis, c.End,
			c.Categories, want)
	}
	if p := c.Second.Curve[0]; p.Event != 0 || p.InUse != 10*mib || c.Second.Curve[1].Time != 10 {
		t.Errorf("the curve begins with %+v, want 10 MiB at event 0, then 10 us", p)
	}
}

// TestNoRecording checks that files without a history are refused, and that a cancelled poll ends the examination.
func TestNoRecording(t *testing.T) {
	p := &profiles.Profile{Memory: &profiles.Memory{Requests: &alloc.Requests{}}}
	if _, err := Examine(p, Decisive, nil); !errors.Is(err, ErrNoRecording) {
		t.Errorf("got %v, want %v", err, ErrNoRecording)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Examine(failing(t), Decisive, engine.NewPoll(ctx, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: got %v, want %v", err, context.Canceled)
	}
}

// TestGrows checks that numbers that fall once do not count as growth, nor numbers that rise too rarely.
func TestGrows(t *testing.T) {
	for _, c := range []struct {
		list []engine.Bytes
		want bool
	}{
		{[]engine.Bytes{1, 2, 3, 4, 5}, true},
		{[]engine.Bytes{1, 2, 3, 3, 4}, true},
		{[]engine.Bytes{1, 2, 3, 2, 4, 5, 6, 7, 8, 9, 10}, false},
		{[]engine.Bytes{1, 1, 1, 1, 2}, false},
		{[]engine.Bytes{1, 1}, false},
	} {
		if got := grows(c.list); got != c.want {
			t.Errorf("%v grows: %v, want %v", c.list, got, c.want)
		}
	}
}
