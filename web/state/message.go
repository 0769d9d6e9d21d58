package state

import (
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/web/draw"
)

// Message is something that happened.
type Message interface{ message() }

// What people do. Settled is false while a slider is still being dragged.
type (
	// Start opens the page with what its link says; From and To are the visible
	// part of the step, Lines and Axis how the curve is drawn.
	Start struct {
		Choice   Choice
		From, To time.Duration
		Lines    []string
		Axis     Axis
		Selected string        // by what it is, see draw.Model.Name
		Open     []string      // what is unfolded, by the names of link.Folds
		Chain    bool          // the critical chain is shown
		Slowdown int           // as View.Slowdown
		Moment   time.Duration // as View.Playhead
		Frame    Frame
		B        *Choice // the other side of a comparison; nil: there is none
	}
	// Navigate is Back, Forward, or a link pasted into the address bar.
	Navigate Start
	// BadLink is a link that cannot be followed: cut, damaged, too new.
	BadLink struct{ Text string }
	// PickPreset opens a preset, as it suggests to be seen.
	PickPreset struct{ ID string }
	// PickFile opens a file that was chosen, dropped or pasted.
	PickFile struct {
		Name   string
		Title  string // instead of the network's own name; empty: that
		Bytes  []byte
		Handle any // instead of Bytes: a large file, which the worker reads itself (see proto.Open)
	}
	// SetBudget sets the budget, in bytes or, if that is not 0, in ten-thousandths
	// of what keeping everything needs.
	SetBudget struct {
		Bytes       engine.Bytes
		BasisPoints int
		Settled     bool
	}
	// StepBudget moves the budget by steps of the slider.
	StepBudget struct{ Steps int }
	// SetDevice takes over the link of a device.
	SetDevice struct {
		ID     string
		Device engine.Device
	}
	// SetBandwidth sets both directions of the link.
	SetBandwidth struct {
		Rate    engine.Rate
		Settled bool
	}
	// SetDuplex sets whether both directions work at the same time.
	SetDuplex struct{ Duplex engine.Duplex }
	// SetTransfers sets whole or streamed transfers.
	SetTransfers struct{ Transfers engine.Transfers }
	// SetGraph takes a network that is both as a graph or as a chain.
	SetGraph struct{ Graph bool }
	// SetStrategy chooses a strategy, with its default arguments.
	SetStrategy struct{ Name string }
	// SetArg sets an argument of the strategy.
	SetArg struct{ Name, Value string }
	// Type is text typed into a field that has not been committed.
	Type struct{ Field, Text string }
	// Refuse says that committed text was not understood.
	Refuse struct{ Field, Text string }
	// Stop ends the solver and keeps the best so far.
	Stop struct{}
	// StartAgain asks for the present choice again.
	StartAgain struct{}
	// SolveHere does so on the page's own thread, from now on.
	SolveHere struct{}
	// SetLines chooses what the curve draws, nil for the default; ToggleLines
	// draws some lines, or no longer if all of them are drawn; SetAxis chooses
	// its vertical axis.
	SetLines    struct{ Names []string }
	ToggleLines struct{ Names []string }
	SetAxis     struct{ Axis Axis }
	// ToggleLineList opens and closes the list of all lines.
	ToggleLineList struct{}
	// StartSweep computes the curve, StopSweep gives it up.
	StartSweep struct{}
	StopSweep  struct{}
	// StartTuning tries the values of the strategy's parameters again, StopTuning
	// gives that up.
	StartTuning struct{}
	StopTuning  struct{}
	// Hover previews a point of the curve, Unhover ends that, Adopt chooses it.
	Hover   struct{ Point CurvePoint }
	Unhover struct{}
	Adopt   struct{ Point CurvePoint }
	// Select selects something in the pictures; draw.Target{}: nothing.
	Select struct{ Target draw.Target }
	// Find selects the next layer whose name contains a text, or whose number it
	// is, behind the layer After; 0: the first.
	Find struct {
		Text  string
		After int
	}
	// StepWait selects the next or an earlier wait.
	StepWait struct{ By int }
	// FollowCause selects what let the selected thing start, Retrace goes back.
	FollowCause struct{}
	Retrace     struct{}
	// SetRange shows a part of the step; the zero value all of it.
	SetRange struct{ From, To time.Duration }
	// ToggleTable, ToggleHelp and SetTheme change what is on the page.
	ToggleTable struct{}
	ScrollTable struct{ Top int }
	ToggleHelp  struct{}
	SetTheme    struct{ Theme string }
	// Dismiss closes what is on top: help, alert, selection; or, from the button
	// of the notice, the alert and what was written wrongly.
	Dismiss struct{ Notice bool }
	// CopyLink puts the link into the clipboard; Copied tells the outcome.
	CopyLink struct{}
	Copied   struct{ Err string }
	// ForgetNote takes the note away that a button left.
	ForgetNote struct{}
)

