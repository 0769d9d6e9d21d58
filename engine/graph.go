package engine

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// ValueID is the index of a value in Graph.Values.
type ValueID int32

// OpID is the index of an operation in Graph.Ops.
type OpID int32

// NoValue and NoOp are the ids that stand for the absence of a value or an operation.
const (
	NoValue ValueID = -1
	NoOp    OpID    = -1
)

// ValueKind is the kind of a value; the pictures colour memory by it.
type ValueKind uint8

// The kinds of values. More may be added.
const (
	KindActivation ValueKind = iota // output or saved activations of a forward operation
	KindGradient                    // gradient of an activation
	KindWeight                      // weights, their gradients, optimizer state: needed to the end of the step
	KindState                       // the same, in a step that replaces or gathers it: needed to its last use
)

// Place is a set of bits that says where a value is when the step begins.
type Place uint8

// The places; the zero value means that an operation has to produce the value.
const (
	OnDevice Place = 1 << iota
	OnHost
)

// Value is one piece of data of a training step. It is on the device as a whole or not at all, except for the part
// that a streamed transfer has moved.
type Value struct {
	Name    string // for people
	Kind    ValueKind
	Size    Bytes
	Stage   int   // the stage it belongs to, 0 if there is no such stage
	Initial Place // 0: an operation has to produce it

	// PartOf is a value that contains this one, or NoValue (not 0): a device copy of it serves every reader of this
	// value. In a chain a^k is a part of abar^k, unless no backward reads a^k. There are no cycles.
	PartOf ValueID
}

// Pass tells forward operations from backward operations.
type Pass uint8

// The passes.
const (
	Forward Pass = iota
	Backward
)

// Op is one operation of a training step.
type Op struct {
	Name       string // for people
	Pass       Pass
	Stage      int // the stage it belongs to, 0 if there is no such stage
	Time       time.Duration
	Temp       Bytes     // used only while it runs, besides In and Out [oF, oB]
	In         []ValueID // must be on the device, whole, from its start to its end
	Out        []ValueID // allocated when it starts, readable when it ends
	OutputOnly []ValueID // what an output-only run writes instead of Out: F^k only a^k; nil if there is no such run
	Alt        *Alt      // a second algorithm, which reads and writes the same; nil if there is only one
	Once       bool      // must not run again: random, in place or a collective; not set for backward operations
	Lane       Lane      // where it runs: on the device, the network or the host's CPU
	After      []OpID    // earlier operations that must have ended before it starts, whatever it reads; may be nil
}

// Alt is a second algorithm for an operation: its time and workspace instead of Op.Time and Op.Temp (see Stage.Fast).
type Alt struct {
	Time time.Duration `json:"time_ns"`
	Temp Bytes         `json:"temp_bytes"`
}

// Graph is one training step: operations, the values between them, and the resident memory. A graph must not be
// changed after it is built.
type Graph struct {
	Values []Value
	Ops    []Op
	Fixed  Bytes   // resident memory: part of every budget, never moved
	Done   ValueID // the step is complete when this value has been produced; NoValue: when every op has run
	Stages int     // number of stages that ops and values refer to; may be 0
}

// Validate reports the first inconsistency of the graph, in the order of values and then operations, or an error
// that wraps ErrRange.
func (g *Graph) Validate() error {
	if len(g.Ops) == 0 {
		return fmt.Errorf("the graph has no operations")
	}
	for i := range g.Values {
		v := &g.Values[i]
		if v.Size < 0 {
			return fmt.Errorf("value %d (%s) has a negative size", i, v.Name)
		}
		if v.PartOf != NoValue && !g.hasValue(v.PartOf) {
			return fmt.Errorf("value %d (%s) is part of value %d, which does not exist", i, v.Name, v.PartOf)
		}
	}
	if i := g.circle(); i != NoValue {
		return fmt.Errorf("value %d (%s) is part of itself, through value %d; a value is part of a larger value or of none", i, g.Values[i].Name, g.Values[i].PartOf)
	}
	if g.Fixed < 0 {
		return fmt.Errorf("resident memory is %s; sizes cannot be negative", g.Fixed.Text())
	}
	if g.Done != NoValue && !g.hasValue(g.Done) {
		return fmt.Errorf("the step is complete with value %d, which does not exist", g.Done)
	}
	for i := range g.Ops {
		op := &g.Ops[i]
		if op.Time < 0 || op.Temp < 0 {
			return fmt.Errorf("operation %d (%s) has a negative time or size", i, op.Name)
		}
		if op.Alt != nil && (op.Alt.Time < 0 || op.Alt.Temp < 0) {
			return fmt.Errorf("operation %d (%s) has a second algorithm with a negative time or size", i, op.Name)
		}
		for _, ids := range [...][]ValueID{op.In, op.Out, op.OutputOnly} {
			for _, id := range ids {
				if !g.hasValue(id) {
					return fmt.Errorf("operation %d (%s) names value %d, which does not exist", i, op.Name, id)
				}
			}
		}
	}
	if validLanes != nil && g.HasLanes() {
		if err := validLanes(g); err != nil {
			return err
		}
	}
	return g.extent().check()
}

