package state

import (
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/format"
)

// State is everything the page knows. Only Update changes it.
type State struct {
	Choice     Choice
	Network    *Network    // what is open; nil until the first profile has been read
	Shown      *Picture    // what the pictures show; nil until the first schedule
	Preview    *Picture    // shown instead while the pointer is on the curve
	Opening    *Opening    // a profile is being read
	Solving    *Solving    // a schedule is being looked for
	OverBudget *OverBudget // the budget is too small: Shown is an older picture
	Alert      *Alert      // something went wrong, and what can be done
	Curve      *Curve      // the trade-off curve of the present setting; nil before the first
	Tuning     *Tuning     // step time by the strategy's parameters; nil if it has none to try
	Memory     *Memory     // a file about addresses is open, and no network
	Placing    *Placing    // addresses are being looked for
	Places     *Places     // where the bytes lie; nil while the address view is closed
	Sharing    *Sharing    // the dialog that gives away what is shown; nil while it is closed
	Compare    *Compare    // the other side of a comparison; nil if nothing is compared
	Draft      Draft       // a text field that is being typed into
	View       View

	// DOM and Paint count the changes that need the components and the
	// pictures drawn again.
	DOM, Paint int

	hover     string   // key of the curve's point under the pointer
	next      *waiting // side B, until A has been read
	standIn   int      // ID of a solve for the smallest budget, shown because nothing else can be
	lastID    int
	unwritten bool         // the address waits for what it names, see holdAddress
	instead   proto.Budget // that was chosen because the default did not fit
	pictures  recent[*Picture]
	curves    recent[*Curve]
	tunings   recent[*Tuning]
	answers   recent[*Asked]
	asked     map[proto.Question]*Asked // about the present choice
	layers    layerRows
}

// Picture is a schedule that was found, with the choice that asked for it.
type Picture struct {
	ID      int // of the request
	Choice  Choice
	Network *Network
	Solved  *proto.Solved
	Partial bool // best so far of a solver that is at work or was stopped

	model  *draw.Model // made when it is asked for
	places map[string]*Places
}

// Problem is what the picture's schedule solves.
func (p *Picture) Problem() *engine.Problem {
	c := p.Choice
	return &engine.Problem{
		Graph: p.Network.Graph, Chain: p.Network.Chain,
		Device:    engine.Device{Name: c.Device, ToHost: c.ToHost, ToDev: c.ToDev, Duplex: c.Duplex},
		Transfers: c.Transfers,
		Budget:    p.Solved.Budget,
	}
}

// Model is the picture's trace, arranged for drawing.
func (p *Picture) Model() *draw.Model {
	if p.model == nil {
		p.model = draw.NewModel(p.Problem(), p.Solved.Trace)
	}
	return p.model
}

// Gaps are the picture's waits.
func (p *Picture) Gaps() []sim.Gap { return p.Solved.Trace.Gaps }

// Opening is a profile that is being read. The choice becomes the page's when
// it has been read.
type Opening struct {
	ID      int
	Name    string
	Choice  Choice
	History History
	Title   string // instead of the network's own name; empty: that

	Progress proto.Progress

	linked bool // the link to the host was chosen meanwhile
}

// Solving is a schedule that is being looked for.
type Solving struct {
	ID       int
	Choice   Choice
	Progress proto.Progress
	Best     *proto.Solved
	Silent   bool // the worker has given no sign of life for a while
}

// OverBudget is a budget that is too small.
type OverBudget struct {
	Budget   engine.Bytes
	Smallest engine.Bytes // 0 if unknown
	Offer    engine.Bytes // Smallest, rounded up to what is written on the page; 0 if unknown
}

// offer is the smallest budget as people read it, which suffices because it is
// rounded up.
func offer(smallest engine.Bytes) engine.Bytes {
	if b, err := format.ParseBytes(format.BytesUp(smallest)); err == nil && b >= smallest {
		return b
	}
	return smallest
}

// Alert is an error for people, with at most one way on.
type Alert struct {
	Text   string
	Lines  []string // details, at most five
	Action string   // text of the button; empty if there is none
	Do     Message  // what the button does
}

