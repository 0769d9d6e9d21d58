package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Marks is the number of different marks that strategies of one class can have. Charts have as many kinds of lines.
const Marks = 15

// Strategy is a published method, or one of our own. A file adds one by calling Register in its init; forms, links,
// documentation and the contract test (engine/all) follow from the fields. It must not be changed after that.
type Strategy struct {
	Name   string  // stable, since it is written in links; lower-case letters and digits
	Title  string  // for people: a few words
	Doc    string  // a summary of one sentence; docs/strategies.md says more
	Class  Class   // what its schedules may do; decides which lower bound they are compared with
	Cites  []Cite  // where it was published, in the order of importance; at least one
	Params []Param // in the order of the form

	// Short is its name in lists of plans and beside lines, for readers who do not know the paper. If it is empty,
	// Title is used; see Label.
	Short string

	// Rank is its position among the strategies that are offered first, and Cost says how expensive it is to find a
	// schedule. Lists, the curve, keys and questions are ordered by these.
	Rank Rank
	Cost Cost

	// Plans is the class of plans (package play) that runs its schedules on an unmodified PyTorch model, if it is
	// not the one that follows from Class: see PlanClass.
	Plans string

	// Mark tells it apart from the others of its class in pictures that give a class one colour. It is a number
	// from 0 to Marks-1 that is unique within the class. It never changes, so that a picture looks the same when a
	// strategy is added.
	Mark int

	// Graphs says that it works on any graph whose operations can run in the order of Graph.Ops. The others need a
	// problem with a chain: Solve and Sweep return ErrNeedsChain if Problem.Chain is nil.
	Graphs bool

	// Lanes says that it plans operations of the network and of the host's CPU. If the graph has some and Lanes is
	// not set, a strategy with Graphs plans the device alone (see Solve), and one without returns ErrNeedsLanes.
	Lanes bool

	// Elsewhere says that Solver and Sweeper are in another program (see Describe).
	Elsewhere bool

	// Solver finds a schedule whose peak, resident memory included, is at most p.Budget. The error is nil, or wraps
	// ErrUnsupported (no budget would help), or is an *InfeasibleError (a larger one would), or is poll's; in the
	// last case the solution, if not nil, is the best so far. Solver must not change p, which is shared; the
	// solution belongs to the caller. The same problem and arguments give the same answer on every machine, unless
	// poll ends the work. poll has time left when Solver is called. Callers outside of strategies use Solve.
	Solver func(p *Problem, args Parsed, poll *Poll) (*Solution, error)

	// Sweeper solves p for many budgets and shares work between them; it is nil if there is nothing to share. It
	// calls yield once for every budget, in an order that draws a curve from coarse to fine, with what Solver
	// returns for p.WithBudget(budgets[i]), or with something as fast or faster. At its end it calls yield again
	// for budgets into which a faster schedule fits that it found for another one (see Answers). It ignores
	// p.Budget. It calls poll.Next before every budget. A budget whose time is over gets poll's error, and once
	// the context is done all remaining budgets get its error. yield is called in the caller's goroutine, and not
	// after the return. Callers outside of strategies use Sweep.
	Sweeper func(p *Problem, args Parsed, budgets []Bytes, poll *Poll, yield func(i int, s *Solution, err error))
}

// Class is the set of things that a schedule may do besides running every operation once.
type Class uint8

// The classes are unions of these bits; 0 keeps everything.
const (
	MayRecompute Class = 1 << iota
	MayOffload
)

// Cite is a source: authors and title, a doi or arXiv number, and the section.
type Cite struct{ Text, ID, Section string }

// Solution is a schedule and what its strategy claims about it. The claims are not measured: sim plays the
// schedule, and check proves or refutes what sim says. A claim is exact: the contract test refuses a step time or a
// peak that is a nanosecond or a byte off what is played.
type Solution struct {
	Schedule     Schedule
	Makespan     time.Duration // the step time
	Peak         Bytes         // the most device memory in use at one time, resident memory included
	Optimal      bool          // no schedule of the set named by OptimalAmong is faster within the budget
	OptimalAmong string        // name of that set; tests know each by its name. Empty only without Optimal and Bound
	Bound        time.Duration // no schedule of that set takes less; 0 if nothing is proven
	Stopped      bool          // a limit of work or memory within the strategy ended the search early; a note says so
	Notes        []string      // whole sentences for people: which rule a number follows, what was approximated
}

