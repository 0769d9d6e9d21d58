package state

import (
	"memtide/web/link"
	"reflect"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/draw"
)

// placedAs returns the placement of one buffer at the address addr.
func placedAs(allocator string, addr engine.Bytes) *proto.Placed {
	return &proto.Placed{Allocator: allocator, Pool: 8 * engine.GiB, Fixed: true, Top: addr + 1, Peak: 1,
		Pieces:  []proto.Piece{{Addr: addr, Bytes: 1}},
		Moments: []proto.Moment{{Used: 1, Reserved: 8, Largest: 4}}}
}

// withLife returns a page that shows a trace with one value.
func withLife(t *testing.T) *player {
	p := shown(t)
	p.Shown.Solved.Trace.Lives = []sim.Life{{Value: engine.NoValue, Op: engine.NoOp, Bytes: 1, End: time.Millisecond}}
	return p
}

// TestPlacesFollowThePicture checks that a closed address view asks for nothing, and that an open one asks once
// for each picture and allocator.
func TestPlacesFollowThePicture(t *testing.T) {
	p := withLife(t)
	if p.play(SetTheme{Theme: "dark"}); len(p.effects) != 1 || p.Places != nil || p.Placing != nil {
		t.Fatalf("closed: effects %s, placing %+v; want nothing but the theme", names(p.effects), p.Placing)
	}
	p.play(TogglePlaces{})
	first := last[Place](t, p)
	if q := first.Request; q.Allocator != choice.DefaultAllocator || q.Budget != p.Shown.Solved.Budget ||
		q.Limit != 0 || q.Network.Preset == "" {
		t.Errorf("asked for %+v; want %s in the budget of the picture", q, choice.DefaultAllocator)
	}
	if p.Choice.Alloc != choice.DefaultAllocator || last[WriteURL](t, p).History != Replace {
		t.Errorf("the choice names %q; want %q, in the address too", p.Choice.Alloc, choice.DefaultAllocator)
	}
	if p.play(SetRange{From: 1, To: 2}); names(p.effects) != "WriteURL replace" {
		t.Errorf("while it is placed: effects %s; want only the address to be written", names(p.effects))
	}
	p.play(SetAllocator{Name: "va"}, SetAllocArg{Name: "chunk", Value: "2"})
	second := last[Place](t, p)
	if second.Request.Allocator != "va" || !reflect.DeepEqual(second.Request.Args, engine.Args{"chunk": "2"}) {
		t.Errorf("asked for %+v; want va with chunks of 2", second.Request)
	}
	if n := count[Cancel](p); n != 2 {
		t.Errorf("%d requests were given up; want the 2 that were under way", n)
	}
	p.play(Placed{ID: first.ID, Placed: placedAs("best-fit", 3)})
	if p.Places != nil {
		t.Errorf("a late answer is shown: %+v", p.Places)
	}
	p.play(Placed{ID: second.ID, Placed: placedAs("va", 5)})
	if p.Placing != nil || p.PlacesModel() == nil || p.PlacesModel().Placement().Blocks[0].Addr != 5 {
		t.Errorf("the answer is not shown: %+v", p.Places)
	}
	p.play(SetAllocArg{Name: "chunk", Value: "40"})
	if p.Choice.AllocArgs != nil {
		t.Errorf("the default is in the arguments: %v", p.Choice.AllocArgs)
	}
	p.play(SetAllocArg{Name: "chunk", Value: "2"})
	if p.Placing != nil || p.Places == nil || p.Places.Placed.Top != 6 {
		t.Errorf("a placement that is known is asked for again: %+v", p.Placing)
	}
	p.play(TogglePlaces{})
	if p.Places != nil || p.Choice.Alloc != "" || p.Choice.AllocArgs != nil {
		t.Errorf("closed again: %+v, %q; want nothing", p.Places, p.Choice.Alloc)
	}
}

func count[E Effect](p *player) (n int) {
	for _, e := range p.effects {
		if _, ok := e.(E); ok {
			n++
		}
	}
	return n
}