// Draft is text that is being typed and has not taken effect.
type Draft struct{ Field, Text string }

// View is what a person looks at: nothing here changes the schedule.
type View struct {
	From, To  time.Duration // visible part of the step, [From, To); To 0: all of it
	Selected  draw.Target   // what the sentence is about: a wait, a run, a stage
	Picked    bool          // by a person or a link, not by the page itself
	Trail     []draw.Target // what was selected before the causes were followed
	Lines     []string      // what the curve draws, by name; nil: DefaultLines
	Axis      Axis          // of the curve
	LineList  bool          // the list of all lines is open
	Table     bool          // the table of operations is open
	TableTop  int           // first row of the table that is shown
	Playhead  time.Duration // the moment of the memory map; 0: the failure, or the peak
	AliveBy   draw.AliveBy  // the order of the table of what is there at the peak
	Density   int           // see State.Density; 0: the default, otherwise one more
	Chain     bool          // the critical chain is shown
	Layers    LayerTable    // the table of layers
	Questions bool          // the questions are open
	Slowdown  int           // see State.Slowdown; 0: the default, otherwise one more
	Help      bool
	Picker    Picker // the list of networks
	Theme     string // "light", "dark" or empty: as the system has it
	Wanted    string // what the link selects, until there is a picture to find it in
	Frame     Frame
	Note      string // one line that tells what a shortcut or a button did

	CanSend     bool              // the device passes links on (navigator.share)
	NoShortcuts bool              // keys of one character do nothing
	KeyLabels   map[string]string // what stands on a key, by KeyboardEvent.code; nil if unknown
}

// New is the state of a page that has nothing yet.
func New() *State {
	return &State{
		pictures: recent[*Picture]{limit: 64},
		curves:   recent[*Curve]{limit: 8},
		tunings:  recent[*Tuning]{limit: 32},
		answers:  recent[*Asked]{limit: 32},
	}
}

// Phase is the value of the body's data-state.
func (s *State) Phase() string {
	switch {
	case s.Opening != nil || s.Solving != nil || s.Compare.Awaits():
		return "solving"
	case s.Alert != nil || s.OverBudget != nil || s.Shown == nil && s.Memory == nil:
		return "error"
	}
	return "ready"
}

// Visible is the picture on screen: the preview if there is one.
func (s *State) Visible() *Picture {
	if s.Preview != nil {
		return s.Preview
	}
	return s.Shown
}

// Awaits says that nothing is shown yet, but something is on its way.
func (s *State) Awaits() bool {
	return s.Shown == nil && (s.Opening != nil || s.Solving != nil || s.standIn != 0)
}

// Budget is the chosen budget in bytes.
func (s *State) Budget() engine.Bytes {
	if s.Network == nil {
		return s.Choice.Budget.Bytes
	}
	return s.Choice.Budget.Of(s.Network.Totals.KeepAllPeak)
}

// Stale says that the picture is not the one that was asked for.
func (s *State) Stale() bool {
	return s.OverBudget != nil || s.Alert != nil && s.Shown != nil && !s.Shown.Choice.Equal(s.Choice)
}

// recent is a small cache that forgets what was not used for longest.
type recent[V any] struct {
	limit int
	keys  []string // oldest first
	byKey map[string]V
}

func (r *recent[V]) get(key string) (v V, ok bool) {
	if v, ok = r.byKey[key]; ok {
		r.touch(key)
	}
	return v, ok
}

func (r *recent[V]) put(key string, v V) {
	if r.byKey == nil {
		r.byKey = map[string]V{}
	}
	if _, ok := r.byKey[key]; !ok && len(r.keys) >= r.limit {
		delete(r.byKey, r.keys[0])
		r.keys = r.keys[1:]
	}
	r.byKey[key] = v
	r.touch(key)
}

func (r *recent[V]) touch(key string) {
	for i, k := range r.keys {
		if k == key {
			r.keys = append(r.keys[:i], r.keys[i+1:]...)
			break
		}
	}
	r.keys = append(r.keys, key)
}
