package state

import (
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/format"
)

// DefaultPreset is what a page without a link shows.
const DefaultPreset = "resnet101-b32"

// solve shows the schedule of the present choice, from the cache or by asking
// for it. What is shown stays until the answer comes.
func (s *State) solve(soon bool) []Effect {
	s.OverBudget, s.Alert, s.standIn = nil, nil, 0
	if p, ok := s.pictures.get(s.pictureKey(s.Choice)); ok {
		var out []Effect
		if s.Solving != nil {
			out = append(out, Cancel{s.Solving.ID})
			s.Solving = nil
		}
		s.show(p)
		return out
	}
	s.lastID++
	s.Solving = &Solving{ID: s.lastID, Choice: s.Choice}
	return []Effect{Solve{ID: s.lastID, Choice: s.Choice, Request: s.request(s.Choice), Slot: ForPage, Soon: soon}}
}

// pictureKey identifies a schedule: budgets in per cent are resolved.
func (s *State) pictureKey(c Choice) string { return pictureKeyOf(s.Network, c) }

func pictureKeyOf(n *Network, c Choice) string {
	return fmt.Sprintf("%s|%s|%d", c.settingKey(), c.methodKey(), c.Budget.Of(n.As(c).Totals.KeepAllPeak))
}

func (s *State) request(c Choice) proto.Solve { return requestOf(s.Network, c) }

func requestOf(n *Network, c Choice) proto.Solve {
	return proto.Solve{
		Setting: settingOf(n, c),
		Method:  proto.Method{Strategy: c.Strategy, Args: c.Args},
		Budget:  c.Budget,
	}
}

func (s *State) setting(c Choice) proto.Setting { return settingOf(s.Network, c) }

func settingOf(n *Network, c Choice) proto.Setting {
	set := proto.Setting{Network: n.As(c).Ref(), Transfers: c.Transfers}
	set.Device.Name = c.Device
	set.Device.ToHost, set.Device.ToDev, set.Device.Duplex = c.ToHost, c.ToDev, c.Duplex
	return set
}

func (s *State) updateSolving(m Message) []Effect {
	switch m := m.(type) {
	case Progressed:
		if s.Solving == nil || m.ID != s.Solving.ID {
			return nil
		}
		s.Solving.Progress, s.Solving.Silent = m.Progress, false
		if m.Best != nil && m.Best.Trace != nil {
			s.Solving.Best = m.Best
			s.show(&Picture{ID: m.ID, Choice: s.Solving.Choice, Network: s.Network, Solved: m.Best, Partial: true})
		}
		s.DOM++
	case Solved:
		return s.solved(m)
	case SolveFailed:
		return s.solveFailed(m)
	case Silent:
		if s.Solving != nil && s.Solving.Silent != m.Quiet {
			s.Solving.Silent = m.Quiet
			s.DOM++
		}
	case Stop:
		return s.stop()
	}
	return nil
}

func (s *State) solved(m Solved) []Effect {
	if s.Network == nil || !sameSource(m.Choice.Source, s.Network.Source) {
		return nil
	}
	if m.Solved.Trace == nil {
		return s.solveFailed(SolveFailed{ID: m.ID, Choice: m.Choice, Failure: proto.Fail(proto.Crash,
			"The schedule that %s found cannot run: %s.", m.Choice.Strategy, m.Solved.Verdict.Problem)})
	}
	p := &Picture{ID: m.ID, Choice: m.Choice, Network: s.Network.As(m.Choice), Solved: m.Solved}
	key := s.pictureKey(m.Choice)
	s.pictures.put(key, p)
	if key == s.hover {
		s.Preview = p
		s.touch()
	}
	switch {
	case m.ID == s.standIn:
		s.standIn = 0
		s.show(p)
	case s.Solving == nil:
	case m.ID == s.Solving.ID:
		s.Solving = nil
		s.show(p)
		return s.follow()
	case m.ID < s.Solving.ID && (s.Shown == nil || m.ID > s.Shown.ID) && m.Choice.sameButBudget(s.Choice):
		s.show(p) // on the way: the slider has moved on, but this is newer than what is shown
	}
	return nil
}

