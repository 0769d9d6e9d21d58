package answer

import (
	"fmt"
	"maps"
	"strings"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/state"
)

// Pictured returns the training step that is shown: the answer, or what another rank holds; nil
// before there is one.
func Pictured(s *state.State) *proto.Stepped {
	r := s.Step.Shown
	at := s.Step.Rank()
	if at < 0 || at == r.Full {
		return r
	}
	of, rank := *r, r.Ranks[at]
	of.Low, of.High, of.Allocated, of.Phase, of.Phases = rank.Low, rank.High, rank.Allocated, rank.Phase, rank.Phases
	return &of
}

// ofStep returns what a training step needs; r is the answer or what Pictured makes of it.
func ofStep(s *state.State, r *proto.Stepped) *need {
	n := &need{low: r.Low, high: r.High, context: r.Context, memory: r.Memory, states: r.States, cards: Cards(s)}
	for _, p := range r.Phases[r.Phase].Parts {
		n.parts = append(n.parts, part{string(p.Kind), p.Name, p.Bytes})
	}
	if len(r.Ranks) > 0 {
		n.where = fmt.Sprintf(wordsFullest, r.Full)
	}
	if r.Experts {
		n.doubt = unsureExperts
	}
	args := s.Choice.StepArgs
	if keeps(args) {
		n.all, n.price = r.Allocated, wordsNoSlower
		return n
	}
	for i := range r.Policies {
		if x := &r.Policies[i]; !x.Chain && keeps(x.Args) && maps.Equal(rest(x.Args), rest(args)) {
			n.all = x.Low
			if x.Time > 0 && r.Time > 0 {
				n.price = priceWords(format.Longer(r.Time, x.Time))
			}
		}
	}
	return n
}

// policies are the options that say what is kept.
var policies = []string{"ckpt", "stash", "offload", "every", "first", "group", "recompute", "budget", "graph"}

// keeps reports whether a step keeps all that its backward needs.
func keeps(args engine.Args) bool {
	return ask.Value(args, "ckpt") == "none" && ask.Value(args, "stash") == "no"
}

// rest returns what is chosen beside the policy.
func rest(args engine.Args) engine.Args {
	out := maps.Clone(args)
	for _, name := range policies {
		delete(out, name)
	}
	return out
}

// policy names what is computed again or moved.
func policy(args engine.Args) string {
	out := []string{ask.WordsIn(args, "ckpt", ask.Value(args, "ckpt"))}
	for _, name := range []string{"stash", "offload"} {
		if ask.Value(args, name) == "yes" {
			out = append(out, ask.Option(name).Title)
		}
	}
	if n := ask.Value(args, "swap-blocks"); n != "0" {
		out = append(out, "block swap of "+n)
	}
	return strings.Join(out, ", ")
}

// Cards returns where the numbers are of: the card, or each of several.
func Cards(s *state.State) string {
	name := s.Step.Shown.Card
	if d := card.Lookup(ask.Value(s.Choice.StepArgs, "device")); d != nil {
		name = d.Short()
	}
	if s.Step.Shown.GPUs > 1 {
		return "each " + name
	}
	return "one " + name
}

// stepSub returns the second line about a training step.
func stepSub(s *state.State) string {
	r := s.Step.Shown
	if r == nil || s.Step.Failed != "" {
		return ""
	}
	n := ofStep(s, r)
	text := ""
	switch args := s.Choice.StepArgs; {
	case n.statesOver():
		text = fmt.Sprintf(wordsNoPlan, n.span())
	case keeps(args):
		text = wordsNothing
	default:
		if n.all > 0 {
			text = fmt.Sprintf(wordsKeepAll, format.Bytes(n.all)) + " "
		}
		text += fmt.Sprintf(wordsPolicy, policy(args))
	}
	return strings.TrimSpace(text + " " + strings.Join(r.Notes, " "))
}
