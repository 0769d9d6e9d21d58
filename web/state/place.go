package state

import (
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/hostmem"
	"memtide/wasm/proto"
	"memtide/web/draw"
)

// DefaultAllocator is the allocator of an address view that has just been opened.
const DefaultAllocator = "best-fit"

// DefaultDensity is the part of an offloaded value that is not zero, in per cent,
// unless a person says otherwise: about what rectifiers leave.
const DefaultDensity = 50

// searching is the allocator that searches, and says when it was stopped what it
// has found. placeLimit is how long it may take; longLimit if a person asks for
// more.
const (
	searching  = "optimal"
	placeLimit = 5 * time.Second
	longLimit  = time.Minute
)

// What people do with the address view, and what workers answer.
type (
	// TogglePlaces opens the address view or closes it.
	TogglePlaces struct{}
	// SetAllocator chooses an allocator, with its default arguments; SetAllocArg
	// sets one of them.
	SetAllocator struct{ Name string }
	SetAllocArg  struct{ Name, Value string }
	// StopPlacing gives a placement up, PlaceAgain asks for it with more time.
	StopPlacing struct{}
	PlaceAgain  struct{}
	// SortAlive sorts the table of what is there at the peak.
	SortAlive struct{ By draw.AliveBy }
	// SetPlayhead chooses the moment that the map shows.
	SetPlayhead struct{ At time.Duration }
	// SetDensity says how much of an offloaded value is not zero, in per cent.
	SetDensity struct{ Percent int }

	// PlaceProgressed is an allocator at work, Placed a placement.
	PlaceProgressed struct {
		ID       int
		Progress proto.Progress
	}
	Placed struct {
		ID     int
		Placed *proto.Placed
	}
	// PlaceFailed is a request without a placement, except for Best if a deadline
	// passed.
	PlaceFailed struct {
		ID      int
		Failure *proto.Failure
		Best    *proto.Placed
	}
)

func (TogglePlaces) message()    {}
func (SetAllocator) message()    {}
func (SetAllocArg) message()     {}
func (StopPlacing) message()     {}
func (PlaceAgain) message()      {}
func (SortAlive) message()       {}
func (SetPlayhead) message()     {}
func (SetDensity) message()      {}
func (PlaceProgressed) message() {}
func (Placed) message()          {}
func (PlaceFailed) message()     {}

// Place asks a worker where buffers lie.
type Place struct {
	ID      int
	Request proto.Place
}

func (Place) effect() {}

// Memory is a file about addresses that is open instead of a network.
type Memory struct {
	File   string
	Data   *proto.Memory
	Format string
	Lint   []string

	end    time.Duration // of the time axis
	places map[string]*Places
}

func newMemory(file string, r *proto.Opened) *Memory {
	m := &Memory{File: file, Data: r.Memory, Format: r.Format, Lint: r.Lint}
	end := m.Data.Buffers.Zero
	for i := range m.Data.Buffers.List {
		end = max(end, m.Data.Buffers.List[i].End)
	}
	m.end = max(m.Data.Buffers.At(end), 1)
	return m
}

// Places is a placement of what a picture or a file holds.
type Places struct {
	Allocator string
	Placed    *proto.Placed  // nil if there is none: Failure says why
	Failure   *proto.Failure // also beside the best so far of a search that was stopped
	of        placeKey
	model     *draw.Places
	density   int // of the model
}

// Placing is a placement that is being looked for.
type Placing struct {
	ID       int
	Progress proto.Progress
	of       placeKey
}

// placeKey identifies a placement.
type placeKey struct {
	picture *Picture
	memory  *Memory
	method  string
}

// Allocator is the allocator of the address view; empty if that is closed.
func (s *State) Allocator() string {
	switch {
	case s.Choice.Alloc == proto.Recorded && (s.Memory == nil || s.Memory.Data.Recorded == nil):
		return DefaultAllocator
	case s.Choice.Alloc != "" || s.Memory == nil:
		return s.Choice.Alloc
	case s.Memory.Data.Recorded != nil:
		return proto.Recorded
	}
	return DefaultAllocator
}

// followPlaces sees to it that the address view, if it is open, shows what the
// page shows. It is asked after every message.
func (s *State) followPlaces() []Effect {
	name := s.Allocator()
	ready := s.Memory != nil || s.Shown != nil && s.Shown.Network == s.Network && !(s.Shown.Partial && s.Solving != nil)
	if name == "" || !ready {
		if name == "" {
			s.Places = nil
		}
		return s.cancelPlacing()
	}
	want := placeKey{s.Shown, s.Memory, methodKey(name, s.Choice.AllocArgs)}
	switch {
	case s.Placing != nil && s.Placing.of == want:
		return nil
	case s.Places != nil && s.Places.of == want:
		return s.cancelPlacing()
	}
	out := s.cancelPlacing()
	if p := s.knownPlaces(want); p != nil {
		s.Places = p
		s.touch()
		return out
	}
	limit := time.Duration(0)
	if name == searching {
		limit = placeLimit
	}
	return append(out, s.askPlaces(want, limit)...)
}

