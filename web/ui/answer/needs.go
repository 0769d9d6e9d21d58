package answer

import (
	"fmt"
	"maps"
	"strings"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
)

// The kinds of verdicts. Only Fits is green: a need close to the memory of the card, or computed by a formula, is not.
const (
	Fits    = "fits"
	Should  = "should"
	MayNot  = "may-not"
	DoesNot = "not"
	Unknown = "needs" // the memory of the card is not known
	Failed  = "failed"
	None    = "none" // there is no result, and the sentence says why
	Working = "working"
	versus  = "versus" // a comparison, which shows the difference instead
)

// Words are the words of the verdicts.
var Words = map[string]string{Fits: "Fits: ", Should: "Should fit: ", MayNot: "May not fit: ",
	DoesNot: "Does not fit: ",
	Failed:  "Check failed: ", None: "No answer: ", Unknown: "Needs "}

// need is what a step needs on a card. The verdict, the sentence and the bar follow from it.
type need struct {
	parts     []part       // memory of the program at the peak, from the left of the bar
	low, high engine.Bytes // the range of that with the allocator
	context   engine.Bytes // memory of CUDA in addition
	kept      engine.Bytes // memory of the program if everything is kept; 0 if it is not known
	all       engine.Bytes // memory of the card if everything is kept, with allocator and CUDA
	played    bool         // all is what the allocator was seen to reserve or follows from a rule, not a lower bound
	policy    bool         // something is computed again or moved, so that all is likely to exceed the card
	memory    engine.Bytes // of the card; 0 if it is not known
	states    engine.Bytes // weights, gradients and optimizer
	cards     string       // "one H100", "each H100"
	where     string       // the rank
	price     string       // how much slower than keeping everything
	wait      string       // how long ranks wait
	failed    string       // why the check failed
	doubt     string       // what is uncertain about the sizes
	times     string       // what is uncertain about the times
	segments  bool         // the range of the allocator is that of expandable segments
}

// part is one use of memory.
type part struct {
	class, name string
	bytes       engine.Bytes
}

func (p *part) label() string { return p.name + " " + format.Bytes(p.bytes) }

// from and to are the ends of the range of memory that is needed on a card.
func (n *need) from() engine.Bytes { return n.low + n.context }
func (n *need) to() engine.Bytes   { return n.high + n.context }

// everything says how much memory of the card is needed if everything is kept: "71 GiB", or "68+ GiB" until it was
// played, which is no longer, so that nothing moves when it is.
func (n *need) everything() string {
	text := format.Bytes(n.all)
	if at := strings.LastIndexByte(text, ' '); !n.played && at > 0 {
		number, _, _ := strings.Cut(text[:at], ".")
		if len(number) == 1 { // "1+ TiB" may be less than what is said of the states
			number = text[:at]
		}
		return number + "+" + text[at:]
	}
	return text
}

// tight reports whether the upper end is nearer to the memory of the card than predictions err.
func (n *need) tight() bool { return n.to() > card.Sure(n.memory) }

// statesOver reports whether no plan can help, because plans reduce only activations.
func (n *need) statesOver() bool { return n.memory > 0 && n.states+n.context > n.memory }

// kind returns the kind of the verdict.
func (n *need) kind() string {
	switch {
	case n.failed != "":
		return Failed
	case n.memory == 0:
		return Unknown
	case n.statesOver() || n.from() > n.memory:
		return DoesNot
	case n.to() > n.memory:
		return MayNot
	case n.tight() || n.doubt != "" && n.doubt != unsureExperts: // the range holds the load of experts
		return Should
	}
	return Fits
}

// span returns the range from from to to, as one number if it is shorter than 0.1 GiB.
func (n *need) span() string {
	if n.to()-n.from() < engine.GiB/10 {
		return format.Bytes(n.to())
	}
	return format.Range(n.from(), n.to())
}

// outOf returns the need and the memory of the card, with one unit if both have the same.
func (n *need) outOf() string {
	span, memory := n.span(), format.Bytes(n.memory)
	if at := strings.LastIndexByte(memory, ' '); at >= 0 {
		span = strings.TrimSuffix(span, memory[at:])
	}
	return fmt.Sprintf("%s of %s", span, memory) + n.where
}

