package input

import (
	"fmt"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/lookup"
	"memtide/web/state"
	"memtide/web/tradeoff"
)

// Message is what a command means to the state; nil if it means nothing. Files,
// zooming and the like, which need the browser, are not commands of the state.
func (c Command) Message(s *state.State) state.Message {
	if m, ok := c.button(s); ok {
		return m
	}
	if m := c.share(s); m != nil {
		return m
	}
	if m := c.storyCommand(); m != nil {
		return m
	}
	if m := c.addressCommand(s); m != nil {
		return m
	}
	if m := c.doctorCommand(); m != nil {
		return m
	}
	if m := c.pickerCommand(s); m != nil {
		return m
	}
	if m := c.stepCommand(s); m != nil {
		return m
	}
	if m := c.questionCommand(); m != nil {
		return m
	}
	if !c.Settled {
		return c.dragged(s)
	}
	return c.settled(s)
}

// plain are the buttons that always do the same.
var plain = map[string]state.Message{
	"stop":          state.Stop{},
	"sweep":         state.StartSweep{},
	"stop-sweep":    state.StopSweep{},
	"tuning-start":  state.StartTuning{},
	"tuning-stop":   state.StopTuning{},
	"lines-default": state.SetLines{},
	"lines-list":    state.ToggleLineList{},
	"compare":       state.ToggleCompare{},
	"swap":          state.SwapSides{},
	"fit-other":     state.FitOther{},
	"wait-next":     state.StepWait{By: 1},
	"wait-prev":     state.StepWait{By: -1},
	"cause":         state.FollowCause{},
	"retrace":       state.Retrace{},
	"fit":           state.SetRange{},
	"table":         state.ToggleTable{},
	"sides":         state.ToggleSides{},
	"rows-first":    state.ScrollTable{},
	"help":          state.ToggleHelp{},
	"dismiss":       state.Dismiss{Notice: true},
	"step-chain":    state.ExploreStep{},
	"step-on":       state.GoOn{},
}

func (c Command) button(s *state.State) (state.Message, bool) {
	if m, ok := plain[c.Do]; ok {
		return m, true
	}
	switch c.Do {
	case "tune":
		return state.SetArg{Name: c.Arg, Value: strconv.Itoa(c.Index)}, true
	case "lines":
		return state.ToggleLines{Names: strings.Split(c.Arg, ",")}, true
	case "plan":
		return state.SetStrategy{Name: c.Arg}, true
	case "lines-all":
		return state.SetLines{Names: []string{tradeoff.AllLines}}, true
	case "side-a", "side-b":
		return state.EditSide{A: c.Do == "side-a"}, true
	case "rows-back":
		return state.ScrollTable{Top: s.View.TableTop - TableRows}, true
	case "rows-on":
		return state.ScrollTable{Top: s.View.TableTop + TableRows}, true
	case "row":
		return state.Select{Target: lookup.Target{Kind: lookup.TargetKind(c.Kind), Index: c.Index}}, true
	case "theme":
		return state.SetTheme{Theme: nextTheme(s.View.Theme)}, true
	case "shortcuts":
		if !c.Settled { // a change of the box is an input too
			return nil, true
		}
		return state.SetShortcuts{Off: !s.View.NoShortcuts}, true
	case "act", "smallest":
		return c.wayOn(s), true
	case "save-plan":
		return state.SavePlan{Class: s.Choice.PlanClass()}, true
	}
	return nil, false
}

// wayOn is what the button beside a message does; nil if there is nothing to do.
func (c Command) wayOn(s *state.State) state.Message {
	switch m := s.OverBudget; {
	case c.Do == "act" && s.Alert != nil:
		return s.Alert.Do
	case c.Do == "smallest" && m != nil && m.Smallest > 0:
		return state.SetBudget{Bytes: m.Offer, Settled: true}
	}
	return nil
}

func nextTheme(theme string) string {
	switch theme {
	case "":
		return "light"
	case "light":
		return "dark"
	}
	return ""
}

