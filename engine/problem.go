package engine

import "fmt"

// Problem is what a strategy solves: one training step on one device within a budget.
// Nobody changes it after it is built, so goroutines may share it. Strategies expect
// that Validate accepts it.
type Problem struct {
	Graph     *Graph      // never nil
	Chain     *ChainGraph // nil if the network is no chain; otherwise Graph is &Chain.Graph
	Device    Device      // its Memory is not looked at: Budget is the limit
	Transfers Transfers
	Budget    Bytes // device memory that may be used at any moment, resident memory included; NoLimit: any amount
}

// NewChainProblem expands a chain into the problem of a device. The chain has to be
// valid, and is not changed from here on: the problem refers to it.
func NewChainProblem(c *Chain, d Device, t Transfers, budget Bytes) *Problem {
	g := ExpandChain(c)
	return &Problem{Graph: &g.Graph, Chain: g, Device: d, Transfers: t, Budget: budget}
}

// WithBudget is the same problem with another budget; the graph is shared.
func (p *Problem) WithBudget(b Bytes) *Problem {
	q := *p
	q.Budget = b
	return &q
}

// Room is what values and temporaries may use: the budget less the resident memory.
// It is negative where not even that fits.
func (p *Problem) Room() Bytes { return p.Budget - p.Graph.Fixed }

// Validate reports the first thing that makes the problem meaningless: budget, device,
// chain or graph; numbers that are too large wrap ErrRange. Solvers and sim are given
// valid problems.
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
