package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Strategy is a published method, or one of our own, as a value. A file adds
// one by calling Register; everything else (forms, links, documentation, the
// contract test) follows from the fields.
type Strategy struct {
	Name   string // stable: it stands in links; lower-case letters and digits
	Title  string // for people: a few words
	Doc    string // the part before the first blank line is a one-sentence summary
	Class  Class  // which schedules it chooses from; decides which lower bound it is held against
	Cites  []Cite
	Params []Param

	// Graphs says that it works on any graph whose operations stand in an order in
	// which they can run; the others work on chains only.
	Graphs bool

	// Solve finds a schedule within p.Budget. The error is nil, or wraps
	// ErrUnsupported, or is an *InfeasibleError, or is the context's error; in
	// the last case the solution, if not nil, is the best so far. p is not changed.
	Solve func(p *Problem, args Args, poll *Poll) (*Solution, error)

	// Sweep solves p for many budgets and shares work between them; nil: there
	// is nothing to share, solve each by itself. It calls yield once for every
	// budget, in an order of its own that draws a curve from coarse to fine, with
	// what Solve gives for p.WithBudget(budgets[i]). When the context is done, all
	// budgets that are left get its error. It calls poll.Next before every budget:
	// one that has no time left gets the error alone. p.Budget is not looked at.
	// It returns after the last yield, and yield is called from its goroutine.
	Sweep func(p *Problem, args Args, budgets []Bytes, poll *Poll, yield func(i int, s *Solution, err error))
}

// Class is a set of things a schedule may do.
type Class uint8

// The classes. Recompute and Offload can be combined; 0 keeps everything.
const (
	MayRecompute Class = 1 << iota
	MayOffload
)

// Cite is a source: authors and title, a doi or arXiv number, and the section.
type Cite struct{ Text, ID, Section string }

// Param is a parameter of a strategy. Every parameter is a whole number or one
// of a list of words.
type Param struct {
	Name, Title, Doc string
	Default          string
	Min, Max         int      // of a whole number
	Choices          []string // of a word; nil for a number
}

// Args are the values of a strategy's parameters by name; what is missing has
// its default. Use Strategy.Parse before reading foreign ones.
type Args map[string]string

// Solution is what a strategy claims. Whether the claim is true is for sim to
// measure and for check to decide.
type Solution struct {
	Schedule Schedule
	Makespan time.Duration // claimed step time
	Peak     Bytes         // claimed peak, resident memory included
	Optimal  bool          // no schedule of Within is faster
	Within   string        // what Optimal and Bound range over, in a few words
	Bound    time.Duration // a proven lower bound of that set; 0 if the strategy has none
	Stopped  bool          // limits of the strategy's own ended the search before it was done; a note says so
	Notes    []string      // for people: which rule a number follows, what was approximated
}

// ErrUnsupported is wrapped by errors that say why a strategy cannot work on a
// problem at all, whatever the budget.
var ErrUnsupported = errors.New("this strategy does not apply")

// ErrNeedsChain is the reason of most strategies.
var ErrNeedsChain = fmt.Errorf("%w: it needs a chain of stages", ErrUnsupported)

// ErrNeedsLink is the reason of strategies that move data; one that can also keep
// everything solves what has room for that without a link.
var ErrNeedsLink = fmt.Errorf("%w: the device has no link to the host", ErrUnsupported)

// InfeasibleError says that no schedule of the strategy fits into the budget.
type InfeasibleError struct {
	Budget   Bytes
	Smallest Bytes  // the smallest budget that would do; 0 if it is not known
	Why      string // what needs so much, for people; may be empty
}

func (e *InfeasibleError) Error() string {
	msg := fmt.Sprintf("does not fit into %d bytes", e.Budget)
	if e.Smallest > 0 {
		msg += fmt.Sprintf("; the smallest budget that would do is %d bytes", e.Smallest)
	}
	if e.Why != "" {
		msg += " (" + e.Why + ")"
	}
	return msg
}

var registry []*Strategy

// Register adds a strategy to the catalogue. It panics if the name is taken or
// malformed: that is a mistake of the program, not of its input.
func Register(s *Strategy) {
	if s.Name == "" || strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		panic(fmt.Sprintf("engine: strategy name %q is not lower-case letters and digits", s.Name))
	}
	if Lookup(s.Name) != nil {
		panic(fmt.Sprintf("engine: strategy %q is registered twice", s.Name))
	}
	registry = append(registry, s)
	slices.SortFunc(registry, func(a, b *Strategy) int { return strings.Compare(a.Name, b.Name) })
}

// Strategies lists what is registered, by name. Import engine/all to have all.
func Strategies() []*Strategy { return slices.Clone(registry) }

// Lookup finds a strategy by name; nil if there is none.
func Lookup(name string) *Strategy {
	for _, s := range registry {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Parse checks args against the parameters and fills in the defaults. Names
// that the strategy does not have are an error.
func (s *Strategy) Parse(args Args) (Args, error) {
	full := Args{}
	for _, p := range s.Params {
		v, ok := args[p.Name]
		if !ok {
			v = p.Default
		}
		if err := p.check(v); err != nil {
			return nil, err
		}
		full[p.Name] = v
	}
	for name := range args {
		if _, ok := full[name]; !ok {
			return nil, fmt.Errorf("%s has no parameter %q", s.Name, name)
		}
	}
	return full, nil
}

func (p *Param) check(v string) error {
	if p.Choices != nil {
		if !slices.Contains(p.Choices, v) {
			return fmt.Errorf("%s is %q; expected one of %s", p.Name, v, strings.Join(p.Choices, ", "))
		}
		return nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < p.Min || n > p.Max {
		return fmt.Errorf("%s is %q; expected a whole number from %d to %d", p.Name, v, p.Min, p.Max)
	}
	return nil
}

// Int is the value of a number that Parse has accepted. It panics on others.
func (a Args) Int(name string) int {
	n, err := strconv.Atoi(a[name])
	if err != nil {
		panic(fmt.Sprintf("engine: parameter %q is %q: Parse was not called", name, a[name]))
	}
	return n
}
