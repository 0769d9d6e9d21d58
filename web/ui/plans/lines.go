package plans

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"memtide/web/chart"
	"memtide/web/display"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/tradeoff"
	"memtide/web/ui/panel"
)

// Title says what the curve shows.
func (c *Tradeoff) Title() string {
	if c.S.View.Axis == tradeoff.Throughput {
		return "Speed against memory"
	}
	return "Step time against memory"
}

// Better says which way is better.
func (c *Tradeoff) Better() string {
	text := "down is better"
	if c.S.View.Axis == tradeoff.Throughput {
		text = "up is better"
	}
	if state.DeviceOf(c.S.Choice) != nil {
		text += "; memory of the card"
	}
	if len(c.S.Policies()) > 0 {
		text += "; circles are frameworks’ policies"
	}
	return text
}

// Axes lists what the curve may show upwards.
func (c *Tradeoff) Axes() []panel.Option {
	rate := "samples per second"
	if n := c.S.Network; n != nil {
		unit, count := known.Trained(c.S.Choice, n)
		if rate = unit + " per second"; count == 0 {
			rate = "steps per second"
		}
	}
	titles := map[string]string{tradeoff.Throughput: rate, tradeoff.Slowdown: "slowdown",
		tradeoff.StepTime: "step time"}
	var out []panel.Option
	for _, axis := range tradeoff.Axes {
		out = append(out, panel.Option{ID: cmp.Or(axis, "rate"), Title: titles[axis], Selected: axis == c.S.View.Axis})
	}
	return out
}

// strokes are the classes of the colours that lines have.
var strokes = map[display.Role]string{display.Forward: "of-both", display.Transfer: "of-offload",
	display.Recompute: "of-recompute", display.Fixed: "of-keep"}

// sample returns a piece of a strategy's line, as SVG.
func sample(line string) string {
	class, dash := strokes[chart.Role(line)], ""
	if dashes := chart.Dash(line); dashes != nil {
		list := make([]string, len(dashes))
		for i, n := range dashes {
			list[i] = strconv.Itoa(n)
		}
		dash = ` stroke-dasharray="` + strings.Join(list, " ") + `"`
	}
	return fmt.Sprintf(`<svg width="26" height="8" aria-hidden="true"><path class="%s" d="M0 4H26"%s/></svg>`,
		class, dash)
}
