package input

import (
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/web/draw"
	"memtide/web/lookup"
	"memtide/web/state"
	"memtide/web/tell"
	"memtide/web/tradeoff"
)

// meaning returns the message of a command, or nil if there is nothing to do.
type meaning func(c Command, s *state.State) state.Message

// PolicyID is the prefix of values of the command strategy that choose a policy, by its index.
const PolicyID = "policy "

// commands are the meanings of all values of data-do. Package app carries out those that need the browser.
var commands = map[string]meaning{
	// The choice.
	"budget":         budgetSlider,
	"bandwidth":      bandwidthSlider,
	"budget-text":    typed(budget),
	"bandwidth-text": typed(bandwidth),
	"arg":            typed(argument),
	"plan":           func(c Command, _ *state.State) state.Message { return state.SetStrategy{Name: c.Arg} },
	"policy":         func(c Command, _ *state.State) state.Message { return state.OpenPolicy{Index: c.Index} },
	"strategy": settled(func(c Command, _ *state.State) state.Message {
		if of, ok := strings.CutPrefix(c.Value, PolicyID); ok {
			index, _ := strconv.Atoi(of)
			return state.OpenPolicy{Index: index}
		}
		return state.SetStrategy{Name: c.Value}
	}),
	"budget-off": func(_ Command, s *state.State) state.Message {
		return state.SetBudget{Bytes: s.Choice.Room().Bytes, Settled: true}
	},
	"option": settled(func(c Command, _ *state.State) state.Message {
		if c.Value == OtherNumber {
			return state.TypeOption{Name: c.Arg}
		}
		return state.SetOption{Name: c.Arg, Value: c.Value}
	}),
	NumberField: typed(stepOption),
	"more":      does(state.ToggleMore{}),
	"own-card":  typed(ownCard),
	"gpu":       settled(func(c Command, _ *state.State) state.Message { return state.SetGPU{ID: c.Value} }),
	"kind": settled(func(c Command, _ *state.State) state.Message {
		return state.SetGraph{Graph: c.Value == "graph"}
	}),
	"duplex":    settled(duplex),
	"transfers": settled(transfers),
	"act":       act,
	"smallest":  smallest,
	"stop":      does(state.Stop{}),
	"dismiss":   does(state.Dismiss{Notice: true}),

	// The list of networks.
	"picker":      does(state.TogglePicker{}),
	"pick":        func(c Command, _ *state.State) state.Message { return state.PickNetwork{ID: c.Arg} },
	"picker-find": pickerFind,
	"variant":     variant,
	"file":        browser,

	// The curve and the plans.
	"sweep":      does(state.StartSweep{}),
	"stop-sweep": does(state.StopSweep{}),
	"axis": settled(func(c Command, _ *state.State) state.Message {
		return state.SetAxis{Axis: tradeoff.AxisOf(c.Value)}
	}),
	"beside": settled(func(c Command, _ *state.State) state.Message { return state.SetBeside{Order: c.Value} }),
	"lines": func(c Command, _ *state.State) state.Message {
		return state.ToggleLines{Names: strings.Split(c.Arg, ",")}
	},
	"lines-default": does(state.SetLines{}),
	"lines-all":     does(state.SetLines{Names: []string{tradeoff.AllLines}}),
	"lines-list":    does(state.ToggleLineList),

	// The step.
	"play":       browser,
	"wait-next":  does(state.StepWait{By: 1}),
	"wait-prev":  does(state.StepWait{By: -1}),
	"cause":      does(state.FollowCause{}),
	"retrace":    does(state.Retrace{}),
	"row":        selectRow,
	"table":      does(state.ToggleTable),
	"anyway":     does(state.ToggleAnyway),
	"rows-first": does(state.ScrollTable{}),
	"rows-back": func(_ Command, s *state.State) state.Message {
		return state.ScrollTable{Top: s.View.TableTop - TableRows}
	},
	"rows-on": func(_ Command, s *state.State) state.Message {
		return state.ScrollTable{Top: s.View.TableTop + TableRows}
	},
	"layers":      does(state.ToggleLayers),
	"layers-find": func(c Command, _ *state.State) state.Message { return state.FindLayers{Text: c.Value} },
	"layers-sort": func(c Command, _ *state.State) state.Message {
		return numbered(c.Arg, int(tell.NumLayerColumns), func(n int) state.Message {
			return state.SortLayers{By: tell.LayerColumn(n)}
		})
	},
	"layers-csv": browser,
	"focus":      browser,

	// Questions.
	"ask":        does(state.StartQuestion{}),
	"unask":      does(state.StopQuestion{}),
	"use-answer": func(c Command, _ *state.State) state.Message { return state.UseAnswer{Index: c.Index} },

	// A comparison.
	"compare":  does(state.ToggleCompare{}),
	"swap":     does(state.SwapSides{}),
	"fit-side": does(state.FitSide{}),
	"side-a":   does(state.EditSide{A: true}),
	"side-b":   does(state.EditSide{}),
	"sides":    does(state.ToggleSides),

	// Addresses.
	"places":       does(state.TogglePlaces{}),
	"places-stop":  does(state.StopPlacing{}),
	"places-again": does(state.PlaceAgain{}),
	"places-raise": func(_ Command, s *state.State) state.Message {
		return state.SetBudget{Bytes: s.PlacesNeed(), Settled: true}
	},
	"alloc":     settled(func(c Command, _ *state.State) state.Message { return state.SetAllocator{Name: c.Value} }),
	"alloc-arg": typed(allocArgument),
	"alive": func(c Command, _ *state.State) state.Message {
		return numbered(c.Arg, int(draw.NumAliveBy), func(n int) state.Message {
			return state.SortAlive{By: draw.AliveBy(n)}
		})
	},

	// Memory snapshots.
	"show-buffer":  func(c Command, _ *state.State) state.Message { return state.ShowBuffer{Buffer: c.Index} },
	"replays-stop": does(state.StopReplays{}),
	"replays-go":   does(state.StopReplays{Go: true}),
	"flame-out":    does(state.ZoomOut{}),
	"flame-svg":    browser,
	"recording-device": settled(func(c Command, _ *state.State) state.Message {
		return numbered(c.Value, 1<<16, func(n int) state.Message { return state.OpenDevice{Device: n} })
	}),

	// Training steps.
	"step-chain":  does(state.ExploreStep{}),
	"step-on":     does(state.GoOn{}),
	"pass-follow": does(state.FollowPass{}),
	"pass-whole":  does(state.SetRange{}),
	"passes-svg":  browser,
	"step-rank":   func(c Command, _ *state.State) state.Message { return state.PickRank{Rank: c.Index} },
	"step-change": func(c Command, _ *state.State) state.Message {
		return state.UseChange{Index: c.Index, Of: rowLists[c.Arg]}
	},

	// Giving away, and the page itself.
	"share": func(_ Command, s *state.State) state.Message {
		return state.ToggleShare{Dark: s.View.Theme == "dark"}
	},
	"share-title": func(c Command, _ *state.State) state.Message { return state.Retitle{Text: c.Value} },
	"share-exact": settled(shareExact),
	"share-theme": func(c Command, _ *state.State) state.Message { return state.SetShareTheme{Theme: c.Value} },
	"share-copy":  func(c Command, _ *state.State) state.Message { return state.CopyText{Field: c.Arg} },
	"share-send":  does(state.SendLink{}),
	"share-save":  func(c Command, _ *state.State) state.Message { return state.SaveFile{Kind: c.Arg} },
	"save-plan":   func(_ Command, s *state.State) state.Message { return state.SavePlan{Class: s.Choice.PlanClass()} },
	"copy-code":   browser,
	"copy-line":   browser,
	"help":        does(state.ToggleHelp{}),
	"skip":        browser,
	"theme": func(_ Command, s *state.State) state.Message { // in turn: as the system, light, dark
		return state.SetTheme{Theme: map[string]string{"": "light", "light": "dark"}[s.View.Theme]}
	},
	"shortcuts": settled(func(_ Command, s *state.State) state.Message { // only once: a checkbox also fires input
		return state.SetShortcuts{Off: !s.View.NoShortcuts}
	}),
}