// show makes p the picture of the page. The selected wait follows it: the one
// nearest in time, or the longest if none was selected by hand.
func (s *State) show(p *Picture) {
	old := s.Shown
	s.Shown = p
	s.touch()
	v := &s.View
	v.Trail = nil
	switch {
	case s.selectWanted(p):
	case old == nil || old.Network != p.Network || old.Choice.Strategy != p.Choice.Strategy:
		v.Selected, v.Picked = gapTarget(longest(p.Gaps())), false
	case v.Selected.Kind == draw.OnGap && v.Selected.Index < len(old.Gaps()):
		v.Selected = gapTarget(nearest(p.Gaps(), old.Gaps()[v.Selected.Index]))
	case v.Selected.Kind == draw.OnStage: // stages stay what they are
	case v.Selected.Kind != draw.Nothing || len(old.Gaps()) == 0:
		v.Selected, v.Picked = gapTarget(longest(p.Gaps())), false
	}
	if v.To > s.End() {
		v.From, v.To = 0, 0
	}
}

func (s *State) touch() {
	s.DOM++
	s.Paint++
}

func gapTarget(i int) draw.Target {
	if i < 0 {
		return draw.Target{}
	}
	return draw.Target{Kind: draw.OnGap, Index: i}
}

func longest(gaps []sim.Gap) int {
	best := -1
	for i, g := range gaps {
		if best < 0 || g.End-g.Start > gaps[best].End-gaps[best].Start {
			best = i
		}
	}
	return best
}

func nearest(gaps []sim.Gap, to sim.Gap) int {
	best := -1
	for i, g := range gaps {
		if best < 0 || (g.Start-to.Start).Abs() < (gaps[best].Start-to.Start).Abs() {
			best = i
		}
	}
	return best
}

func (s *State) solveFailed(m SolveFailed) []Effect {
	if s.Solving == nil || m.ID != s.Solving.ID {
		return nil
	}
	job := s.Solving
	s.Solving = nil
	s.touch()
	f := m.Failure
	switch f.Kind {
	case proto.Infeasible:
		if c, ok := s.budgetInstead(f); ok {
			about := s.Alert // what was odd about the network still is
			out := s.choose(c, Replace, false)
			if s.Compare != nil && s.Compare.Other.Network == s.Network { // whose budget was nobody's choice either
				other := s.Compare.Other.Choice
				other.Budget = c.Budget
				out = append(out, s.setOther(other, nil)...)
			}
			s.Alert = about
			return out
		}
		s.OverBudget = &OverBudget{Budget: f.Budget, Smallest: f.Smallest, Offer: offer(f.Smallest)}
		return append(s.standFor(f), s.follow()...)
	case proto.Deadline:
		if m.Best != nil && m.Best.Trace != nil {
			s.show(&Picture{ID: m.ID, Choice: job.Choice, Network: s.Network, Solved: m.Best, Partial: true})
			return s.follow()
		}
		s.Alert = textAlert(f.Text)
	case proto.Crash:
		s.Alert = textAlert(f.Text)
		s.Alert.Action, s.Alert.Do = "Try again", StartAgain{}
	case proto.NoWorker:
		s.Alert = textAlert(f.Text)
		s.Alert.Lines = append(s.Alert.Lines, "The page can also solve by itself. It answers slowly while it does.")
		s.Alert.Action, s.Alert.Do = "Solve here", SolveHere{}
	case proto.Unsupported:
		s.Alert = textAlert(f.Text)
		s.Alert.offerStrategy(s.Network, job.Choice.Strategy)
		return append(s.standByKeeping(), s.follow()...)
	default:
		s.Alert = textAlert(f.Text)
	}
	return s.follow()
}

