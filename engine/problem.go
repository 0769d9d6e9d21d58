package engine

import "fmt"

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