// sentence returns the sentence after the words of the verdict.
func (n *need) sentence() string {
	price := n.price
	if price != "" {
		price = ", " + price
	}
	switch n.kind() {
	case Failed:
		return format.Sentence(n.failed)
	case Unknown:
		return format.Bytes(n.low) + price + "."
	case DoesNot:
		if n.statesOver() {
			return statesAlone(n.states, n.context, n.memory, n.cards)
		}
		return fmt.Sprintf("%s needed%s, %s has %s.", n.span(), n.where, n.cards, format.Bytes(n.memory))
	}
	return n.outOf() + price + n.wait + "."
}

// unsure returns a sentence about the largest uncertainty, or about the memory that stays free.
func (n *need) unsure() string {
	worst := n.times
	switch kind := n.kind(); {
	case kind == Failed || kind == Unknown:
		return ""
	case kind == DoesNot:
		return n.whose()
	case n.doubt == unsureExperts, n.doubt == unsureWeights:
		worst = n.doubt
	case kind == MayNot || n.tight():
		text := "Unsure: PyTorch’s allocator"
		if n.segments {
			text = "With expandable segments"
		}
		if n.times != "" {
			text += "; " + n.times
		}
		return text + "."
	case worst == "":
		worst = n.doubt
	}
	if worst == "" {
		return fmt.Sprintf("%s stay free.", format.Bytes(n.memory-n.to()))
	}
	return fmt.Sprintf("Unsure: %s.", worst)
}

// whose returns a sentence that names the card whose the times are, or "" if they are of the chosen card.
func (n *need) whose() string {
	if n.times == "" {
		return ""
	}
	return format.Capital(n.times) + "."
}

// ofPlan returns the need of a schedule.
func ofPlan(p *known.Picture) *need {
	t, d := p.Solved.Trace, state.DeviceOf(p.Choice)
	all := p.Solved.KeepAll.Peak
	n := &need{low: t.Peak, high: t.Peak, kept: all, all: all, played: true, parts: heldAt(p)}
	if all := p.Solved.KeepAll.StepTime; all > 0 {
		n.price = priceWords(format.Longer(t.Makespan, all), wordsThan)
	}
	if !p.Solved.Verdict.Verified {
		n.failed = format.Durations(p.Solved.Verdict.Problem)
	}
	if d == nil {
		return n
	}
	n.context = p.Choice.Context()
	n.high = known.AtWorst(p.Choice, p.Network, t.Peak) - n.context
	n.all = p.Choice.Reserved(n.kept)
	n.segments = known.StepArgs(p.Choice, p.Network) != nil
	n.memory, n.states, n.cards = d.Memory, p.Network.Totals.States, known.Card(p.Choice, p.Network, d)
	switch sizes := p.Network.Profile.Source.Sizes; {
	case n.states == 0:
		n.doubt = unsureWeights
	case sizes == profiles.Exact, sizes == profiles.Measured:
	case n.segments: // the step of a language model, whose sizes are read in code
	case sizes == profiles.Unknown:
		n.doubt = "where the file’s sizes come from"
	default:
		n.doubt = "sizes are by formula"
	}
	if of := p.Network.Profile.Source.Device; of != "" && of != d.Name && (d.Kind == card.OfTheirOwner ||
		!strings.Contains(strings.ToLower(of), strings.ToLower(d.Short()))) {
		n.times = fmt.Sprintf("times are those of the %s", of)
	}
	if c, r := p.Solved.Chain, p.Solved.Reserved; c != nil { // as it was replayed, with what stays on the card
		n.low, n.high, n.segments, n.states = max(r[0], t.Peak), max(r[1], t.Peak), false, c.States()
	}
	return n
}

// ofShown returns the need of a schedule that the page shows. If that keeps everything, the range of the allocator is
// the one that was found when policies were played.
func ofShown(s *state.State, p *known.Picture) *need {
	n := ofPlan(p)
	d := state.DeviceOf(s.Choice)
	if s.OverBudget != nil && s.Network != nil && d != nil && n.memory > 0 { // the picture is an earlier one
		n.memory, n.cards = d.Memory, known.Card(s.Choice, s.Network, d)
	}
	if s.Network == nil || !p.Network.Source.Same(s.Network.Source) || n.memory == 0 {
		return n
	}
	if n.all, n.played = s.KeepingAll(), true; n.all == 0 {
		n.all, n.played = n.kept+n.context, false
	}
	if m := s.OverBudget; m != nil && p.Choice.MethodKey() == s.Choice.MethodKey() &&
		p.Choice.Budget.Bytes == m.Offer { // a round budget, which has a little more room
		n.low, n.high = m.Smallest, known.AtWorst(p.Choice, p.Network, m.Smallest)-n.context
	}
	if low, high, _ := s.Kept(); p.KeepsAll() && high > 0 {
		n.low, n.high, n.segments = max(low, n.low), max(high, n.low), false
	}
	if known.Uneven(p.Choice, p.Network) {
		n.doubt = unsureExperts
	}
	return n
}