// offerStrategy offers another strategy than the one that does not apply: the
// default one, or where that is the one, the one that takes chains of any length;
// of a graph the one for graphs.
func (a *Alert) offerStrategy(n *Network, failed string) {
	name := DefaultStrategy
	if failed == name {
		name = "sequential"
	}
	if n.Chain == nil {
		name = GraphStrategy
	}
	if s := engine.Lookup(name); s != nil {
		a.Action, a.Do = "Use "+s.Title, SetStrategy{Name: name}
	}
}

// budgetInstead is the present choice with a budget that fits, half-way to
// keeping everything, if the budget was nobody's choice: the default of a
// network of which nothing is shown yet.
func (s *State) budgetInstead(f *proto.Failure) (Choice, bool) {
	c := s.Choice
	all := s.Network.Totals.KeepAllPeak
	if s.Compare != nil && s.Compare.Other.Network == s.Network && s.Compare.Other.Choice.Budget != DefaultBudget {
		return c, false // it is compared as it is
	}
	if c.Budget != DefaultBudget || f.Smallest <= 0 || f.Smallest > all || s.Shown != nil && s.Shown.Network == s.Network {
		return c, false
	}
	r := s.BudgetRange()
	c.Budget = proto.Budget{Bytes: max(r.At(r.Position(f.Smallest+(all-f.Smallest)/2)), f.Smallest)}
	s.instead = c.Budget
	return c, true
}

// standFor asks for the schedule of the smallest budget when there is no
// picture of this network to fall back to. In a comparison that picture may be the
// other side's, and the one to compare is the smallest.
func (s *State) standFor(f *proto.Failure) []Effect {
	if s.Compare == nil && s.Shown != nil && s.Shown.Network == s.Network {
		return nil
	}
	s.Shown = nil
	if f.Smallest <= 0 {
		return nil
	}
	c := s.Choice
	c.Budget = proto.Budget{Bytes: s.OverBudget.Offer}
	return s.stand(c)
}

// standByKeeping asks for the schedule that keeps everything where the strategy
// does not apply and there is no picture of this network: what it looks like
// can be seen all the same.
func (s *State) standByKeeping() []Effect {
	if s.Shown != nil && s.Shown.Network == s.Network {
		return nil
	}
	s.Shown = nil
	c := s.Choice
	c.Strategy, c.Args, c.Budget = "keepall", nil, proto.Budget{Bytes: max(s.Network.Totals.KeepAllPeak, 1)}
	return s.stand(c)
}

// stand asks for a schedule to be shown in place of one that there is not.
func (s *State) stand(c Choice) []Effect {
	s.lastID++
	s.standIn = s.lastID
	return []Effect{Solve{ID: s.lastID, Choice: c, Request: s.request(c), Slot: ForPage}}
}

// stop ends the solver; the best so far becomes the picture.
func (s *State) stop() []Effect {
	switch {
	case s.Solving != nil:
		id := s.Solving.ID
		if s.Solving.Best == nil {
			s.Alert = &Alert{Text: "Stopped before a schedule was found.", Action: "Solve", Do: StartAgain{}}
		}
		s.Solving = nil
		s.touch()
		return []Effect{Cancel{id}}
	case s.Opening != nil:
		id := s.Opening.ID
		s.Opening = nil
		s.DOM++
		return []Effect{Cancel{id}}
	}
	return nil
}

// textAlert makes the first line the headline and keeps five more. The headline
// begins as a sentence does, unless it begins with a name, such as forward_s.
func textAlert(text string) *Alert {
	lines := strings.Split(format.Durations(strings.TrimSpace(text)), "\n")
	a := &Alert{Text: lines[0]}
	if word, _, _ := strings.Cut(a.Text, " "); strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" && word != "" {
		a.Text = strings.ToUpper(word[:1]) + a.Text[1:]
	}
	if rest := lines[1:]; len(rest) > 5 {
		a.Lines = append(rest[:5:5], fmt.Sprintf("and %d more", len(rest)-5))
	} else {
		a.Lines = rest
	}
	return a
}

// headline is the first line of what went wrong, for where there is room for one.
func headline(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
