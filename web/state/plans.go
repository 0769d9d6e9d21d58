package state

import (
	"fmt"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/tradeoff"
)

// PlanGroup is a group in lists of plans.
type PlanGroup struct {
	Title      string
	Plans      []PlanRow
	Literature bool // plans without a rank, which lists show only when unfolded
}

// PlanRow is a strategy with what is known about it in the present budget. Nothing is solved for it: the results are
// those of the pictures, the curve and the question what would help.
type PlanRow struct {
	Strategy *engine.Strategy
	Name     string
	Chosen   bool
	Drawn    bool // the curve draws it

	tradeoff.Found
}

// planGroups are the groups of plans in the order of lists.
var planGroups = []struct {
	title string
	class engine.Class
}{
	{"Both", engine.MayRecompute | engine.MayOffload},
	{"Recompute", engine.MayRecompute},
	{"Offload", engine.MayOffload},
	{"Baseline", 0},
}

// Plans returns the plans that apply, with what is known about each: first those that have a rank, are chosen or
// are drawn, grouped by class, then the methods of the literature.
func (s *State) Plans() []PlanGroup {
	var out []PlanGroup
	graph := s.Network != nil && s.Network.Chain == nil
	strategies := engine.Strategies()
	slices.SortFunc(strategies, engine.ByRank(graph))
	usable, lines, found := s.CurveStrategies(), s.chosenLines(), s.finder()
	rest := PlanGroup{Title: "Methods of the literature", Literature: true}
	for _, g := range planGroups {
		group := PlanGroup{Title: g.title}
		for _, st := range strategies {
			chosen := st.Name == s.Choice.Strategy && s.Choice.Policy == nil
			if st.Class == g.class && (chosen || st.Name == engine.KeepAll || slices.Contains(usable, st)) {
				p := s.plan(st, lines, found)
				if chosen || p.Drawn || st.Rank.Of(graph) > 0 {
					group.Plans = append(group.Plans, p)
				} else {
					rest.Plans = append(rest.Plans, p)
				}
			}
		}
		if len(group.Plans) > 0 {
			out = append(out, group)
		}
	}
	if len(rest.Plans) > 0 {
		out = append(out, rest)
	}
	return out
}

// Whose returns the name of a plan in lists that also have policies. The best plan of a class gets the prefix
// "memtide: ".
func (p *PlanRow) Whose(graph bool) string {
	if p.Strategy.Class != 0 && engine.Best(p.Strategy.Class, graph) == p.Strategy {
		return "memtide: " + strings.ToLower(p.Name[:1]) + p.Name[1:]
	}
	return p.Name
}

// Menu returns the plans that lists show: all while the list of lines is unfolded, otherwise without the methods of
// the literature.
func (s *State) Menu() []PlanGroup {
	return slices.DeleteFunc(s.Plans(), func(g PlanGroup) bool { return g.Literature && !s.View.LineList })
}

// plan returns the row of a strategy. lines are the strategies that the curve draws, found is s.finder().
func (s *State) plan(st *engine.Strategy, lines []string, found func(string) (proto.Suggestion, bool)) PlanRow {
	chosen := st.Name == s.Choice.Strategy && s.Choice.Policy == nil
	p := PlanRow{Strategy: st, Name: choice.PlanName(st.Name), Chosen: chosen,
		Drawn: st.Class != 0 && s.drawn(lines, st.Name)}
	switch all := s.KeepAll(); {
	case s.Network == nil:
	case chosen && s.OverBudget != nil:
		p.Failure = &proto.Failure{Kind: proto.Infeasible, Smallest: s.OverBudget.Smallest}
	case chosen && s.current() != nil && s.Shown.Choice.Equal(s.Choice):
		p.StepTime, p.Peak, p.AtMost = s.Shown.Solved.Trace.Makespan, s.Shown.Solved.Trace.Peak, s.Shown.Partial
	case st.Name == engine.KeepAll && all.StepTime > 0 && all.Peak > s.Budget() && !s.mayKeep():
		p.Failure = &proto.Failure{Kind: proto.Infeasible, Smallest: all.Peak}
	case st.Name == engine.KeepAll:
		p.StepTime, p.Peak = all.StepTime, all.Peak
	default:
		if a, ok := found(st.Name); ok {
			p.Found = tradeoff.Found{StepTime: a.StepTime, Peak: a.Peak, AtMost: a.Partial, Failure: a.Failure}
		} else if s.Curve != nil {
			p.Found = s.Curve.Found(st.Name, s.Budget())
		}
	}
	return p
}

// KeepAll returns step time and peak of keeping everything, or zero while they are not known.
func (s *State) KeepAll() proto.Reference {
	if c := s.Curve; c != nil && c.KeepAll.StepTime > 0 {
		return c.KeepAll
	}
	if p := s.current(); p != nil {
		return p.Solved.KeepAll
	}
	return proto.Reference{}
}

// foundKey is the key of questions.results for the present setting and budget.
func (s *State) foundKey() string { return fmt.Sprintf("%s|%d", s.Choice.SettingKey(), s.Budget()) }

// finder returns a function that returns what is known of a strategy with its defaults in the present
// budget. It is valid until the next message.
func (s *State) finder() func(strategy string) (proto.Suggestion, bool) {
	if s.Network == nil {
		return func(string) (proto.Suggestion, bool) { return proto.Suggestion{}, false }
	}
	results, key := s.results.byKey[s.foundKey()], s.Network.PictureKeys(s.Choice)
	return func(strategy string) (proto.Suggestion, bool) {
		if p := s.pictures.byKey[key(strategy, nil)]; p != nil && !p.Partial {
			return proto.Suggestion{Name: engine.Lookup(strategy).Title, Strategy: strategy, Budget: s.Budget(),
				StepTime: p.Solved.Trace.Makespan, Peak: p.Solved.Trace.Peak}, true
		}
		a, ok := results[strategy]
		return a, ok
	}
}

// knownMethods splits methods into those to ask about and the answers that are known for the others.
func (s *State) knownMethods(methods []proto.Method) (ask []proto.Method, known []proto.Suggestion) {
	found := s.finder()
	for _, m := range methods {
		a, ok := found(m.Strategy)
		if ok && len(m.Args) == 0 && !a.Partial && (a.Failure == nil || a.Failure.Kind != proto.Deadline) {
			known = append(known, a)
		} else {
			ask = append(ask, m)
		}
	}
	return ask, known
}