// Note adds a note.
func (s *Solution) Note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// ErrUnsupported is wrapped by errors that say why a strategy does not work on a problem, whatever the budget.
var ErrUnsupported = errors.New("this strategy does not apply")

// ErrNeedsChain is returned by strategies for chains if Problem.Chain is nil.
var ErrNeedsChain = fmt.Errorf("%w: it needs a chain of stages", ErrUnsupported)

// ErrNeedsLink is returned by strategies that move data if the device has no link. Those that can also keep
// everything return it only if that does not fit.
var ErrNeedsLink = fmt.Errorf("%w: the device has no link to the host", ErrUnsupported)

// ErrNeedsLanes is returned by strategies for chains if operations run on the network or the host.
var ErrNeedsLanes = fmt.Errorf("%w: the step has operations on the network or the host, which strategies for graphs plan, such as Keep everything (keepall)", ErrUnsupported)

// InfeasibleError reports that no schedule of the strategy fits into the budget.
type InfeasibleError struct {
	Budget   Bytes  // the budget of the problem
	Smallest Bytes  // the smallest budget for which Solve has a solution, to the byte; 0 if it is not known
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

var strategies = Registry[Strategy]{Kind: "engine: strategy", Name: func(s *Strategy) string { return s.Name }}

// Register adds a strategy, for init functions: see Registry.
func Register(s *Strategy) { strategies.Register(s) }

// errElsewhere is returned by the solvers of strategies added with Describe.
var errElsewhere = errors.New("the solver of this strategy is in another program")

// Describe adds a strategy whose solver is in another program. All its fields are known in this program, but its
// Solver returns an error. sweeps says that it has a Sweeper in the other program. Small programs use it to list
// strategies that they do not link.
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

// Strategies returns the registered strategies in the order of their names, in a slice that belongs to the caller.
// Only what is imported or described is registered: engine/all imports all.
func Strategies() []*Strategy { return strategies.All() }

// Lookup returns the strategy with this name, or nil.
func Lookup(name string) *Strategy { return strategies.Lookup(name) }

// Parse checks args against the parameters and fills in the defaults. It returns an error if the strategy does not
// have a parameter that args names.
func (s *Strategy) Parse(args Args) (Parsed, error) { return ParseArgs(s.Name, s.Params, args) }

// Solve parses the arguments and runs the Solver. The error is that of Parse, of poll or of the Solver. If
// operations run on the network or the host and the strategy does not support those, Solve plans the device alone,
// and package engine/lanes inserts them.
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

// accept parses the arguments, and returns the function that solves p. It returns an error for a graph that is not
// a chain if the strategy needs one, and for operations of other lanes if neither the strategy nor the program can
// plan them.
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
	return func(p *Problem, args Parsed, poll *Poll) (*Solution, error) { return planLanes(s, p, args, poll) },
		parsed, nil
}

// beside reports whether p has operations of lanes that the strategy does not plan.
func (s *Strategy) beside(p *Problem) bool { return !s.Lanes && p.Graph != nil && p.Graph.HasLanes() }

