package graphs

import (
	"cmp"
	"slices"
	"time"

	"memtide/engine"
)

// plan is a sequence that a method has made whatever the budget, and its costs.
type plan struct {
	seq  []kindID
	peak engine.Bytes
	took time.Duration
	note string // how it was made, as a whole sentence
}

// plans collects the plans of a method.
type plans struct {
	m      *model
	list   []plan
	poll   *engine.Poll // gets the fastest plan within budget so far; may be nil
	budget engine.Bytes
	told   time.Duration // time of that plan; 0 if there is none
}

// add adds a sequence with its costs. It panics if the sequence cannot run, which is a bug of the method.
func (l *plans) add(seq []kindID, note string) {
	peak, took, ok := l.m.cost(seq)
	if !ok {
		panic("graphs: a plan that cannot run")
	}
	l.list = append(l.list, plan{seq, peak, took, note})
	if l.poll != nil && peak <= l.budget && (l.told == 0 || took < l.told) {
		l.told = took
		l.poll.Report(engine.Progress{Best: l.m.solution(seq)})
	}
}

// maker adds the plans of a method, which depend on the graph alone.
type maker func(l *plans, args engine.Parsed, poll *engine.Poll)

// plans returns the plans. The first one keeps everything. With show, poll gets better plans within the budget as
// they are made. The error wraps engine.ErrUnsupported, or is that of poll and comes with the plans so far.
func (mk maker) plans(p *engine.Problem, args engine.Parsed, poll *engine.Poll, show bool) (*plans, error) {
	m, err := newModel(p.Graph)
	if err != nil {
		return nil, err
	}
	l := &plans{m: m, budget: p.Budget}
	if show {
		l.poll = poll
	}
	l.add(m.given(), "Everything stays to its last use.")
	mk(l, args, poll)
	return l, poll.Err()
}

// solve returns the fastest plan within the budget, and of equally fast ones the one with the smallest peak.
func (mk maker) solve(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	l, err := mk.plans(p, args, poll, true)
	if l == nil {
		return nil, err
	}
	sol, none := l.best(p.Budget)
	return sol, cmp.Or(err, none)
}

// sweep makes the plans once for all budgets.
func (mk maker) sweep(p *engine.Problem, args engine.Parsed, budgets []engine.Bytes, poll *engine.Poll,
	yield func(int, *engine.Solution, error)) {
	l, err := mk.plans(p, args, poll, false)
	engine.SolveEach(func(p *engine.Problem, _ engine.Parsed, _ *engine.Poll) (*engine.Solution, error) {
		if err != nil {
			return nil, err
		}
		return l.best(p.Budget)
	}, p, args, budgets, poll, yield)
}

// best returns the solution of the fastest plan within a budget.
func (l *plans) best(budget engine.Bytes) (*engine.Solution, error) {
	best := l.fastest(budget)
	if best == nil {
		least := l.leanest().peak
		return nil, &engine.InfeasibleError{Budget: budget, Smallest: least, Why: l.m.whyLeast(least)}
	}
	sol := l.m.solution(best.seq)
	sol.Bound, sol.Notes = 0, []string{best.note, l.m.describe(best.seq)}
	return sol, nil
}

// fastest returns the fastest plan within a budget, of equally fast ones the one with the smallest peak, or nil.
func (l *plans) fastest(budget engine.Bytes) (best *plan) {
	for i := range l.list {
		if p := &l.list[i]; p.peak <= budget &&
			(best == nil || p.took < best.took || p.took == best.took && p.peak < best.peak) {
			best = p
		}
	}
	return best
}

// leanest returns the plan with the smallest peak.
func (l *plans) leanest() *plan {
	least := &l.list[0]
	for i := range l.list {
		if l.list[i].peak < least.peak {
			least = &l.list[i]
		}
	}
	return least
}

// forward returns all needed forward operations. A step may have several backward passes with forward operations
// between them. In a graph that does not name its passes, they are the operations before the peak of the given order.
func (m *model) forward() []int32 {
	if !slices.ContainsFunc(m.order, m.isBackward) {
		return m.firstForward()
	}
	return slices.DeleteFunc(slices.Clone(m.order), m.isBackward)
}

func (m *model) isBackward(i int32) bool { return m.g.Ops[i].Pass == engine.Backward }

