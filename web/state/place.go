package state

import (
	"time"

	"memtide/engine"
	"memtide/engine/hostmem"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/draw"
	"memtide/web/lookup"
)

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
	doctor *Doctor    // nil: it is no recording
	file   proto.Open // of a recording: as it was opened, and is read again if it has to be
}

func newMemory(file string, r *proto.Opened, from *proto.Open) *Memory {
	m := &Memory{File: file, Data: r.Memory, Format: r.Format, Lint: r.Lint}
	if m.Data.Told {
		m.doctor, m.file = new(Doctor), *from
	}
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

// layout is the part of the state about addresses.
type layout struct {
	Memory  *Memory  // a file about addresses is open, and no network
	Placing *Placing // addresses are being looked for
	Places  *Places  // where the bytes lie; nil while the address view is closed

	examining *examining // what is being asked about a recording; nil if nothing is
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
	case s.Choice.Alloc == choice.Recorded && (s.Memory == nil || s.Memory.Data.Recorded == nil):
		return choice.DefaultAllocator
	case s.Choice.Alloc != "" || s.Memory == nil:
		return s.Choice.Alloc
	case s.Memory.Data.Recorded != nil:
		return proto.Recorded
	}
	return choice.DefaultAllocator
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
	want := placeKey{s.Shown, s.Memory, choice.MethodKey(name, s.Choice.AllocArgs)}
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
	s.DOM++
	s.Placing = &Placing{ID: s.newID(), of: of}
	q := proto.Place{Allocator: s.Allocator(), Args: s.Choice.AllocArgs, Limit: limit}
	if of.memory != nil {
		q.Buffers, q.Pool = of.memory.Data.Buffers, of.memory.Data.Capacity
		return []Effect{Place{ID: s.Placing.ID, Request: q}}
	}
	q.Setting = s.Network.setting(of.picture.Choice)
	q.Budget, q.Schedule = of.picture.Solved.Budget, of.picture.Solved.Schedule
	return []Effect{Place{ID: s.Placing.ID, Request: q}}
}

// TogglePlaces opens the address view or closes it.
type TogglePlaces struct{}

func (TogglePlaces) apply(s *State) []Effect {
	switch name := s.Allocator(); {
	case name == "":
		return s.chooseAllocator(choice.DefaultAllocator, s.Choice.AllocArgs)
	case s.Memory == nil:
		return s.chooseAllocator("", nil)
	default:
		return s.chooseAllocator(name, s.Choice.AllocArgs)
	}
}

// SetAllocator chooses an allocator, with its default arguments.
type SetAllocator struct{ Name string }

func (m SetAllocator) apply(s *State) []Effect { return s.chooseAllocator(m.Name, nil) }

// SetAllocArg sets an argument of the allocator.
type SetAllocArg struct{ Name, Value string }

func (m SetAllocArg) apply(s *State) []Effect {
	name := s.Allocator()
	return s.chooseAllocator(name, choice.WithAllocArg(name, s.Choice.AllocArgs, m.Name, m.Value))
}

func (s *State) chooseAllocator(name string, args engine.Args) []Effect {
	s.Choice.Alloc, s.Choice.AllocArgs, s.Draft = name, args, Draft{}
	s.touch()
	return []Effect{WriteURL{Replace}}
}

// SortAlive sorts the table of what is there at the peak.
type SortAlive struct{ By draw.AliveBy }

func (m SortAlive) apply(s *State) []Effect {
	s.View.AliveBy = m.By
	s.DOM++
	return nil
}

// SetPlayhead chooses the moment that the map shows.
type SetPlayhead struct{ At time.Duration }

func (m SetPlayhead) apply(s *State) []Effect {
	s.View.Playhead = m.At
	s.touch()
	return []Effect{WriteURL{Replace}}
}

// SetDensity says how much of an offloaded value is not zero, in per cent.
type SetDensity struct{ Percent int }

func (m SetDensity) apply(s *State) []Effect {
	s.View.Density = min(max(m.Percent, 0), 100) + 1
	s.Draft = Draft{}
	return s.touch()
}

// StopPlacing gives a placement up.
type StopPlacing struct{}

func (StopPlacing) apply(s *State) []Effect {
	p := s.Placing
	if p == nil {
		s.DOM++
		return nil
	}
	s.Places = &Places{Allocator: s.Allocator(), of: p.of, Failure: proto.Fail(proto.Deadline, "Given up before there was a placement.")}
	s.Paint++
	return s.cancelPlacing()
}

// PlaceAgain asks for it with more time.
type PlaceAgain struct{}

func (PlaceAgain) apply(s *State) []Effect {
	if p := s.Places; p != nil && p.Failure != nil && s.Placing == nil {
		return s.askPlaces(p.of, longLimit)
	}
	s.DOM++
	return nil
}

// PlaceProgressed is an allocator at work.
type PlaceProgressed struct {
	ID       int
	Progress proto.Progress
}

func (m PlaceProgressed) apply(s *State) []Effect {
	if p := s.Placing; p != nil && p.ID == m.ID {
		p.Progress = m.Progress
		s.DOM++
	}
	return nil
}

// Placed is a placement.
type Placed struct {
	ID     int
	Placed *proto.Placed
}

func (m Placed) apply(s *State) []Effect {
	if p := s.placed(m.ID, m.Placed, nil); p != nil {
		p.keep()
	}
	return nil
}

// PlaceFailed is a request without a placement, except for Best if a deadline
// passed.
type PlaceFailed struct {
	ID      int
	Failure *proto.Failure
	Best    *proto.Placed
}

func (m PlaceFailed) apply(s *State) []Effect {
	s.placed(m.ID, m.Best, m.Failure)
	return nil
}

// placed shows what came out of a request; nil if nobody waits for it any more.
func (s *State) placed(id int, placed *proto.Placed, why *proto.Failure) *Places {
	p := s.Placing
	if p == nil || p.ID != id {
		return nil
	}
	s.Placing, s.Places = nil, &Places{Allocator: s.Allocator(), Placed: placed, Failure: why, of: p.of}
	s.touch()
	return s.Places
}

// openedMemory shows a file about addresses: nothing else of the page applies.
func (s *State) openedMemory(o *Opening, r *proto.Opened) []Effect {
	out := append(s.closeStep(), s.closeNetwork()...)
	file := o.Choice.Source.File
	if file == "" {
		file = r.Memory.Name
	}
	s.Memory = newMemory(file, r, &o.file)
	s.View.Selected, s.View.Trail = lookup.Target{}, nil
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

// closeNetwork makes room for what is no network.
func (s *State) closeNetwork() []Effect {
	out := append(s.cancelSweep(), s.questions.drop()...)
	s.Curve, s.Preview, s.Shown, s.Network, s.hover = nil, nil, nil, nil, ""
	s.OverBudget, s.Alert, s.Draft = nil, nil, Draft{}
	return append(out, s.cancelSolving()...)
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
