package sim

import (
	"time"

	"memtide/engine"
)

// Lane is where a span runs.
type Lane uint8

// The lanes. In half duplex the two link lanes never work at the same time.
const (
	Compute Lane = iota
	ToHost       // device to host: offloads
	ToDev        // host to device: fetches
	Network      // operations of engine.LaneNetwork
	CPU          // operations of engine.LaneCPU
	NumLanes
)

// SpanKind is what a span does; the pictures colour the lanes by it.
type SpanKind uint8

// The kinds of spans.
const (
	SpanForward   SpanKind = iota
	SpanRecompute          // a forward operation that ran before
	SpanBackward
	SpanOffload
	SpanFetch
	SpanNetwork // an operation of the network
	SpanCPU     // an operation of the host
)

// SpanID is the index of a span in Trace.Spans.
type SpanID int32

// NoSpan is the id of no span.
const NoSpan SpanID = -1

// Reason says why a lane stood still.
type Reason uint8

// The reasons. None is for spans that started without any delay.
const (
	None       Reason = iota
	NeedsData         // an input is still being fetched, or an operation of another lane has to end first
	NeedsRoom         // memory is full until something leaves
	CopyOut           // a copy to the host, or an operation of the host, has to end first
	Window            // the earliest start that the schedule gives a transfer
	Dependency        // the operation before it has to end first; the compute lane never idles for it
	Drain             // all computations are over; transfers are still under way
	NumReasons
)

// String returns the name of the reason for people.
func (r Reason) String() string {
	return [...]string{"none", "needs data", "needs memory", "waits for copy-out", "window", "dependency",
		"transfers end"}[r]
}

// Span is one run or transfer over [Start, End), counted from the start of the step like all times of a trace.
type Span struct {
	Lane       Lane
	Kind       SpanKind
	OutputOnly bool
	Alt        bool           // a run by the second algorithm
	Step       int            // index into the schedule
	Op         engine.OpID    // of a run in any lane, otherwise NoOp
	Value      engine.ValueID // of a transfer, otherwise NoValue
	Start      time.Duration
	End        time.Duration
	// Why is what held the span back last, and Cause the span whose end let it start. For a run that started when
	// the run before it ended, and for an operation of another lane that started when its step was reached, Why is
	// Dependency and Cause the run before it. At time 0 Why is 0 and Cause NoSpan.
	Why   Reason
	Cause SpanID
}

// Gap is a time range in which nothing runs on the compute lane. Gaps and compute spans together cover [0,
// Makespan) without overlap.
type Gap struct {
	Start, End time.Duration
	Reason     Reason // one of NeedsData, NeedsRoom, CopyOut, Drain
	Step       int    // the step that could not go on; len(schedule) for Drain
	// Value is the value that the step waited for. It is NoValue if the step waited for room or for an operation
	// that Op.After names, and for Drain.
	Value engine.ValueID
	Need  engine.Bytes // of NeedsRoom: the bytes that were missing at the start of the gap
	Cause SpanID       // the transfer, or the operation of another lane, whose progress ended the gap
}

// Category is a band of the memory picture.
type Category uint8

// The categories, from the bottom of the stack to its top.
const (
	Fixed      Category = iota // weights, their gradients, optimizer state
	Gradient                   // gradients of activations
	Activation                 // outputs and saved activations, first computed
	Recomputed                 // outputs and saved activations, computed again
	InTransfer                 // being fetched, or freed while a copy to the host or another lane still reads it
	Workspace                  // temporaries of the running operation
	NumCategories
)

// String returns the name of the category for people.
func (c Category) String() string {
	return [...]string{"weights", "gradients", "activations", "recomputed", "in transfer", "workspace"}[c]
}

// Sample is the device memory in use at one moment, by category. Between two consecutive samples use changes
// linearly; a jump is two samples at one time.
type Sample struct {
	At   time.Duration
	Used [NumCategories]engine.Bytes
}

// Total returns the sum over the categories.
func (s *Sample) Total() (sum engine.Bytes) {
	for c := range s.Used {
		sum += s.Used[c]
	}
	return sum
}

// Life is one stay of a value, or of an operation's temporaries, on the device. It lasts for the times [Start, End)
// and the events [StartSeq, EndSeq), which keep lives of no duration apart. Streamed transfers fill and empty a
// life gradually: Bytes is its full size.
type Life struct {
	Value            engine.ValueID // NoValue for temporaries
	Op               engine.OpID    // of temporaries, otherwise NoOp
	Category         Category       // what it was while it was whole
	Bytes            engine.Bytes
	Start, End       time.Duration
	StartSeq, EndSeq int
	From             SpanID // the run or fetch that made it, NoSpan if it existed when the step began
	Offloaded        bool   // it was copied to the host while it lived
}

// Point is an amount of memory from a time on, until the next point.
type Point struct {
	At   time.Duration
	Used engine.Bytes
}

// Decision is what a schedule does with a stage's activation. Bits combine; Keep is the zero value.
type Decision uint8

// The decisions.
const (
	Keep    Decision = 0
	Offload Decision = 1 << iota
	Recompute
)

// Trace is what happens when a schedule is played. It is not changed after Play returns it. Times count from the
// start of the step.
type Trace struct {
	Makespan time.Duration // the step time: when the last run and the last transfer have ended
	Peak     engine.Bytes  // largest total of Memory, resident memory included
	PeakAt   time.Duration // when it is first reached
	HostPeak engine.Bytes  // most pinned host memory in use

	ComputeTime   time.Duration             // first runs and backward operations
	RecomputeTime time.Duration             // forward operations that had run before
	Waiting       [NumReasons]time.Duration // by reason; ComputeTime, RecomputeTime and Waiting add up to Makespan

	Spans     []Span     // in the order of their start; runs and transfers mixed
	Gaps      []Gap      // in the order of time
	Memory    []Sample   // in the order of time; the first at 0
	Host      []Point    // pinned host memory, in the order of time
	Lives     []Life     // in the order of StartSeq
	Decisions []Decision // of stages 1..n: Decisions[k-1]; empty if the graph names no stages
}

// WaitingTotal returns the time in which the compute lane stood still.
func (t *Trace) WaitingTotal() (sum time.Duration) {
	for _, d := range t.Waiting {
		sum += d
	}
	return sum
}

// Solution plays s and returns it as a solution with the step time and the peak that Play measured. The error is
// the error of Play.
func Solution(p *engine.Problem, s engine.Schedule) (*engine.Solution, error) {
	t, err := Play(p, s)
	if err != nil {
		return nil, err
	}
	return &engine.Solution{Schedule: s, Makespan: t.Makespan, Peak: t.Peak}, nil
}
