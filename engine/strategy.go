package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Marks is the number of marks that strategies of one class can have: charts draw as
// many kinds of lines.
const Marks = 15

// Strategy is a published method, or one of our own, as a value. A file adds one by
// calling Register in its init; forms, links, documentation and the contract test
// (engine/all) follow from the fields. It is not changed after that.
type Strategy struct {
	Name   string  // stable: it stands in links; lower-case letters and digits
	Title  string  // for people: a few words
	Doc    string  // the part before the first blank line is a one-sentence summary
	Class  Class   // what its schedules may do; decides which lower bound they are held against
	Cites  []Cite  // where it was published, in the order of importance; at least one
	Params []Param // in the order of the form

	// Short is its name in lists of plans and beside lines, for readers who do not know
	// the paper. Title stands there where it is empty; see Name.
	Short string

	// Rank is its place among the strategies that are offered first, and Cost is what a
	// schedule costs to find. Lists, the curve, keys and questions go by these two.
	Rank Rank
	Cost Cost

	// Plans is the class of plans (package play) that runs its schedules on an unmodified
	// PyTorch model, where that is not the one of its Class: see PlanClass.
	Plans string

	// Mark tells it apart from the others of its class in pictures that give a class
	// one colour: a number from 0 to Marks-1 that no other of the class has. It never
	// changes, so that a picture looks the same when a strategy is added.
	Mark int

	// Graphs says that it works on any graph whose operations can run in the order in
	// which they stand. The others are given problems with a chain only: Solve and Sweep
	// return ErrNeedsChain where Problem.Chain is nil.
	Graphs bool

	// Lanes says that it plans operations of the network and of the host's CPU. Where the
	// graph has some, others that take graphs plan the device alone (see Solve), and those
	// that do not have the error ErrNeedsLanes.
	Lanes bool

	// Elsewhere says that another program has Solver and Sweeper (see Describe).
	Elsewhere bool

	// Solver finds a schedule within p.Budget: a peak, resident memory included, of
	// no more. The error is nil, or wraps ErrUnsupported (no budget would help), or
	// is an *InfeasibleError (a larger one would), or is poll's; in the last case
	// the solution, if not nil, is the best so far. p is shared with others and not
	// changed; the solution is the caller's. The same problem and arguments give the
	// same answer on every machine, unless poll ends the work; its time is not over when
	// the Solver is called. Others call Solve.
	Solver func(p *Problem, args Parsed, poll *Poll) (*Solution, error)

	// Sweeper solves p for many budgets and shares work between them; nil: there
	// is nothing to share. It calls yield once for every budget, in an order of its
	// own that draws a curve from coarse to fine, with what Solver gives for
	// p.WithBudget(budgets[i]), or with something faster, and at its end again for budgets
	// into which a faster schedule fits that it found for another (see Answers); p.Budget is not looked at. It calls poll.Next before
	// every budget: one whose time is over gets poll's error alone, and once the
	// context is done all that are left get its error. yield is called from the
	// caller's goroutine, and not after the return. Others call Sweep.
	Sweeper func(p *Problem, args Parsed, budgets []Bytes, poll *Poll, yield func(i int, s *Solution, err error))
}

// Class is a set of things that a schedule may do besides running every operation
// once.
type Class uint8

// The classes are sums of these; 0 keeps everything.
const (
	MayRecompute Class = 1 << iota
	MayOffload
)

// Cite is a source: authors and title, a doi or arXiv number, and the section.
type Cite struct{ Text, ID, Section string }

// Solution is a schedule and what its strategy claims about it. Nothing in here has
// been measured: sim plays the schedule, and check proves or refutes what sim says.
// A claim is exact: the contract test refuses a step time or a peak that is a
// nanosecond or a byte off what is played.
type Solution struct {
	Schedule     Schedule
	Makespan     time.Duration // the step time
	Peak         Bytes         // the most device memory in use at a moment, resident memory included
	Optimal      bool          // no schedule of the set named by OptimalAmong is faster within the budget
	OptimalAmong string        // names that set, for people; the tests know each by its name. Empty only without Optimal and Bound
	Bound        time.Duration // no schedule of that set takes less; 0 if nothing is proven
	Stopped      bool          // the strategy's own limits of work or memory ended the search early; a note says so
	Notes        []string      // whole sentences for people: which rule a number follows, what was approximated
}

// ErrUnsupported is wrapped by errors that say why a strategy cannot work on a
// problem at all, whatever the budget.
var ErrUnsupported = errors.New("this strategy does not apply")

// ErrNeedsChain is the error where Problem.Chain is nil, of strategies that do not
// take graphs.
var ErrNeedsChain = fmt.Errorf("%w: it needs a chain of stages", ErrUnsupported)

// ErrNeedsLink is the error of strategies that move data where the device has no
// link. Those that can also keep everything return it only where that does not fit.
var ErrNeedsLink = fmt.Errorf("%w: the device has no link to the host", ErrUnsupported)

