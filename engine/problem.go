package engine

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Problem is the input of a strategy: one training step on one device within a budget. It must not be changed after
// it is built, so goroutines may share it. Strategies expect that Validate accepts it.
type Problem struct {
	Graph     *Graph      // never nil
	Chain     *ChainGraph // nil if the network is not a chain; otherwise Graph is &Chain.Graph
	Device    Device      // its Memory is ignored: Budget is the limit
	Transfers Transfers
	Budget    Bytes // device memory that may be used at any moment, resident memory included; NoLimit: any amount
}

// NewChainProblem expands c into a problem. c has to be valid, and must not be changed afterwards: the problem
// refers to it.
func NewChainProblem(c *Chain, d Device, t Transfers, budget Bytes) *Problem {
	g := ExpandChain(c)
	return &Problem{Graph: &g.Graph, Chain: g, Device: d, Transfers: t, Budget: budget}
}

// WithBudget returns a copy of the problem with budget b; the graph is shared.
func (p *Problem) WithBudget(b Bytes) *Problem {
	q := *p
	q.Budget = b
	return &q
}

// Room returns what values and temporaries may use: the budget less the resident memory. It is negative if not even
// the resident memory fits.
func (p *Problem) Room() Bytes { return p.Budget - p.Graph.Fixed }

// Validate reports the first inconsistency of the problem: in the budget, the device, the chain or the graph.
// Errors about numbers that are too large wrap ErrRange. Solvers and sim expect valid problems.
func (p *Problem) Validate() error {
	if p.Graph == nil {
		return fmt.Errorf("the problem has no graph")
	}
	if p.Budget < 0 {
		return fmt.Errorf("the budget is %d bytes; it cannot be negative", p.Budget)
	}
	for _, r := range [...]Rate{p.Device.ToHost, p.Device.ToDev} {
		if r < 0 {
			return fmt.Errorf("the bandwidth is %d bytes per second; it cannot be negative (0 means no link to the host)", r)
		}
		if r > MaxRate {
			return beyond("the bandwidth is %s; at most %s are supported", r.Text(), MaxRate.Text())
		}
	}
	if p.Chain != nil {
		if err := p.Chain.Chain.Validate(); err != nil {
			return err
		}
	}
	if p.Transfers == Streamed && p.Graph.HasLanes() {
		return fmt.Errorf("operations on the network or the host are planned with whole transfers; choose those")
	}
	return p.Graph.Validate()
}

// Duplex says whether the two directions of the host link work at the same time.
type Duplex uint8

// HalfDuplex is the papers' model: one transfer at a time, in either direction.
const (
	HalfDuplex Duplex = iota
	FullDuplex
)

// String returns the spelling used in links and files.
func (d Duplex) String() string {
	if d == FullDuplex {
		return "full"
	}
	return "half"
}

// Transfers says when a transfer allocates and releases memory.
type Transfers uint8

// Whole transfers allocate at their start and release at their end (the papers' integral model). Streamed transfers
// allocate and release byte by byte (fractional communications of paper 000).
const (
	Whole Transfers = iota
	Streamed
)

// String returns the spelling used in links and files.
func (t Transfers) String() string {
	if t == Streamed {
		return "streamed"
	}
	return "whole"
}

// Device is a GPU with its memory and its link to the host.
type Device struct {
	Name   string
	Memory Bytes // 0 if unknown
	ToHost Rate  // [beta] device to host; 0: there is no link
	ToDev  Rate  // [beta] host to device; 0: there is no link
	Duplex Duplex
}

// ErrRange is wrapped by errors of Validate that report a number, or a sum, beyond MaxBytes, MaxTime or MaxRate.
var ErrRange = errors.New("out of range")

// extent adds up the numbers of a chain or a graph, and remembers the largest.
type extent struct {
	bytes, times, uses sum
	mostBytes          Bytes
	mostTime           time.Duration
	bytesAt, timeAt    place
}

// sum is a counter that saturates at math.MaxUint64.
type sum uint64

func (s *sum) add(n int64) {
	*s += sum(n)
	if *s < sum(n) {
		*s = math.MaxUint64
	}
}

// place says where a number comes from, for messages: "the output of stage" 3 "conv1".
type place struct {
	what   string
	number int // -1: there is only one
	name   string
}

func (p place) String() string {
	switch {
	case p.number < 0:
		return p.what
	case p.name == "":
		return fmt.Sprintf("%s %d", p.what, p.number)
	}
	return fmt.Sprintf("%s %d (%s)", p.what, p.number, p.name)
}

func (e *extent) size(b Bytes, what string, number int, name string) {
	e.bytes.add(int64(b))
	if b > e.mostBytes {
		e.mostBytes, e.bytesAt = b, place{what, number, name}
	}
}

func (e *extent) time(d time.Duration, what string, number int, name string) {
	e.times.add(int64(d))
	if d > e.mostTime {
		e.mostTime, e.timeAt = d, place{what, number, name}
	}
}

// rangeError is an error that matches ErrRange. Its text does not include that of ErrRange.
type rangeError struct{ text string }

func (e *rangeError) Error() string        { return e.text }
func (e *rangeError) Is(target error) bool { return target == ErrRange }

func beyond(format string, args ...any) error { return &rangeError{fmt.Sprintf(format, args...)} }

// check returns an error that wraps ErrRange if a sum is beyond the range, or nil.
func (e *extent) check() error {
	switch {
	case e.bytes > sum(MaxBytes):
		return beyond("the sizes add up to %s, the largest is %s with %s; at most %s are supported",
			binary(float64(e.bytes)), e.bytesAt, e.mostBytes.Text(), MaxBytes.Text())
	case e.times > sum(MaxTime):
		return beyond("the times add up to %s, the longest is %s with %s; at most %s are supported",
			days(float64(e.times)), e.timeAt, days(float64(e.mostTime)), days(float64(MaxTime)))
	case e.uses > sum(maxUses):
		return beyond("what the operations read and write adds up to %s; at most %s are supported",
			binary(float64(e.uses)), maxUses.Text())
	}
	return nil
}

// days returns a long time in words, such as "104 days".
func days(ns float64) string {
	const day = 24 * float64(time.Hour)
	if ns < day {
		return time.Duration(Int64(ns)).Round(time.Second).String()
	}
	if years := ns / (365.25 * day); years >= 1000 {
		return fmt.Sprintf("%.3g years", years)
	} else if years >= 3 {
		return fmt.Sprintf("%.0f years", years)
	}
	return fmt.Sprintf("%.0f days", math.Floor(ns/day))
}

// Linked reports whether values can be moved to the host and back. It returns nil, or an error that wraps
// ErrUnsupported: there is no link, or the link is so slow that the transfers of a step could take longer than a
// time.Duration can safely count.
func (p *Problem) Linked() error {
	d := p.Device
	if d.ToHost <= 0 || d.ToDev <= 0 {
		return ErrNeedsLink
	}
	e := p.Graph.extent()
	took := float64(e.times) + float64(e.uses)*float64(time.Second)*(1/float64(d.ToHost)+1/float64(d.ToDev))
	if took > longest {
		return fmt.Errorf("%w: at %s to the host and %s back the transfers of a step could take %s; at most %s are supported",
			ErrUnsupported, d.ToHost.Text(), d.ToDev.Text(), days(took), days(longest))
	}
	return nil
}