// firstForward returns the needed forward operations before the first backward one or, in a graph that does not
// name its passes, before the peak.
func (m *model) firstForward() []int32 {
	if at := slices.IndexFunc(m.order, m.isBackward); at >= 0 {
		return m.order[:at]
	}
	during, _ := m.usage(m.given())
	if len(during) == 0 {
		return nil
	}
	return m.order[:slices.Index(during, slices.Max(during))]
}

// saving returns a sequence in which the operations of forward run in that order, each before later operations of
// the graph. Of what they make, only the values of saved are kept for the other operations. The rest is made again
// before its first reader among those, and stays to its last use, so nothing runs more than twice. Values that must
// not be made again are saved.
func (m *model) saving(forward []int32, saved func(v int32) bool) (seq []kindID) {
	first := make([]bool, m.ops)
	for _, i := range forward {
		first[i] = true
	}
	there := make([]bool, len(m.size))
	for v, i := range m.maker {
		there[v] = i == m.source() || i != none && (m.once[i] || saved(int32(v)))
	}
	run := func(i int32) {
		id := i
		for _, sv := range m.kinds[i].serves {
			there[sv.value] = there[sv.value] || there[m.kinds[i].writes[sv.write]]
		}
		if l := m.lean[i]; l != none && !slices.ContainsFunc(m.kinds[i].serves, func(sv serve) bool {
			read := slices.ContainsFunc(m.users[sv.value], func(u int32) bool { return int(u) < m.ops && first[u] })
			return (there[sv.value] || read) && m.kinds[l].write(sv.value) == none
		}) {
			id = l // values that only a full run makes are neither kept nor read by forward operations
		}
		seq = append(seq, id)
	}
	var remake func(i int32)
	remake = func(i int32) {
		for _, v := range m.in[i] {
			if j := m.maker[v]; !there[v] && first[j] {
				remake(j)
				seq = append(seq, j)
				for _, sv := range m.kinds[j].serves {
					there[sv.value] = true
				}
			}
		}
	}
	for _, i := range m.order {
		for len(forward) > 0 && forward[0] <= i {
			run(forward[0])
			forward = forward[1:]
		}
		if !first[i] {
			remake(i)
			seq = append(seq, i)
		}
	}
	return seq
}

// solver is the type of Strategy.Solver.
type solver func(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error)

// sweepUp returns a Sweeper that goes from the smallest budget to the largest with a solver that begin returns. A
// solution for one budget is an answer for every other one that it fits into, so that no larger budget takes
// longer. The solver may add other solutions to found.
func sweepUp(begin func(*engine.Problem, engine.Parsed, *engine.Poll, *engine.Found) solver) func(*engine.Problem,
	engine.Parsed, []engine.Bytes, *engine.Poll, func(int, *engine.Solution, error)) {
	return func(p *engine.Problem, args engine.Parsed, budgets []engine.Bytes, poll *engine.Poll,
		yield func(int, *engine.Solution, error)) {
		answers := engine.NewAnswers(budgets, yield)
		solve := begin(p, args, poll, &answers.Found)
		order := make([]int, len(budgets))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(budgets[a], budgets[b]) })
		for _, i := range order {
			poll.Next()
			var sol *engine.Solution
			err := poll.Err()
			if err == nil {
				sol, err = solve(p.WithBudget(budgets[i]), args, poll)
			}
			if err != nil && poll.Err() != nil {
				sol = nil
			} else if before := answers.Within(budgets[i]); err == nil && before != nil &&
				before.Makespan < sol.Makespan {
				sol = before.Beside(sol)
			}
			answers.Tell(i, sol, err)
		}
		answers.Settle()
	}
}

// sweptSearch returns graphsearch for budgets in rising order, which share the plans of blocks.
func sweptSearch(p *engine.Problem, args engine.Parsed, poll *engine.Poll, _ *engine.Found) solver {
	m, err := newModelOfWays(p.Graph)
	if err != nil || len(m.order) <= fewOps || poll.Err() != nil {
		return solveGraphSearch
	}
	s := newSearcher(m, args, poll)
	return func(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
		if sol := m.keepAll(p.Budget, within(args)); sol != nil {
			return sol, nil
		}
		return s.solve(p, within(args))
	}
}

// sequenceOf returns the sequence of a solution without transfers.
func (m *model) sequenceOf(sol *engine.Solution) (seq []kindID) {
	for _, st := range sol.Schedule {
		if st.Kind == engine.DoRun {
			seq = append(seq, m.kindOf(st))
		}
	}
	return seq
}
