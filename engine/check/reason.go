package check

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// Reason is the kind of a refutation.
type Reason uint8

// The reasons, in the order in which they are checked.
const (
	BadProblem       Reason = iota // the problem or the schedule names what does not exist
	BadSpan                        // a span's lane, kind, operation, value or times are not those of its step
	MissingStep                    // a step has no span
	RepeatedStep                   // a step has two spans
	SpanOrder                      // spans are not in the order of their start
	WrongDuration                  // a span is not as long as its work
	InputAbsent                    // a run reads what never was on the device
	ReadAfterFree                  // a run or an offload reads what was freed before
	OffloadAbsent                  // an offload of what is not on the device
	FreeAbsent                     // a free of what is not on the device
	FetchResident                  // a fetch of what the device has
	OutputThere                    // an operation of another lane makes what is there already
	NoHostCopy                     // a fetch of what the host does not have
	NoLink                         // a transfer over a link that does not exist
	BackwardTwice                  // a backward operation runs twice
	OnceTwice                      // an operation that must not run again does (engine.Op.Once)
	Incomplete                     // a gradient or an operation is missing at the end
	StepOrder                      // a span starts before the schedule reaches its step
	LaneOverlap                    // two spans of a lane overlap, or are not first in, first out
	HalfDuplexBroken               // both directions of a half-duplex link at once
	InputNotReady                  // a run starts before an input has arrived
	NotAfter                       // an operation starts before one that it comes after, or without it
	HostCopyNotReady               // a fetch or an operation of the host starts before a copy to the host has ended
	BeforeWindow                   // a transfer starts before its earliest start
	WrongMakespan                  // the step time is not the end of the last span
	OverBudget                     // more memory than the budget
	RunLate                        // the compute lane is idle though its step could have started
	TransferLate                   // a lane is idle though its head could have started
	WrongMemory                    // the samples do not add up to the memory in use
	WrongCategory                  // the samples add up, but not by category
	WrongPeak                      // the peak or its moment is not that of the memory in use
	WrongHost                      // host memory is not what the offloads take
	WrongHostPeak                  // the host's peak is not that of its memory
	WrongLives                     // the lives do not add up to the memory in use
	GapMissing                     // gaps and runs do not cover the step, or overlap
	GapReason                      // a gap's step, reason, value or need is not what held the counter
	GapCause                       // a gap's cause did not end it
	WrongCause                     // what a span says held it back did not
	WrongTotals                    // compute, recompute or waiting do not add up
	WrongDecisions                 // a stage's decision is not what the schedule does
	NumReasons
)

var reasonNames = [NumReasons]string{
	"bad problem", "bad span", "missing step", "repeated step", "spans out of order", "wrong duration",
	"input absent", "read after free", "offload of absent", "free of absent", "fetch of resident", "output there",
	"no host copy", "no link", "backward twice", "once twice", "incomplete", "steps out of order", "lane overlap",
	"half duplex broken", "input not ready", "not after", "host copy not ready", "before its earliest start",
	"wrong step time", "over budget",
	"run late", "transfer late", "wrong memory", "wrong category", "wrong peak", "wrong host memory",
	"wrong host peak", "wrong lives", "gap missing", "wrong gap", "wrong gap cause", "wrong cause", "wrong totals",
	"wrong decisions",
}

// String returns the name of the reason for people.
func (r Reason) String() string {
	if r < NumReasons {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason %d", r)
}

// Refutation says why a trace is not an execution of its schedule.
type Refutation struct {
	Reason Reason
	Step   int           // index into the schedule; -1 if no step is concerned
	Span   sim.SpanID    // NoSpan if no span is concerned
	At     time.Duration // the time; 0 if the refutation is about no particular time
	Found  string        // what the trace says
	Want   string        // what follows from the schedule and the spans
}

// Error returns the step, the span and the time, with what was found and what was expected there.
func (e *Refutation) Error() string {
	place := ""
	if e.Step >= 0 {
		place += fmt.Sprintf(" at step %d", e.Step)
	}
	if e.Span != sim.NoSpan {
		place += fmt.Sprintf(" in span %d", e.Span)
	}
	if e.At != 0 {
		place += fmt.Sprintf(" at %v", e.At)
	}
	return fmt.Sprintf("%v%s: found %s; expected %s", e.Reason, place, e.Found, e.Want)
}

// count returns n in words, such as "1 byte".
func count(n engine.Bytes) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