// TestPlacesStop checks that the best placement so far stays at the deadline, with a button that offers more
// time. A placement that was cancelled is not asked for again.
func TestPlacesStop(t *testing.T) {
	p := withLife(t)
	p.play(TogglePlaces{}, SetAllocator{Name: "optimal"})
	e := last[Place](t, p)
	if e.Request.Limit != placeLimit {
		t.Errorf("a search may take %v, want %v", e.Request.Limit, placeLimit)
	}
	p.play(Progressed{ID: e.ID, Progress: proto.Progress{Done: 1, Total: 2}})
	if p.Placing.Progress.Done != 1 {
		t.Errorf("progress is %+v, want 1 of 2", p.Placing.Progress)
	}
	p.play(Placed{ID: e.ID, Failure: proto.Fail(proto.Deadline, "stopped"), Placed: placedAs("optimal", 1)})
	if p.Places.Placed == nil || p.Places.Failure == nil || len(p.effects) != 0 {
		t.Errorf("after the deadline: %+v, effects %s; want the best so far and no new request", p.Places,
			names(p.effects))
	}
	p.play(PlaceAgain{})
	if e = last[Place](t, p); e.Request.Limit != longLimit {
		t.Errorf("asked for %v, want %v", e.Request.Limit, longLimit)
	}
	p.play(StopPlacing{})
	if last[Cancel](t, p).ID != e.ID || p.Placing != nil || count[Place](p) != 0 {
		t.Errorf("given up: effects %s; want a cancel and nothing else", names(p.effects))
	}
	p.play(SetTheme{Theme: "light"})
	if count[Place](p) != 0 {
		t.Error("what was given up is asked for again by itself")
	}
}

// memoryFile returns a file of two buffers that overlap in time, with the placement that was recorded, if any.
func memoryFile(recorded *proto.Placed) *proto.Opened {
	b := &proto.Buffers{Tick: time.Microsecond,
		List: []alloc.Buffer{{Name: "a", Bytes: 4, End: 5}, {Name: "b", Bytes: 2, Start: 3, End: 9}}}
	return &proto.Opened{Memory: &proto.Memory{Name: "x", Buffers: b, Recorded: recorded, Capacity: 7, Peak: 6, Count: 2}}
}

// TestMemoryFile checks that a file about addresses replaces the network, and that another network, or Back,
// replaces the file.
func TestMemoryFile(t *testing.T) {
	p := withLife(t)
	before := p.Choice
	p.play(PickFile{Name: "snap.pickle", Bytes: []byte{1}})
	id := last[Open](t, p).ID
	p.play(Progressed{ID: id, Progress: proto.Progress{Done: 3, Total: 4}})
	if p.Opening.Progress.Done != 3 {
		t.Errorf("progress is %+v, want 3 of 4", p.Opening.Progress)
	}
	p.play(Opened{ID: id, Reply: memoryFile(placedAs(proto.Recorded, 2))})
	if p.Network != nil || p.Shown != nil || p.Memory == nil || p.Phase() != "ready" || p.End() != 9*time.Microsecond {
		t.Fatalf("network %v, picture %v, phase %s, end %v; want the file alone, ready, up to 9 µs", p.Network,
			p.Shown, p.Phase(), p.End())
	}
	if p.Allocator() != proto.Recorded || p.Places == nil || p.Places.Placed.Top != 3 || count[Place](p) != 0 {
		t.Errorf("allocator %s, %+v; want what was recorded, without asking", p.Allocator(), p.Places)
	}
	p.play(SetAllocator{Name: "optimal"})
	if q := last[Place](t, p).Request; q.Buffers == nil || q.Pool != 7 || q.Allocator != "optimal" ||
		q.Schedule != nil {
		t.Errorf("asked for %+v; want the buffers in a pool of 7", q)
	}
	p.play(Placed{ID: p.Placing.ID, Placed: placedAs("optimal", 0)})
	m := p.PlacesModel()
	if b := m.Placement().Blocks[0]; b.From != 0 || b.To != 5*time.Microsecond ||
		m.Placement().Tick != time.Microsecond {
		t.Errorf("the block is %+v; want the first buffer's life in events", b)
	}
	p.play(SetRange{From: 2000, To: 4000})
	if p.View.From != 2000 || p.View.To != 4000 {
		t.Errorf("zoomed to [%v, %v), want [2µs, 4µs)", p.View.From, p.View.To)
	}
	p.play(Navigate{Choice: before})
	p.play(opened(last[Open](t, p).ID, chain("a")))
	if p.Memory != nil || p.Network == nil || p.Places != nil {
		t.Errorf("after Back: memory %v, network %v, places %v; want the network", p.Memory, p.Network, p.Places)
	}
}

