package proto

import (
	"errors"
	"fmt"

	"memtide/engine"
)

// FailureKind is a way in which a request fails.
type FailureKind string

// The ways to fail.
const (
	Infeasible  FailureKind = "infeasible"  // no schedule of the strategy fits; Smallest would do, if known
	Unsupported FailureKind = "unsupported" // the strategy cannot work on this problem at all
	Deadline    FailureKind = "deadline"    // Limit passed
	BadRequest  FailureKind = "bad-request" // the profile, an argument or the request is wrong; see Text
	Crash       FailureKind = "crash"       // the program failed: a panic, the stack, memory, or the worker died
	Elsewhere   FailureKind = "elsewhere"   // only the other program can do it, see web/jobs
	NoWorker    FailureKind = "no-worker"   // the browser starts no worker for this page
)

// Failure says why a request has no result. It is an error.
type Failure struct {
	Kind     FailureKind  `json:"kind"`
	Text     string       `json:"text"`               // for people
	Detail   string       `json:"detail,omitempty"`   // Crash: the last lines that the program wrote
	Budget   engine.Bytes `json:"budget,omitempty"`   // Infeasible: the budget in bytes
	Smallest engine.Bytes `json:"smallest,omitempty"` // Infeasible: the smallest budget that would do; 0 if unknown
	Why      string       `json:"why,omitempty"`      // Infeasible: what needs that much, the end of Text
}

func (f *Failure) Error() string { return f.Text }

// Fail returns a failure with a formatted text.
func Fail(kind FailureKind, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// FailureOf returns err as a failure. An error that does not hold a *Failure becomes a Crash.
func FailureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return Fail(Crash, "%v", err)
}
