package answer

import (
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
)

// ofPlan returns what a schedule needs.
func ofPlan(p *known.Picture) *need {
	t, d := p.Solved.Trace, state.DeviceOf(p.Choice)
	n := &need{low: t.Peak, high: t.Peak, all: p.Solved.KeepAll.Peak, price: priceOf(p), parts: heldAt(p)}
	if !p.Solved.Verdict.Verified {
		n.failed = format.Durations(p.Solved.Verdict.Problem)
	}
	if d == nil {
		return n
	}
	n.context, n.high = choice.Context, choice.Reserved(t.Peak)-choice.Context
	n.memory, n.states, n.cards = d.Memory, p.Network.Totals.Resident, "one "+d.Short()
	switch p.Network.Profile.Source.Sizes {
	case profiles.Exact, profiles.Measured:
	case profiles.Unknown:
		n.doubt = unsureFile
	default:
		n.doubt = unsureSizes
	}
	if of := p.Network.Profile.Source.Device; of != "" &&
		!strings.Contains(strings.ToLower(of), strings.ToLower(d.Short())) {
		n.times = fmt.Sprintf(unsureTimes, of)
	}
	return n
}

// heldAt returns what lies on the device at the peak of a schedule.
func heldAt(p *known.Picture) (out []part) {
	for kind, used := range p.Model().HeldAt(p.Solved.Trace.PeakAt, 0).Used {
		k := barKinds[kind]
		if c := p.Network.Chain; sim.Category(kind) == sim.Fixed && c != nil && c.Chain.Resident.Total() <= used {
			r := c.Chain.Resident
			out = append(out, part{k.class, "weights", r.Weights}, part{k.class, "gradients", r.Grads},
				part{k.class, "optimizer", r.Optimizer},
				part{k.class, "buffers", used - r.Weights - r.Grads - r.Optimizer})
			continue
		}
		out = append(out, part{k.class, k.name, used})
	}
	return out
}

// barKinds are the parts of the bar at the peak, in the order of the stack.
var barKinds = [sim.NumCategories]struct{ class, name string }{
	sim.Fixed: {"fix", "weights, gradients, optimizer"}, sim.Gradient: {"bwd", "gradients of activations"},
	sim.Activation: {"fwd", "kept"},
	sim.Recomputed: {"rec", "computed again"}, sim.InTransfer: {"xfer", "moving"},
	sim.Workspace: {"scratch", "scratch"},
}

// tooSmall says of a budget in which the strategy finds nothing what would do.
func tooSmall(c state.Choice, m *state.OverBudget) string {
	name := choice.PlanName(c.Strategy)
	if m.Smallest == 0 {
		return name + " finds nothing."
	}
	text := fmt.Sprintf(wordsAtLeast, name, format.BytesUp(m.Smallest))
	if d := state.DeviceOf(c); d != nil && m.Smallest > d.Memory {
		text += "; " + fmt.Sprintf(wordsHas, "one "+d.Short(), format.Bytes(d.Memory))
	}
	return text + "."
}

// priceOf says what a schedule costs in time.
func priceOf(p *known.Picture) string {
	if all := p.Solved.KeepAll.StepTime; all > 0 {
		return priceWords(format.Longer(p.Solved.Trace.Makespan, all))
	}
	return ""
}

// priceWords say how much longer a step takes.
func priceWords(part float64) string {
	text := strings.TrimPrefix(format.Percent(part), "+")
	if part <= 0 || text == "0 %" {
		return wordsNoSlower
	}
	return fmt.Sprintf(wordsSlower, text)
}

// Verdict returns the kind of answer that a schedule is, and what is said of it.
func Verdict(p *known.Picture) (kind, sentence string) {
	n := ofPlan(p)
	kind = n.kind()
	return kind, Words[kind] + n.sentence()
}

// deeds counts what happens to the blocks: the counts add up to all of them.
func deeds(p *known.Picture) string {
	blocks, by := p.Model().Tally()
	var out []string
	add := func(n int, words string) {
		if n == 0 {
			return
		}
		count := fmt.Sprint(n)
		if out == nil {
			count = fmt.Sprintf("%d of the %d blocks", n, blocks)
		}
		out = append(out, fmt.Sprintf(words, count))
	}
	add(by[sim.Offload], "sends %s to the host and back")
	add(by[sim.Recompute], "computes %s again")
	add(by[sim.Offload|sim.Recompute], "does both with %s")
	if out == nil {
		return wordsNothing
	}
	add(by[sim.Keep], "keeps %s")
	text := strings.Join(out, ", ")
	if len(out) == 2 {
		text = strings.Join(out, " and ")
	}
	return "This plan " + text + "."
}

// room says how many samples fit at once where a plan keeps everything in its budget. What a
// step takes beside the resident bytes grows at most in proportion to the batch, so that many
// fit at least.
func room(p *known.Picture) string {
	all, resident, batch := p.Solved.KeepAll.Peak, p.Network.Totals.Resident, p.Network.Totals.Batch
	if p.Choice.Strategy != engine.KeepAll || batch <= 0 || all <= resident || p.Solved.Budget == engine.NoLimit {
		return ""
	}
	fits := int(float64(p.Solved.Budget-resident) / float64(all-resident) * float64(batch))
	base, _ := p.Choice.Source.Variant()
	if base == nil || fits <= batch || fits > base.Largest() {
		return ""
	}
	return fmt.Sprintf(wordsRoom, format.Count(fits), base.Unit()+"s")
}

// shown says which schedule the pictures still show: its budget, and what else is not what
// was asked for.
func shown(s *state.State) string {
	p := s.Shown
	what := format.Bytes(p.Solved.Budget)
	if p.Choice.Strategy != s.Choice.Strategy {
		what = choice.PlanName(p.Choice.Strategy) + " in " + what
	}
	if p.Network != s.Network {
		what += " for " + p.Network.Profile.Name
	}
	return what
}