// dragged handles a control that has not come to rest.
func (c Command) dragged(s *state.State) state.Message {
	switch c.Do {
	case "budget", "bandwidth":
		return c.slider(s)
	case "budget-text", "bandwidth-text", "batch", "own-card":
		return state.Type{Field: c.Do, Text: c.Value}
	case "arg":
		return state.Type{Field: "arg:" + c.Arg, Text: c.Value}
	case "find":
		return state.Find{Text: c.Value}
	case "find-next":
		after := 0
		if p := s.Visible(); p != nil {
			after = p.Model().StageOf(s.View.Selected)
		}
		return state.Find{Text: c.Value, After: after}
	}
	return nil
}

func (c Command) slider(s *state.State) state.Message {
	position, err := strconv.Atoi(c.Value)
	if err != nil {
		return nil
	}
	if c.Do == "budget" {
		return state.SetBudget{Bytes: s.BudgetRange().At(position), Settled: c.Settled}
	}
	return state.SetBandwidth{Rate: tradeoff.BandwidthAt(position), Settled: c.Settled}
}

// settled handles a control that was changed for good.
func (c Command) settled(s *state.State) state.Message {
	switch c.Do {
	case "budget", "bandwidth":
		return c.slider(s)
	case "budget-text":
		return budget(c.Value)
	case "bandwidth-text":
		r, err := format.ParseRate(c.Value)
		if err != nil {
			return state.Refuse{Field: c.Do, Text: "Bandwidth: " + err.Error()}
		}
		return state.SetBandwidth{Rate: r, Settled: true}
	case "batch":
		return c.batch(s)
	case "kind":
		return state.SetGraph{Graph: c.Value == "graph"}
	case "axis":
		return state.SetAxis{Axis: tradeoff.AxisOf(c.Value)}
	case "strategy":
		return state.SetStrategy{Name: c.Value}
	case "arg":
		return c.argument(s)
	case "gpu":
		return state.SetGPU{ID: c.Value}
	case "own-card":
		return ownCard(s, c.Value)
	case "duplex":
		if c.Value == "full" {
			return state.SetDuplex{Duplex: engine.FullDuplex}
		}
		return state.SetDuplex{Duplex: engine.HalfDuplex}
	case "transfers":
		if c.Value == "streamed" {
			return state.SetTransfers{Transfers: engine.Streamed}
		}
		return state.SetTransfers{Transfers: engine.Whole}
	}
	return nil
}

// ownCard chooses a card that is in no list by its figures.
func ownCard(s *state.State, text string) state.Message {
	id, err := choice.OwnCard(text)
	switch {
	case err != nil:
		return state.Refuse{Field: "own-card", Text: "Card: " + err.Error()}
	case s.Step != nil:
		return state.SetStep{Name: "device", Value: id}
	}
	return state.SetGPU{ID: id}
}

// budget reads what links and the command line take too: a size, or a share of
// what keeping everything needs; and a number alone, of GiB.
func budget(text string) state.Message {
	if n := strings.TrimSpace(text); n != "" && strings.Trim(n, "0123456789.") == "" {
		text = n + " GiB" // nobody budgets bytes
	}
	b, err := choice.ParseBudget(text)
	if err != nil {
		return state.Refuse{Field: "budget-text", Text: "Budget: " + err.Error()}
	}
	return state.SetBudget{Bytes: b.Bytes, Share: b.Share, Settled: true}
}

func (c Command) batch(s *state.State) state.Message {
	p, _, err := preset.Parse(s.Choice.Source.Preset)
	if err != nil {
		return nil
	}
	ref := p.ID + "-b" + c.Value
	if _, _, err := preset.Parse(ref); err != nil {
		return state.Refuse{Field: "batch", Text: fmt.Sprintf("The batch size is %q; 1 to %d are possible.", c.Value, p.Largest())}
	}
	return state.PickPreset{ID: ref}
}

func (c Command) argument(s *state.State) state.Message {
	st := engine.Lookup(s.Choice.Strategy)
	if st == nil {
		return nil
	}
	if _, err := st.Parse(engine.Args{c.Arg: c.Value}); err != nil {
		return state.Refuse{Field: "arg:" + c.Arg, Text: err.Error()}
	}
	return state.SetArg{Name: c.Arg, Value: c.Value}
}

// storyCommand is what a control of the story means.
func (c Command) storyCommand() state.Message {
	if c.Do != "story" || !c.Settled {
		return nil
	}
	return state.TellStory{Step: c.Index}
}

// TableRows is the number of rows of a page. Note: the rows are one piece of
// HTML instead of components, so that they cost one node, not hundreds.
const TableRows = 40