// ErrNeedsLanes is the error where operations run on the network or the host, of
// strategies for chains.
var ErrNeedsLanes = fmt.Errorf("%w: the step has operations on the network or the host, which strategies for graphs plan, such as Keep everything (keepall)", ErrUnsupported)

// InfeasibleError says that no schedule of the strategy fits into the budget.
type InfeasibleError struct {
	Budget   Bytes  // that of the problem
	Smallest Bytes  // the smallest budget with which Solve has a solution, to the byte; 0 if it is not known
	Why      string // what needs so much, for people: part of a sentence; may be empty
}

func (e *InfeasibleError) Error() string {
	msg := "does not fit into " + e.Budget.exact()
	if e.Smallest > 0 {
		msg += "; the smallest budget that would do is " + e.Smallest.exact()
	}
	if e.Why != "" {
		msg += ": " + e.Why
	}
	return msg
}

var registry []*Strategy

// Register adds a strategy to the catalogue, for init functions: it is not safe for
// concurrent use. It panics if the name is taken or malformed: that is a mistake of
// the program, not of its input.
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

// errElsewhere is the error of strategies that were described.
var errElsewhere = errors.New("the solver of this strategy is in another program")

// Describe adds a strategy whose solver is in another program, which links what this
// one leaves out: everything is known of it, and here it solves nothing. sweeps says
// that it has a Sweeper there.
func Describe(s *Strategy, sweeps bool) {
	s.Elsewhere = true
	s.Solver = func(*Problem, Parsed, *Poll) (*Solution, error) { return nil, errElsewhere }
	if sweeps {
		s.Sweeper = func(p *Problem, args Parsed, budgets []Bytes, poll *Poll, yield func(int, *Solution, error)) {
			SolveEach(s.Solver, p, args, budgets, poll, yield)
		}
	}
	Register(s)
}

// Strategies lists what is registered, in the order of the names. The list is the
// caller's. Only what is imported or described is
// registered: engine/all imports all.
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
func (s *Strategy) Parse(args Args) (Parsed, error) { return ParseArgs(s.Name, s.Params, args) }

// Solve parses the arguments and runs the Solver: its errors, those of Parse, or poll's. Where
// operations run on the network or the host and the strategy does not plan those, it plans
// the device alone, and package engine/lanes puts them in.
func (s *Strategy) Solve(p *Problem, args Args, poll *Poll) (*Solution, error) {
	solve, parsed, err := s.accept(p, args)
	if err == nil {
		err = poll.Err()
	}
	if err != nil {
		return nil, err
	}
	return solve(p, parsed, poll)
}

// accept parses the arguments, and says what solves the problem. Graphs that are no chain
// are refused for strategies that do not take them, operations of lanes where nobody plans
// them.
func (s *Strategy) accept(p *Problem, args Args) (func(*Problem, Parsed, *Poll) (*Solution, error), Parsed, error) {
	parsed, err := s.Parse(args)
	switch beside := s.beside(p); {
	case err != nil:
		return nil, Parsed{}, err
	case beside && (!s.Graphs || planLanes == nil):
		return nil, Parsed{}, ErrNeedsLanes
	case !s.Graphs && p.Chain == nil:
		return nil, Parsed{}, ErrNeedsChain
	case !beside:
		return s.Solver, parsed, nil
	}
	return func(p *Problem, args Parsed, poll *Poll) (*Solution, error) { return planLanes(s, p, args, poll) }, parsed, nil
}

// beside says whether a problem has operations of lanes that the strategy does not plan.
func (s *Strategy) beside(p *Problem) bool { return !s.Lanes && p.Graph != nil && p.Graph.HasLanes() }

// Sweep parses the arguments and runs the Sweeper, or the Solver for one budget
// after the other if there is none. Arguments that are not accepted are the error
// of every budget.
func (s *Strategy) Sweep(p *Problem, args Args, budgets []Bytes, poll *Poll, yield func(i int, s *Solution, err error)) {
	solve, parsed, err := s.accept(p, args)
	switch {
	case err != nil:
		for i := range budgets {
			yield(i, nil, err)
		}
	case s.Sweeper != nil && !s.beside(p):
		s.Sweeper(p, parsed, budgets, poll, yield)
	default:
		SolveEach(solve, p, parsed, budgets, poll, yield)
	}
}

// SolveEach is a Sweeper that shares nothing: for arguments and problems with which
// a strategy's own has nothing to share.
func SolveEach(solve func(*Problem, Parsed, *Poll) (*Solution, error), p *Problem, args Parsed, budgets []Bytes, poll *Poll, yield func(i int, s *Solution, err error)) {
	for i, b := range budgets {
		poll.Next()
		if err := poll.Err(); err != nil {
			yield(i, nil, err)
			continue
		}
		sol, err := solve(p.WithBudget(b), args, poll)
		yield(i, sol, err)
	}
}