// Sweep parses the arguments and runs the Sweeper, or the Solver for one budget after the other if there is no
// Sweeper. If the arguments are not accepted, every budget gets that error.
func (s *Strategy) Sweep(p *Problem, args Args, budgets []Bytes, poll *Poll,
	yield func(i int, s *Solution, err error)) {
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

// SolveEach is a Sweeper that shares no work. Sweepers use it for arguments and problems where there is nothing to
// share.
func SolveEach(solve func(*Problem, Parsed, *Poll) (*Solution, error), p *Problem, args Parsed, budgets []Bytes,
	poll *Poll, yield func(i int, s *Solution, err error)) {
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

// Registry is a list of values that have names, such as the strategies, in the order of the names. It is filled by
// init functions, and not safe for concurrent use while it is.
type Registry[T any] struct {
	Kind  string          // what a value is called in panics, with its package: "engine: strategy"
	Name  func(*T) string // the name of a value, which must not change
	Runes string          // the characters that names may have beside lower-case letters and digits

	values []*T
}

// Register adds v. It panics if the name of v is taken or malformed, which is a bug in the program, not in its input.
func (r *Registry[T]) Register(v *T) {
	name := r.Name(v)
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789"+r.Runes) != "" {
		panic(fmt.Sprintf("%s name %q is not lower-case letters and digits%s", r.Kind, name,
			strings.TrimSuffix(" or "+r.Runes, " or ")))
	}
	if r.Lookup(name) != nil {
		panic(fmt.Sprintf("%s %q is registered twice", r.Kind, name))
	}
	r.values = append(r.values, v)
	slices.SortFunc(r.values, func(a, b *T) int { return strings.Compare(r.Name(a), r.Name(b)) })
}

// All returns the registered values in the order of their names, in a slice that belongs to the caller.
func (r *Registry[T]) All() []*T { return slices.Clone(r.values) }

// Lookup returns the value with this name, or nil.
func (r *Registry[T]) Lookup(name string) *T {
	i := slices.IndexFunc(r.values, func(v *T) bool { return r.Name(v) == name })
	if i < 0 {
		return nil
	}
	return r.values[i]
}

// Found holds solutions for one problem, found for any budgets.
type Found []*Solution

// Add appends s unless it is nil.
func (f *Found) Add(s *Solution) {
	if s != nil {
		*f = append(*f, s)
	}
}

// Within returns the fastest solution that fits into budget, the first one of equally fast ones, or nil if none fits.
func (f Found) Within(budget Bytes) (best *Solution) {
	for _, s := range f {
		if s.Peak <= budget && (best == nil || s.Makespan < best.Makespan) {
			best = s
		}
	}
	return best
}

// Answers passes on the results of a sweep as they come. At the end, Settle yields again for each budget that has a
// faster schedule among those found for other budgets. A schedule found with a smaller budget always fits; one
// found with a larger budget may fit too.
type Answers struct {
	Found   // solutions for any budget; a sweep may add what it has found on the way
	budgets []Bytes
	yield   func(i int, s *Solution, err error)
	given   []*Solution
	closed  []bool // budgets with an error that another schedule does not remove
}

// NewAnswers returns the Answers of a sweep over budgets that calls yield.
func NewAnswers(budgets []Bytes, yield func(i int, s *Solution, err error)) *Answers {
	return &Answers{budgets: budgets, yield: yield, given: make([]*Solution, len(budgets)),
		closed: make([]bool, len(budgets))}
}

// Tell passes on the result for budget i and remembers it.
func (a *Answers) Tell(i int, s *Solution, err error) {
	_, infeasible := errors.AsType[*InfeasibleError](err)
	a.closed[i] = err != nil && !infeasible
	if err == nil {
		a.given[i] = s
		a.Add(s)
	}
	a.yield(i, s, err)
}

// Settle yields every budget again for which Found has a faster solution than Tell gave.
func (a *Answers) Settle() {
	for i, b := range a.budgets {
		if a.closed[i] {
			continue
		}
		if best := a.Within(b); best != nil && (a.given[i] == nil || best.Makespan < a.given[i].Makespan) {
			a.yield(i, best.Beside(a.given[i]), nil)
		}
	}
}

// Beside returns s with the claims that other, a slower solution within the same budget, proves about s. It drops
// all claims if other is nil, or about a different set.
func (s *Solution) Beside(other *Solution) *Solution {
	better := *s
	better.Bound, better.Optimal, better.OptimalAmong = 0, false, ""
	if other != nil && other.OptimalAmong == s.OptimalAmong {
		better.Bound, better.OptimalAmong = min(other.Bound, s.Makespan), other.OptimalAmong
		better.Optimal = other.Bound > 0 && s.Makespan <= other.Bound
	}
	return &better
}
