package input

import (
	"fmt"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/tradeoff"
)

// What is typed and dragged: texts become values, or refusals that say why not.

func budgetSlider(c Command, s *state.State) state.Message {
	position, err := strconv.Atoi(c.Value)
	if err != nil {
		return nil
	}
	return state.SetBudget{Bytes: s.KnobRange().At(position), Settled: c.Settled}
}

func bandwidthSlider(c Command, _ *state.State) state.Message {
	position, err := strconv.Atoi(c.Value)
	if err != nil {
		return nil
	}
	return state.SetBandwidth{Rate: tradeoff.BandwidthAt(position), Settled: c.Settled}
}

// budget reads what links and the command line take too: a size, or a share of
// what keeping everything needs; and a number alone, of GiB.
func budget(c Command, _ *state.State) state.Message {
	text := c.Value
	if n := strings.TrimSpace(text); n != "" && strings.Trim(n, "0123456789.") == "" {
		text = n + " GiB" // nobody budgets bytes
	}
	b, err := choice.ParseBudget(text)
	if err != nil {
		return c.refuse("Budget: " + err.Error())
	}
	return state.SetBudget{Bytes: b.Bytes, Share: b.Share, Settled: true}
}

func bandwidth(c Command, _ *state.State) state.Message {
	r, err := format.ParseRate(c.Value)
	if err != nil {
		return c.refuse("Bandwidth: " + err.Error())
	}
	return state.SetBandwidth{Rate: r, Settled: true}
}

// ownCard chooses a card that is in no list by its figures.
func ownCard(c Command, s *state.State) state.Message {
	id, err := choice.OwnCard(c.Value)
	switch {
	case err != nil:
		return c.refuse("Card: " + err.Error())
	case s.Step != nil:
		return state.SetStep{Name: "device", Value: id}
	}
	return state.SetGPU{ID: id}
}

func batch(c Command, s *state.State) state.Message {
	p, _, err := preset.Parse(s.Choice.Source.Preset)
	if err != nil {
		return nil
	}
	ref := p.ID + "-b" + c.Value
	if _, _, err := preset.Parse(ref); err != nil {
		return c.refuse(fmt.Sprintf("The batch size is %q; 1 to %d are possible.", c.Value, p.Largest()))
	}
	return state.PickPreset{ID: ref}
}

func argument(c Command, s *state.State) state.Message {
	st := engine.Lookup(s.Choice.Strategy)
	if st == nil {
		return nil
	}
	if _, err := st.Parse(engine.Args{c.Arg: c.Value}); err != nil {
		return c.refuse(err.Error())
	}
	return state.SetArg{Name: c.Arg, Value: c.Value}
}

func allocArgument(c Command, s *state.State) state.Message {
	a := alloc.Lookup(s.Allocator())
	if a == nil {
		return nil
	}
	if _, err := a.Parse(engine.Args{c.Arg: c.Value}); err != nil {
		return c.refuse(err.Error())
	}
	return state.SetAllocArg{Name: c.Arg, Value: c.Value}
}

// stepConfig asks about the training step of the config.json that is open.
func stepConfig(_ Command, s *state.State) state.Message {
	if s.Config() == "" {
		return nil
	}
	return state.PickStep{Model: s.Config()}
}

func stepOption(c Command, _ *state.State) state.Message {
	o := ask.Option(c.Arg)
	if o == nil {
		return nil
	}
	if _, err := engine.ParseArgs("", ask.Options, engine.Args{c.Arg: c.Value}); err != nil {
		return c.refuse(fmt.Sprintf("%s: %q; %s to %s are possible.", format.Capital(o.Title), c.Value,
			strconv.Itoa(o.Min), strconv.Itoa(o.Max)))
	}
	return state.SetStep{Name: c.Arg, Value: c.Value}
}

// The lists that changes of a training step are of, as data-arg names them.
const (
	FixRow    = "fix"
	AloneRow  = "alone"
	PolicyRow = "policy"
	OrderRow  = "order"
)

var rowLists = map[string]state.ChangeList{FixRow: state.FixingChanges, PolicyRow: state.PolicyChanges,
	OrderRow: state.OrderChanges}