// What workers answer. ID is that of the effect.
type (
	// Opened is a profile that was read.
	Opened struct {
		ID      int
		Reply   *proto.Opened
		Profile *profiles.Profile
	}
	// OpenProgressed is a file that is being read.
	OpenProgressed struct {
		ID       int
		Progress proto.Progress
	}
	// OpenFailed is a file that was not understood.
	OpenFailed struct {
		ID   int
		Text string
	}
	// Progressed is a solver at work. Best is nil if there is nothing new.
	Progressed struct {
		ID       int
		Progress proto.Progress
		Best     *proto.Solved
	}
	// Solved is a schedule. Choice is that of the effect.
	Solved struct {
		ID     int
		Choice Choice
		Solved *proto.Solved
	}
	// SolveFailed is a request without a schedule, except for Best if a
	// deadline passed.
	SolveFailed struct {
		ID      int
		Choice  Choice
		Failure *proto.Failure
		Best    *proto.Solved
	}
	// Silent says that the worker of a request has gone quiet, or is back.
	Silent struct{ Quiet bool }
	// SweptPoint is one point of a curve.
	SweptPoint struct {
		ID    int
		Point proto.Point
	}
	// Swept ends a curve.
	Swept struct {
		ID      int
		KeepAll proto.Reference
	}
	// SweepFailed ends a curve early.
	SweepFailed struct {
		ID   int
		Text string
	}
)

func (Start) message()          {}
func (Navigate) message()       {}
func (BadLink) message()        {}
func (PickPreset) message()     {}
func (PickFile) message()       {}
func (SetBudget) message()      {}
func (StepBudget) message()     {}
func (SetDevice) message()      {}
func (SetBandwidth) message()   {}
func (SetDuplex) message()      {}
func (SetTransfers) message()   {}
func (SetGraph) message()       {}
func (SetStrategy) message()    {}
func (SetArg) message()         {}
func (Type) message()           {}
func (Refuse) message()         {}
func (Stop) message()           {}
func (StartAgain) message()     {}
func (SolveHere) message()      {}
func (SetLines) message()       {}
func (ToggleLines) message()    {}
func (SetAxis) message()        {}
func (ToggleLineList) message() {}
func (StartSweep) message()     {}
func (StopSweep) message()      {}
func (StartTuning) message()    {}
func (StopTuning) message()     {}
func (Hover) message()          {}
func (Unhover) message()        {}
func (Adopt) message()          {}
func (Select) message()         {}
func (Find) message()           {}
func (StepWait) message()       {}
func (FollowCause) message()    {}
func (Retrace) message()        {}
func (SetRange) message()       {}
func (ToggleTable) message()    {}
func (ScrollTable) message()    {}
func (ToggleHelp) message()     {}
func (SetTheme) message()       {}
func (Dismiss) message()        {}
func (CopyLink) message()       {}
func (Copied) message()         {}
func (ForgetNote) message()     {}
func (Opened) message()         {}
func (OpenProgressed) message() {}
func (OpenFailed) message()     {}
func (Progressed) message()     {}
func (Solved) message()         {}
func (SolveFailed) message()    {}
func (Silent) message()         {}
func (SweptPoint) message()     {}
func (Swept) message()          {}
func (SweepFailed) message()    {}