func (s *State) cancelPlacing() []Effect {
	if s.Placing == nil {
		return nil
	}
	id := s.Placing.ID
	s.Placing = nil
	s.DOM++
	return []Effect{Cancel{id}}
}

// knownPlaces is a placement that was found before.
func (s *State) knownPlaces(of placeKey) *Places {
	if of.memory == nil {
		return of.picture.places[of.method]
	}
	if s.Allocator() == proto.Recorded {
		return &Places{Allocator: proto.Recorded, Placed: of.memory.Data.Recorded, of: of}
	}
	return of.memory.places[of.method]
}

// keep remembers a placement for as long as its picture.
func (p *Places) keep() {
	known := &p.of.memory
	if *known == nil {
		if p.of.picture.places == nil {
			p.of.picture.places = map[string]*Places{}
		}
		p.of.picture.places[p.of.method] = p
		return
	}
	if (*known).places == nil {
		(*known).places = map[string]*Places{}
	}
	(*known).places[p.of.method] = p
}

// askPlaces asks for a placement.
func (s *State) askPlaces(of placeKey, limit time.Duration) []Effect {
	s.lastID++
	s.DOM++
	s.Placing = &Placing{ID: s.lastID, of: of}
	q := proto.Place{Allocator: s.Allocator(), Args: s.Choice.AllocArgs, Limit: limit}
	if of.memory != nil {
		q.Buffers, q.Pool = of.memory.Data.Buffers, of.memory.Data.Capacity
		return []Effect{Place{ID: s.lastID, Request: q}}
	}
	q.Setting = s.setting(of.picture.Choice)
	q.Budget, q.Schedule = of.picture.Solved.Budget, of.picture.Solved.Schedule
	return []Effect{Place{ID: s.lastID, Request: q}}
}

// updatePlaces handles the messages of the address view; false for others.
func (s *State) updatePlaces(m Message) ([]Effect, bool) {
	c := s.Choice
	switch m := m.(type) {
	case TogglePlaces:
		if c.Alloc = s.Allocator(); c.Alloc == "" {
			c.Alloc = DefaultAllocator
		} else if s.Memory == nil {
			c.Alloc, c.AllocArgs = "", nil
		}
		return s.chooseAllocator(c), true
	case SetAllocator:
		c.Alloc, c.AllocArgs = m.Name, nil
		return s.chooseAllocator(c), true
	case SetAllocArg:
		c.Alloc, c.AllocArgs = s.Allocator(), withAllocArg(s.Allocator(), c.AllocArgs, m.Name, m.Value)
		return s.chooseAllocator(c), true
	case SortAlive:
		s.View.AliveBy = m.By
	case SetPlayhead:
		s.View.Playhead = m.At
		s.Paint++
		s.DOM++
		return []Effect{WriteURL{Replace}}, true
	case SetDensity:
		s.View.Density = min(max(m.Percent, 0), 100) + 1
		s.Draft = Draft{}
		s.Paint++
	case StopPlacing:
		if p := s.Placing; p != nil {
			s.Places = &Places{Allocator: s.Allocator(), of: p.of, Failure: proto.Fail(proto.Deadline, "Given up before there was a placement.")}
			s.Paint++
			return s.cancelPlacing(), true
		}
	case PlaceAgain:
		if p := s.Places; p != nil && p.Failure != nil && s.Placing == nil {
			return s.askPlaces(p.of, longLimit), true
		}
	case PlaceProgressed, Placed, PlaceFailed:
		s.placed(m)
		return nil, true
	default:
		return nil, false
	}
	s.DOM++
	return nil, true
}

// chooseAllocator makes c the choice, of which only the allocator is new.
func (s *State) chooseAllocator(c Choice) []Effect {
	s.Choice, s.Draft = c, Draft{}
	s.touch()
	return []Effect{WriteURL{Replace}}
}

// placed takes the answers of workers. Those to older questions are dropped.
func (s *State) placed(m Message) {
	p := s.Placing
	if p == nil {
		return
	}
	done := &Places{Allocator: s.Allocator(), of: p.of}
	switch m := m.(type) {
	case PlaceProgressed:
		if m.ID == p.ID {
			p.Progress = m.Progress
			s.DOM++
		}
		return
	case Placed:
		if m.ID != p.ID {
			return
		}
		done.Placed = m.Placed
		done.keep()
	case PlaceFailed:
		if m.ID != p.ID {
			return
		}
		done.Placed, done.Failure = m.Best, m.Failure
	}
	s.Placing, s.Places = nil, done
	s.touch()
}