// TestMemoryFileStays checks that a file that is not valid does not close an open memory file.
func TestMemoryFileStays(t *testing.T) {
	p := withLife(t)
	p.play(PickFile{Name: "snap.pickle", Bytes: []byte{1}})
	p.play(Opened{ID: last[Open](t, p).ID, Reply: memoryFile(placedAs(proto.Recorded, 2))})
	p.play(PickFile{Name: "bad.csv", Bytes: []byte{2}})
	p.play(OpenFailed{ID: last[Open](t, p).ID, Text: "nothing is understood."})
	if p.Memory == nil || p.Opening != nil || p.Alert == nil {
		t.Errorf("memory %v, opening %v, alert %v; want the memory file, nothing that is read, and what is wrong",
			p.Memory, p.Opening, p.Alert)
	}
}

// TestMemoryFileWithoutAddresses checks that the default allocator places the buffers of a file without recorded
// addresses.
func TestMemoryFileWithoutAddresses(t *testing.T) {
	p := &player{State: New()}
	p.play(Start{Choice: chosen("a")}, PickFile{Name: "a.csv", Bytes: []byte{1}})
	p.play(Opened{ID: last[Open](t, p).ID, Reply: memoryFile(nil)})
	if q := last[Place](t, p).Request; q.Allocator != choice.DefaultAllocator || q.Buffers == nil {
		t.Errorf("asked for %+v; want %s", q, choice.DefaultAllocator)
	}
	p.play(SetAllocator{Name: proto.Recorded})
	if p.Allocator() != choice.DefaultAllocator {
		t.Errorf("allocator %q; want %q, because nothing is recorded", p.Allocator(), choice.DefaultAllocator)
	}
}

func TestAddressesAreSorted(t *testing.T) {
	p := withLife(t)
	p.play(SortAlive{By: draw.ByAddress}, SetPlayhead{At: 5})
	if p.View.AliveBy != draw.ByAddress || p.View.Playhead != 5 {
		t.Errorf("order %v, playhead %v; want by address and 5 ns", p.View.AliveBy, p.View.Playhead)
	}
}

// TestMomentOfTheMap checks that the address contains the time of the map, and that the time of a link stays
// until another network is opened.
func TestMomentOfTheMap(t *testing.T) {
	p := shown(t)
	p.play(TogglePlaces{}, SetPlayhead{At: 7 * time.Millisecond})
	if p.View.Playhead != 7*time.Millisecond || last[WriteURL](t, p).History != Replace {
		t.Errorf("the moment is %v, effects %s; want 7 ms, in the address", p.View.Playhead, names(p.effects))
	}
	link := Start{Choice: p.Choice, Look: link.Look{Playhead: 9 * time.Millisecond}}
	link.Choice.Source = Source{Preset: "vgg16-b1"}
	p.play(Navigate(link))
	if p.play(opened(last[Open](t, p).ID, chain("vgg"))); p.View.Playhead != 9*time.Millisecond {
		t.Errorf("a link's moment has become %v; want 9 ms", p.View.Playhead)
	}
	p.play(PickNetwork{"resnet50"})
	if p.play(opened(last[Open](t, p).ID, chain("resnet"))); p.View.Playhead != 0 {
		t.Errorf("in another network the moment is %v; want the default", p.View.Playhead)
	}
}