// circle returns a value that is a part of itself, directly or through others, or NoValue.
func (g *Graph) circle() ValueID {
	const open, done = 1, 2
	state := make([]uint8, len(g.Values))
	for i := range g.Values {
		v := ValueID(i)
		for ; v != NoValue && state[v] == 0; v = g.Values[v].PartOf {
			state[v] = open
		}
		if v != NoValue && state[v] == open {
			return v
		}
		for v = ValueID(i); v != NoValue && state[v] == open; v = g.Values[v].PartOf {
			state[v] = done
		}
	}
	return NoValue
}

// extent adds up all sizes and times of the graph.
func (g *Graph) extent() *extent {
	e := &extent{}
	e.size(g.Fixed, "resident memory", -1, "")
	for i := range g.Values {
		e.size(g.Values[i].Size, "value", i, g.Values[i].Name)
	}
	for i := range g.Ops {
		op := &g.Ops[i]
		e.size(op.Temp, "the workspace of operation", i, op.Name)
		e.time(op.Time, "operation", i, op.Name)
		if op.Alt != nil {
			e.size(op.Alt.Temp, "the workspace of the second algorithm of operation", i, op.Name)
			e.time(op.Alt.Time, "the second algorithm of operation", i, op.Name)
		}
		for _, ids := range [...][]ValueID{op.In, op.Out, op.OutputOnly} {
			for _, id := range ids {
				e.uses.add(int64(g.Values[id].Size))
			}
		}
	}
	return e
}

// Servers maps every value to the value whose copy serves its readers: itself if an operation makes it or it exists
// when the step begins, otherwise the value that contains it. The error wraps ErrUnsupported if a value is made
// both by itself and as a part of another one.
func (g *Graph) Servers() ([]ValueID, error) {
	made := make([]bool, len(g.Values))
	for i := range g.Values {
		made[i] = g.Values[i].Initial != 0
	}
	for i := range g.Ops {
		for _, v := range g.Ops[i].Out {
			made[v] = true
		}
	}
	servers := make([]ValueID, len(g.Values))
	for i := range g.Values {
		v := ValueID(i)
		for !made[v] && g.Values[v].PartOf != NoValue {
			v = g.Values[v].PartOf
		}
		servers[i] = v
		if w := g.Values[i].PartOf; made[i] && w != NoValue && made[w] {
			return nil, fmt.Errorf("%w: %s is made by itself and as a part of %s", ErrUnsupported, g.Values[i].Name,
				g.Values[w].Name)
		}
	}
	return servers, nil
}

func (g *Graph) hasValue(id ValueID) bool { return id >= 0 && int(id) < len(g.Values) }

// ChainGraph is the graph of a chain, with the ids of its parts. For a chain of n stages the values are
//
//	a^0..a^n         outputs; a^0 is on the device when the step begins
//	abar^1..abar^n   saved activations; a^k is a part of abar^k, unless it is Unsaved
//	delta^0..delta^n gradients of the outputs
//
// F^k reads a^{k-1} and writes abar^k, or only a^k when it runs output-only. B^k reads delta^k, abar^k and a^{k-1}
// and writes delta^{k-1} (papers' Table 1: F_all is a run, F_ck an output-only run, F_none an output-only run
// followed by freeing a^{k-1}). Both have a second algorithm (Op.Alt) where the stage has one.
//
// An Unsaved output (Stage.Unsaved) is not a part of abar^k: F^k writes both, or only a^k when it runs output-only,
// and neither B^k nor B^{k+1} reads a^k. A schedule may free it when F^{k+1} has read it. To run F^{k+1} again, a
// schedule has to keep a^k or to compute it again, whether or not abar^k is there.
//
// Package engine's documentation, under Decisions, says why abar^k - a^k is not a value of its own.
type ChainGraph struct {
	Graph
	Chain *Chain
}

// FirstWays returns set, the name of a set of schedules, for claims of strategies that run every operation by its
// first algorithm. Where an operation has a second one (Op.Alt), the restriction is added to the name.
func (g *Graph) FirstWays(set string) string {
	if slices.ContainsFunc(g.Ops, func(op Op) bool { return op.Alt != nil }) {
		return set + ", each operation by its first algorithm"
	}
	return set
}