// Message returns the message of the command in the present state, or nil if there is nothing to do.
func (c Command) Message(s *state.State) state.Message {
	if m := commands[c.Do]; m != nil {
		return m(c, s)
	}
	return nil
}

// browser is the meaning of commands that package app carries out.
func browser(Command, *state.State) state.Message { return nil }

// does returns the meaning whose message is always m.
func does(m state.Message) meaning {
	return func(Command, *state.State) state.Message { return m }
}

// settled returns a meaning that does nothing while a control is being dragged, and then what m does.
func settled(m meaning) meaning {
	return func(c Command, s *state.State) state.Message {
		if !c.Settled {
			return nil
		}
		return m(c, s)
	}
}

// typed returns the meaning of a text field: what is typed is a draft until the field loses the focus, then m reads it.
func typed(m meaning) meaning {
	return func(c Command, s *state.State) state.Message {
		if !c.Settled {
			return state.Type{Field: c.field(), Text: c.Value}
		}
		return m(c, s)
	}
}

func selectRow(c Command, _ *state.State) state.Message {
	return state.Select{Target: lookup.Target{Kind: lookup.TargetKind(c.Kind), Index: c.Index}}
}

func duplex(c Command, _ *state.State) state.Message {
	return state.SetDuplex{Duplex: map[string]engine.Duplex{"full": engine.FullDuplex}[c.Value]}
}

func transfers(c Command, _ *state.State) state.Message {
	return state.SetTransfers{Transfers: map[string]engine.Transfers{"streamed": engine.Streamed}[c.Value]}
}

// act returns the message of the alert's button.
func act(_ Command, s *state.State) state.Message {
	if s.Alert == nil {
		return nil
	}
	return s.Alert.Do
}

// smallest sets a budget that is large enough, if the chosen one is too small.
func smallest(_ Command, s *state.State) state.Message {
	if m := s.OverBudget; m != nil && m.Smallest > 0 {
		return state.SetBudget{Bytes: m.Offer, Settled: true}
	}
	return nil
}

// shareExact toggles whether links contain the visible range and the selection.
func shareExact(_ Command, s *state.State) state.Message {
	if s.Sharing == nil {
		return nil
	}
	return state.SetExact{On: !s.Sharing.Exact}
}

// TableRows is the number of rows on a page of the table of operations.
const TableRows = 40

// arrows are the directions of the arrow keys: right and down.
var arrows = map[string][2]int{"ArrowLeft": {-1, 0}, "ArrowRight": {1, 0}, "ArrowUp": {0, -1}, "ArrowDown": {0, 1}}

// PassKey returns the message of a key while the picture of a pipeline has the focus, or nil.
func PassKey(k Key) state.Message {
	if by, ok := arrows[k.Key]; ok {
		return state.MovePass{Right: by[0], Down: by[1]}
	}
	if k.Key == "Enter" {
		return state.FollowPass{}
	}
	return nil
}

// FlameKey returns the message of a key while the flame graph has the focus, or nil.
func FlameKey(k Key, s *state.State) state.Message {
	if by, ok := arrows[k.Key]; ok {
		return state.MarkCall{Right: by[0], Down: by[1]}
	}
	switch k.Key {
	case "Enter":
		return state.ZoomCall{Call: s.Flame().Marked().Index}
	case "Backspace":
		return state.ZoomOut{}
	}
	return nil
}