// withAllocArg is a copy of args in which name has a value; the default is left
// out.
func withAllocArg(allocator string, args engine.Args, name, value string) engine.Args {
	out := engine.Args{}
	for k, v := range args {
		out[k] = v
	}
	out[name] = value
	if a := alloc.Lookup(allocator); a != nil {
		for _, p := range a.Params {
			if p.Name == name && p.Default == value {
				delete(out, name)
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// AllocArgs is args without what is the default of an allocator.
func AllocArgs(allocator string, args engine.Args) (out engine.Args) {
	for name, value := range args {
		out = withAllocArg(allocator, out, name, value)
	}
	return out
}

// openedMemory shows a file about addresses: nothing else of the page applies.
func (s *State) openedMemory(o *Opening, r *proto.Opened) []Effect {
	out := append(s.cancelSweep(), s.dropQuestions()...)
	if s.Solving != nil {
		out = append(out, Cancel{s.Solving.ID})
	}
	s.Solving, s.Curve, s.Preview, s.Shown, s.Network, s.hover = nil, nil, nil, nil, nil, ""
	s.OverBudget, s.Alert, s.Draft = nil, nil, Draft{}
	file := o.Choice.Source.File
	if file == "" {
		file = r.Memory.Name
	}
	s.Memory = newMemory(file, r)
	s.View.Selected, s.View.Trail = draw.Target{}, nil
	if o.History != Leave {
		s.View.From, s.View.To, s.View.Playhead = 0, 0, 0
		s.View.Frame.Title = o.Title
	}
	if o.Choice.Source.Preset != "" {
		s.Choice = o.Choice
	} else {
		s.Choice.Source, s.Choice.Alloc, s.Choice.AllocArgs = Source{File: file}, "", nil
	}
	s.touch()
	return append(out, WriteURL{o.History})
}

// End is where the time axis ends; 0 if nothing is shown.
func (s *State) End() time.Duration {
	if s.Memory != nil {
		return s.Memory.end
	}
	if p := s.Visible(); p != nil && p.Solved.Trace != nil {
		return s.Compare.end(p.Solved.Trace.Makespan)
	}
	return s.Compare.end(0)
}

// Density is how much of an offloaded value is not zero, in per cent.
func (s *State) Density() int {
	if s.View.Density == 0 {
		return DefaultDensity
	}
	return s.View.Density - 1
}

// Compression is what zero-value compression on the host would mean to the
// schedule that is shown; false if nothing is offloaded.
func (s *State) Compression() (hostmem.Step, bool) {
	p := s.Shown
	if p == nil || p.Solved.Trace == nil || p.Solved.Trace.HostPeak == 0 {
		return hostmem.Step{}, false
	}
	values := p.Network.Graph.Values
	step := hostmem.ZeroValue{Density: s.Density()}.Of(p.Solved.Trace, func(v engine.ValueID) engine.Bytes {
		if v < 0 || int(v) >= len(values) {
			return 0
		}
		return values[v].Size
	})
	return step, true
}

// PlacesModel is the placement, arranged for drawing; nil if there is none yet.
func (s *State) PlacesModel() *draw.Places {
	p := s.Places
	if p == nil || p.Placed == nil {
		return nil
	}
	if p.model == nil || p.density != s.Density() && p.of.memory == nil {
		p.density = s.Density()
		p.model = draw.NewPlaces(p.placement(hostmem.ZeroValue{Density: p.density}))
	}
	return p.model
}

// placement is the placement in the terms of the pictures.
func (p *Places) placement(z hostmem.ZeroValue) draw.Placement {
	out := draw.Placement{Pool: p.Placed.Pool, PeakAt: p.Placed.PeakAt}
	out.Blocks = make([]draw.Block, len(p.Placed.Pieces))
	if m := p.of.memory; m != nil {
		b := m.Data.Buffers
		out.End, out.Tick = m.end, b.Tick
		out.Name = func(i int) (string, string) { return b.List[i].Name, "" }
		for i, x := range p.Placed.Pieces {
			l := &b.List[x.Buffer]
			out.Blocks[i] = draw.Block{Buffer: x.Buffer, From: b.At(l.Start), To: b.At(l.End), Addr: x.Addr, Bytes: x.Bytes, Asked: l.Bytes, Kind: l.Kind}
		}
	} else {
		t, model := p.of.picture.Solved.Trace, p.of.picture.Model()
		out.End, out.Name = t.Makespan, model.LifeName
		out.Host, out.Packed = t.Host, z.Held(t.Host)
		for i, x := range p.Placed.Pieces {
			l := &t.Lives[x.Buffer]
			out.Blocks[i] = draw.Block{Buffer: x.Buffer, From: l.Start, To: l.End, Addr: x.Addr, Bytes: x.Bytes, Asked: l.Bytes, Kind: l.Category}
		}
	}
	out.Levels = make([]draw.Level, len(p.Placed.Moments))
	for i, m := range p.Placed.Moments {
		out.Levels[i] = draw.Level(m)
	}
	if f := p.Placed.Failed; f != nil {
		out.Failed = &draw.FailedRequest{At: p.Placed.FailAt, Buffer: f.Buffer, Bytes: f.Bytes, Largest: f.Largest, Free: f.Free, HoleAt: p.Placed.Largest.Addr}
	}
	return out
}
