package input

import (
	"fmt"
	"math"
	"strconv"

	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/tell"
)

// questionCommand is what a command of the questions, of the table of layers or of
// the critical chain means; nil for others.
func (c Command) questionCommand() state.Message {
	switch c.Do {
	case "questions":
		return state.OpenQuestion{Name: c.Arg}
	case "all-answers":
		return state.OpenQuestion{Name: state.HelpName}
	case "ask":
		return state.StartQuestion{Name: c.Arg}
	case "unask":
		return state.StopQuestion{Name: c.Arg}
	case "try-answer":
		return state.TryAnswer{Name: c.Arg, Index: c.Index}
	case "use-answer":
		return state.UseAnswer{Name: c.Arg, Index: c.Index}
	case "slowdown":
		return c.slowdown()
	case "chain":
		return state.ToggleChain{}
	case "layers":
		return state.ToggleLayers{}
	case "layers-sort":
		by, err := strconv.Atoi(c.Arg)
		if err != nil || by < 0 || by >= int(tell.NumLayerColumns) {
			return nil
		}
		return state.SortLayers{By: tell.LayerColumn(by)}
	case "layers-find":
		return state.FindLayers{Text: c.Value}
	}
	return nil
}

// slowdown reads the field of the accepted slowdown, in per cent.
func (c Command) slowdown() state.Message {
	if !c.Settled {
		return state.Type{Field: c.Do, Text: c.Value}
	}
	x, err := format.ParsePercent(c.Value)
	if err != nil || x > 100 {
		return state.Refuse{Field: c.Do, Text: fmt.Sprintf("The slowdown is %q; 0 to 10000 per cent are possible.", c.Value)}
	}
	return state.SetSlowdown{Slowdown: int(math.Round(x * 10_000))}
}
