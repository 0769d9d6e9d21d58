package doctor

import (
	"cmp"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// Alive describes the buffers that are in use after event At.
type Alive struct {
	At         int          `json:"at"`
	Time       int64        `json:"time_us,omitempty"`
	Bytes      engine.Bytes `json:"bytes"` // as requested
	Count      int          `json:"count"`
	Categories []Share      `json:"categories"`
	Sites      []Site       `json:"sites"` // the largest ones
	OtherSites Site         `json:"other_sites"`
	Flame      *Flame       `json:"flame"`
}

// Share is the memory that a category has in use. Guessed is the part of Bytes whose category
// does not follow from a stack.
type Share struct {
	Category Category     `json:"category"`
	Bytes    engine.Bytes `json:"bytes"`
	Count    int          `json:"count"`
	Guessed  engine.Bytes `json:"guessed_bytes"`
}

// Site is the memory that one place in the program has in use. Category is the category with the most bytes.
type Site struct {
	Site     string       `json:"site"`
	Category Category     `json:"category,omitempty"`
	Bytes    engine.Bytes `json:"bytes"`
	Count    int          `json:"count"`
}

// Flame is a node of a flame graph: the bytes that were requested within a call, including its
// calls, which are sorted by size. Calls that are too small to be seen are left out of Calls,
// but Bytes contains them. Category is the category with the most bytes.
type Flame struct {
	Name     string       `json:"name"`
	Category Category     `json:"category"`
	Bytes    engine.Bytes `json:"bytes"`
	Calls    []*Flame     `json:"calls,omitempty"`
}

// Bounds of Alive: mostSites limits Sites, and a call with less than 1/leastShare of all bytes
// is left out of the flame graph.
const (
	mostSites  = 30
	leastShare = 200
)

// Alive describes the buffers in use after event at, which may be Decisive. It clamps at to the
// events of the recording.
func (r *Recording) Alive(at int) *Alive {
	if at == Decisive {
		at = r.facts.PeakAt
		if r.facts.Failure != nil {
			at = r.facts.Failure.At
		}
	}
	a := &Alive{At: max(0, min(at, r.facts.Events-1))}
	at = a.At
	if r.history.Times != nil {
		a.Time = r.history.Times[at]
	}
	var shares [len(parts{})]Share
	byStack := make([]parts, len(r.history.Stacks.Calls))
	for i := range r.Requests.Buffers {
		if !r.Lives(i, at) {
			continue
		}
		n, k := r.Requests.Buffers[i].Bytes, r.kinds[i]
		c := slices.Index(Categories, k.category)
		s := &shares[c]
		s.Category, s.Bytes, s.Count = k.category, s.Bytes+n, s.Count+1
		if k.guessed {
			s.Guessed += n
		}
		a.Bytes, a.Count = a.Bytes+n, a.Count+1
		byStack[r.history.Stack[i]][c] += n
	}
	for _, s := range shares {
		if s.Count > 0 {
			a.Categories = append(a.Categories, s)
		}
	}
	a.Sites = r.sites(at)
	if n := len(a.Sites); n > mostSites {
		for _, s := range a.Sites[mostSites:] {
			a.OtherSites.Bytes, a.OtherSites.Count = a.OtherSites.Bytes+s.Bytes, a.OtherSites.Count+s.Count
		}
		a.Sites = a.Sites[:mostSites]
	}
	a.Flame = flame(&r.history.Stacks, byStack)
	return a
}

// sites returns all places that have memory in use after event at, the largest first.
func (r *Recording) sites(at int) (list []Site) {
	held, kinds := map[string]*Site{}, map[string]*parts{}
	for i := range r.Requests.Buffers {
		if !r.Lives(i, at) {
			continue
		}
		site := r.site(i)
		if held[site] == nil {
			held[site], kinds[site] = &Site{Site: site}, &parts{}
		}
		n := r.Requests.Buffers[i].Bytes
		held[site].Bytes, held[site].Count = held[site].Bytes+n, held[site].Count+1
		kinds[site][slices.Index(Categories, r.kinds[i].category)] += n
	}
	for site, s := range held {
		s.Category = kinds[site].category()
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b Site) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Site, b.Site))
	})
	return list
}

// parts holds bytes by category, in the order of Categories.
type parts [6]engine.Bytes

func (p *parts) total() (sum engine.Bytes) {
	for _, n := range p {
		sum += n
	}
	return sum
}

// category returns the category with the most bytes, the first of equal ones.
func (p *parts) category() Category { return Categories[slices.Index(p[:], slices.Max(p[:]))] }