// heldAt returns the memory in use at the peak of a schedule.
func heldAt(p *known.Picture) (out []part) {
	for kind, used := range p.Index().HeldAt(p.Solved.Trace.PeakAt, 0).Used {
		k, c := barKinds[kind], p.Index().Problem.Chain
		if sim.Category(kind) == sim.Fixed && c != nil && c.Chain.Resident.Total() <= used {
			r := c.Chain.Resident
			out = append(out, part{k.class, "weights", r.Weights}, part{k.class, "gradients", r.Grads},
				part{k.class, "optimizer", r.Optimizer},
				part{k.class, "buffers", used - r.Weights - r.Grads - r.Optimizer})
			continue
		}
		if sim.Category(kind) == sim.Workspace {
			k.name = p.Index().Scratch()
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
	sim.Workspace: {class: "scratch"},
}

// priceWords says how much longer a step takes than another, which the words than name. part is 0.1 for 10 %.
func priceWords(part float64, than string) string {
	text := strings.TrimPrefix(format.Percent(part), "+")
	if part <= 0 || text == "0 %" {
		return wordsNoSlower
	}
	return text + wordsSlower + than
}

// Verdict returns the verdict of a schedule that the page shows and a sentence with its words.
func Verdict(s *state.State, p *known.Picture) (kind, sentence string) {
	n := ofShown(s, p)
	kind = n.kind()
	return kind, Words[kind] + n.sentence()
}

// deeds says what the plan or the policy does with the blocks, and what the host's memory holds meanwhile.
func deeds(p *known.Picture) string {
	text := planDeeds(p)
	if p.Choice.Policy != nil {
		text = fmt.Sprintf(wordsPolicy, ask.Policy(p.Choice.Policy))
	}
	if host := p.Solved.Host; host > 0 {
		text += fmt.Sprintf(" Up to %s wait in host memory.", format.Bytes(host))
	}
	return text
}

// planDeeds says what the plan does with how many blocks. The counts add up to all blocks.
func planDeeds(p *known.Picture) string {
	blocks, by := p.Index().Tally()
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

// room says how many samples fit at once if the plan keeps everything. The number is a lower bound: the memory beside
// the resident bytes grows at most in proportion to the batch.
func room(p *known.Picture) string {
	all, resident, batch := p.Solved.KeepAll.Peak, p.Network.Totals.Resident, p.Network.Totals.Batch
	if !p.Choice.KeepsAll() || batch <= 0 || all <= resident || p.Solved.Budget == engine.NoLimit {
		return ""
	}
	fits := int(float64(p.Solved.Budget-resident) / float64(all-resident) * float64(batch))
	base, _ := p.Choice.Source.Variant()
	if base == nil || fits <= batch || fits > base.Largest() {
		return ""
	}
	return fmt.Sprintf(" There is room for at least %s %s at once.", format.Count(fits), base.Unit()+"s")
}

// shown describes the schedule that the pictures still show: its budget, and the differences from the choice.
func shown(s *state.State) string {
	p := s.Shown
	what := p.Within("")
	if what == "" || p.Choice.MethodKey() != s.Choice.MethodKey() {
		what = p.Choice.PlanName() + p.Within(" in ")
	}
	if p.Network != s.Network {
		what += " for " + p.Network.Profile.Name
	}
	return what
}

// ofStep returns the need of a training step.
func ofStep(s *state.State, r *proto.Stepped) *need {
	n := &need{low: r.Low, high: r.High, context: r.Context, memory: r.Memory, states: r.States, cards: Cards(s)}
	for _, p := range r.Phases[r.Phase].Parts {
		n.parts = append(n.parts, part{string(p.Kind), p.Name, p.Bytes})
	}
	if len(r.Ranks) > 0 {
		n.where = fmt.Sprintf(" on rank %d, the fullest", r.Full)
		n.wait = fmt.Sprintf(wordsWait, format.Share(r.Idle))
	}
	if r.Experts && ask.Value(s.Choice.StepArgs, "imbalance") == "0" {
		n.doubt = unsureExperts
	}
	args := s.Choice.StepArgs
	n.policy = !keeps(args)
	switch {
	case !n.policy && len(r.Ranks) == 0:
		n.kept, n.all, n.played, n.price = r.Allocated, n.to(), true, wordsNoSlower
		return n
	case !n.policy && r.Fastest > 0:
		n.price = priceWords(format.Longer(r.Time, r.Fastest), wordsOrder)
		return n
	case len(r.Ranks) > 0: // keeping everything has an order of its own
		return n
	}
	for i := range r.Policies {
		if x := &r.Policies[i]; !x.Chain && keeps(x.Args) && maps.Equal(rest(x.Args), rest(args)) {
			n.kept, n.all, n.played = x.Allocated, x.High+n.context, true
			if x.Time > 0 && r.Time > 0 {
				n.price = priceWords(format.Longer(r.Time, x.Time), wordsThan)
			}
		}
	}
	return n
}

// keeps reports whether a step keeps everything that the backward needs.
func keeps(args engine.Args) bool {
	_, policy, _ := preset.Split(args)
	return policy == nil
}

// rest returns args without policies.
func rest(args engine.Args) engine.Args {
	_, policy, _ := preset.Split(args)
	out := maps.Clone(args)
	maps.DeleteFunc(out, func(name, _ string) bool { return policy[name] != "" })
	return out
}

// Cards returns the card that the numbers are about, as "one H100", or as "each H100" of several.
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

// stepSub is Sub for a training step.
func stepSub(s *state.State) string {
	r := s.Step.Shown
	if r == nil || s.Step.Failed != "" {
		return ""
	}
	n := ofStep(s, r)
	text := ""
	switch args := s.Choice.StepArgs; {
	case n.statesOver():
		if text = noPlan(args); n.all > 0 {
			text += fmt.Sprintf(wordsWithAll, n.everything())
		} else if keeps(args) {
			text += fmt.Sprintf(wordsWithAll, n.span())
		}
	case keeps(args):
		text = wordsNothing
	default:
		if n.all > 0 {
			text = fmt.Sprintf(wordsKeepAll, n.everything()) + " "
		}
		text += fmt.Sprintf(wordsPolicy, ask.Policy(args))
	}
	return strings.TrimSpace(text + " " + ask.InWords(strings.Join(r.Notes, " ")))
}

// The texts of the verdict and of its bar.
const (
	wordsPolicy   = "This policy: %s."
	wordsNothing  = "Nothing is computed again or moved."
	wordsSlower   = " slower"
	wordsNoSlower = "no slower"
	wordsThan     = " than if everything fitted" // only where there is room, like wordsOrder
	wordsOrder    = " than in the fastest order" // of a pipeline, which does not surely fit
	wordsTooSmall = "Does not fit in %s: "       // budget
	wordsKeepAll  = "Everything needs %s."
	wordsBusy     = "Playing the step…"
	wordsMoreWork = "Looking for more…"
	wordsLimit    = "Stopped after a few seconds: not all changes and plans were tried."
	wordsStopped  = "Stopped: not all changes and plans were tried."
	wordsWait     = "; ranks wait %s of the time"

	wordsSegments = "Plans were replayed through PyTorch's allocator on a card of just that memory. With PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True they need at most 6 % more than their peak, and 7 % if they only offload; by default some need 30 % more."

	wordsMuch     = "too much" // how much is not known yet
	wordsTooMuch  = "%s " + wordsMuch
	wordsGoesOn   = "everything: %s →"
	wordsKeepMark = "keep everything: %s"

	unsureExperts = "how busy the experts are"
	unsureWeights = "the file has no weights"
)

// The texts of what no plan can help.
const (
	wordsStates   = "weights, gradients and optimizer alone need %s; %s has %s" // states, cards, memory
	wordsStatesOf = "%s: does not fit, states alone need %s of %s"              // name, states, memory
	wordsHas      = "%s has %s"                                                 // cards, memory
	wordsNoSwap   = "Plans move and recompute activations; block swap makes the frozen weights smaller."
	wordsWay      = "It fits with %s."
	wordsNoPlan   = "No plan makes these smaller: they move and recompute activations."
	wordsWithAll  = " With all activations the step needs %s."
)

// statesAlone says that the states of a step are too much for the memory of a card, of which CUDA takes some.
func statesAlone(states, context, memory engine.Bytes, card string) string {
	text := fmt.Sprintf(wordsStates, format.Bytes(states), card, format.Bytes(memory))
	if states > memory {
		return text + "."
	}
	return text + ", " + format.Bytes(context) + " of it for CUDA."
}

// noPlan says why no plan helps a step with args if its states alone are too much.
func noPlan(args engine.Args) string {
	if args != nil && ask.Value(args, "lora") != "0" {
		return wordsNoSwap
	}
	return wordsNoPlan
}