// ExpandChain builds the graph of a valid chain. The graph refers to c.
func ExpandChain(c *Chain) *ChainGraph {
	n := c.Len()
	g := &ChainGraph{Chain: c}
	g.Fixed = c.Resident.Total()
	g.Stages = n
	g.Values = make([]Value, 3*n+2)
	for k := 0; k <= n; k++ {
		within := NoValue
		if k > 0 && !c.Unsaved(k) {
			within = g.Saved(k)
		}
		g.Values[g.Act(k)] = Value{Name: "a" + strconv.Itoa(k), Kind: KindActivation, Size: c.Act(k), Stage: k,
			PartOf: within}
		g.Values[g.Grad(k)] = Value{Name: "d" + strconv.Itoa(k), Kind: KindGradient, Size: c.Grad(k), Stage: k,
			PartOf: NoValue}
	}
	g.Values[g.Act(0)].Initial = OnDevice
	if !c.LossGradAllocated {
		g.Values[g.Grad(n)].Initial = OnDevice
	}
	g.Ops = make([]Op, 2*n)
	for k := 1; k <= n; k++ {
		st := &c.Stages[k-1]
		number := strconv.Itoa(k)
		g.Values[g.Saved(k)] = Value{Name: "s" + number, Kind: KindActivation, Size: st.Saved, Stage: k,
			PartOf: NoValue}
		g.Ops[g.Fwd(k)] = Op{Name: "F" + number, Pass: Forward, Stage: k, Time: st.Forward, Temp: st.FwdTemp,
			In: []ValueID{g.Act(k - 1)}, Out: []ValueID{g.Saved(k)}, OutputOnly: []ValueID{g.Act(k)}}
		back := Op{Name: "B" + number, Pass: Backward, Stage: k, Time: st.Back, Temp: st.BwdTemp,
			In: []ValueID{g.Grad(k), g.Saved(k), g.Act(k - 1)}, Out: []ValueID{g.Grad(k - 1)}}
		if st.Unsaved {
			g.Ops[g.Fwd(k)].Out = append(g.Ops[g.Fwd(k)].Out, g.Act(k))
		}
		if c.Unsaved(k - 1) {
			back.In = back.In[:2]
		}
		if st.Fast != nil {
			g.Ops[g.Fwd(k)].Alt = &Alt{Time: st.Fast.Forward, Temp: st.Fast.FwdTemp}
			back.Alt = &Alt{Time: st.Fast.Back, Temp: st.Fast.BwdTemp}
		}
		if k == n && c.LossGradAllocated {
			back.In, back.Out = back.In[1:], append(back.Out, g.Grad(n))
		}
		g.Ops[g.Bwd(k)] = back
	}
	g.Done = g.Grad(0)
	return g
}

// Act returns the id of a^k, k = 0..n.
func (g *ChainGraph) Act(k int) ValueID { return ValueID(k) }

// Saved returns the id of abar^k, k = 1..n.
func (g *ChainGraph) Saved(k int) ValueID { return ValueID(g.Chain.Len() + k) }

// Grad returns the id of delta^k, k = 0..n.
func (g *ChainGraph) Grad(k int) ValueID { return ValueID(2*g.Chain.Len() + 1 + k) }

// Fwd returns the id of F^k, k = 1..n.
func (g *ChainGraph) Fwd(k int) OpID { return OpID(k - 1) }

// Bwd returns the id of B^k, k = 1..n.
func (g *ChainGraph) Bwd(k int) OpID { return OpID(2*g.Chain.Len() - k) }

// Needs returns the reason why op needs total bytes, resident memory included, for the Why of an InfeasibleError.
// It names the stage and the pass of op, then the sizes that add up to total, the largest first. What remains of
// total is called "other values".
func (g *ChainGraph) Needs(op ChainOp, total Bytes) string {
	c, k := g.Chain, op.Stage
	st := &c.Stages[k-1]
	type part struct {
		size Bytes
		what string
	}
	pass := "forward"
	parts := []part{{c.Resident.Total(), "resident memory"}, {c.Act(k - 1), "its input"}}
	switch op.Kind {
	case FAll:
		parts = append(parts, part{st.Saved, "its saved set"}, part{c.Beside(k), "its output"},
			part{st.FwdTemp, "its workspace"})
	case BStep:
		pass = "backward"
		if c.Unsaved(k - 1) {
			parts = parts[:1]
		}
		parts = append(parts, part{st.Saved, "its saved set"}, part{st.Grad, "the gradient of its output"},
			part{c.Grad(k - 1), "the gradient of its input"}, part{st.BwdTemp, "its workspace"})
	default:
		parts = append(parts, part{st.Out, "its output"}, part{st.FwdTemp, "its workspace"})
	}
	for _, p := range parts {
		total -= p.size
	}
	parts = append(parts, part{total, "other values"})
	sort.SliceStable(parts, func(i, j int) bool { return parts[i].size > parts[j].size })
	var words []string
	for _, p := range parts {
		if p.size > 0 {
			words = append(words, p.what+" "+p.size.Text())
		}
	}
	return fmt.Sprintf("the %s of stage %d (%s) needs the most: %s", pass, k, cmp.Or(st.Name,
		"a stage without a name"), strings.Join(words, ", "))
}