// flame returns the flame graph of bytes by stack. It overwrites sums: each stack's bytes are
// added to its parent, which comes before it.
func flame(s *profiles.Stacks, sums []parts) *Flame {
	own := sums[0]
	for i := len(sums) - 1; i > 0; i-- {
		for k, n := range sums[i] {
			sums[s.Calls[i].Parent][k] += n
		}
	}
	all := sums[0].total()
	root := &Flame{Name: "all", Category: sums[0].category(), Bytes: all}
	nodes := make([]*Flame, len(sums))
	nodes[0] = root
	for i := 1; i < len(sums); i++ {
		up, n := nodes[s.Calls[i].Parent], sums[i].total()
		if up == nil || n == 0 || n < all/leastShare {
			continue
		}
		nodes[i] = &Flame{Name: s.Frames[s.Calls[i].Frame].Text(), Category: sums[i].category(), Bytes: n}
		up.Calls = append(up.Calls, nodes[i])
	}
	if n := own.total(); n > 0 {
		root.Calls = append(root.Calls, &Flame{Name: "no stack recorded", Category: own.category(), Bytes: n})
	}
	for _, n := range nodes {
		if n != nil {
			slices.SortStableFunc(n.Calls, func(a, b *Flame) int { return cmp.Compare(b.Bytes, a.Bytes) })
		}
	}
	return root
}

// Category is the purpose of a buffer, as far as its stack and its lifetime show it.
type Category string

// The categories, in the order in which they are shown.
const (
	Weights     Category = "weights"
	Gradients   Category = "gradients"
	Optimizer   Category = "optimizer"
	Activations Category = "activations"
	Temporaries Category = "temporaries"
	Unknown     Category = "unknown"
)

// Categories lists all categories.
var Categories = []Category{Weights, Gradients, Optimizer, Activations, Temporaries, Unknown}

// kind is the category of a buffer; guessed reports that it follows from the lifetime alone.
type kind struct {
	category Category
	guessed  bool
}

// phase is the part of a step that a stack belongs to.
type phase uint8

const (
	noPhase phase = iota // there is no stack
	otherPhase
	buildPhase
	forwardPhase
	backwardPhase
	optimizerPhase
)

// classify sets the category of every buffer, from the innermost frame of its stack that shows a
// phase, and from its lifetime. If most requests have a stack, those without one come from the
// backward: autograd runs in a thread of its own, without Python.
func (r *Recording) classify() {
	stacks := &r.history.Stacks
	phases := make([]phase, len(stacks.Calls))
	within := make([]bool, len(stacks.Calls)) // whether the stack is within a backward
	for i := 1; i < len(stacks.Calls); i++ {
		c := stacks.Calls[i] // it comes after its parent
		phases[i] = phaseOf(&stacks.Frames[c.Frame])
		if phases[i] == otherPhase && c.Parent > 0 {
			phases[i] = phases[c.Parent]
		}
		within[i] = phases[i] == backwardPhase || within[c.Parent]
	}
	with := 0
	asked := r.Requests.Buffers[min(r.Before, len(r.Requests.Buffers)):]
	for i := range asked {
		if r.history.Stack[i+r.Before] > 0 {
			with++
		}
	}
	stackless := 2*with > len(asked)
	r.kinds, r.turns = make([]kind, len(r.Requests.Buffers)), make([]bool, len(r.Requests.Buffers))
	for i := range r.kinds {
		stack := r.history.Stack[i]
		r.kinds[i] = r.kindOf(i, phases[stack], stackless)
		r.turns[i] = within[stack] || phases[stack] == optimizerPhase
		r.facts.Trains = r.facts.Trains || r.turns[i] && r.Requests.Buffers[i].Start >= r.Before
	}
}

// Category returns the purpose of a buffer.
func (r *Recording) Category(buffer int) Category { return r.kinds[buffer].category }

func (r *Recording) kindOf(i int, p phase, stackless bool) kind {
	b := &r.Requests.Buffers[i]
	before, stays := b.Start < r.Before, b.End >= len(r.Requests.Events)
	soon := max(2, min(16, len(r.Requests.Events)/64)) // events within which a temporary is freed
	short := !before && b.End-b.Start <= soon && !stays
	switch {
	case p == buildPhase:
		return kind{Weights, false}
	case short:
		return kind{Temporaries, p <= otherPhase}
	case p == optimizerPhase:
		return kind{Optimizer, false}
	case p == backwardPhase:
		return kind{Gradients, false}
	case p == forwardPhase:
		return kind{Activations, false}
	case before && stays:
		return kind{Weights, true}
	case p == noPhase && !before && stackless:
		return kind{Gradients, true}
	}
	return kind{Unknown, false}
}

// phaseOf returns the phase that a frame shows, or otherPhase.
func phaseOf(f *profiles.Frame) phase {
	name := f.Name
	switch {
	case strings.Contains(f.File, "torch/optim/"), strings.Contains(f.File, "/optimizers/"),
		strings.Contains(f.File, "bitsandbytes/optim"):
		return optimizerPhase
	case strings.Contains(name, "Backward"), strings.Contains(name, "AccumulateGrad"),
		strings.Contains(name, "autograd::Engine"),
		name == "backward", name == "_engine_run_backward",
		name == "unpack_hook" && strings.HasSuffix(f.File, "torch/utils/checkpoint.py"): // it runs the forward again
		return backwardPhase
	case name == "forward":
		return forwardPhase
	case name == "reset_parameters", name == "load_state_dict", name == "_load_from_state_dict",
		name == "from_pretrained",
		name == "__init__" && strings.Contains(f.File, "nn/"), name == "_apply" &&
			strings.HasSuffix(f.File, "nn/modules/module.py"):
		return buildPhase
	}
	return otherPhase
}
