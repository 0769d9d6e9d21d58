package play

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
)

// Setting is what a framework of its own can be told, and what comes of it. Frameworks
// can say less than a plan: of all that one can say the fastest within a budget is taken,
// by playing each.
type Setting struct {
	Framework string
	Code      string // what to write; empty: Why says why there is nothing
	Note      string // since which version, and where it goes; empty: nothing is to say
	Why       string
	Segments  []*Segment
	Result    Result
}

// family is what a framework can be told: one plan for each number up to most.
type family struct {
	framework string
	most      func(l *layout) int
	why       string // where most is 0
	plan      func(l *layout, n int) []*Segment
	code      func(l *layout, n int) string
	note      func(n int) string // nil: there is none
}

// layout is a network as frameworks see it.
type layout struct {
	trace  *Trace
	groups [][]string // units that stay together, in their order
	// sequence are the units in each child of a model that is a Sequential; nil of others.
	sequence [][]string
	layers   [][]string // units of each layer of the one list of layers
	list     string     // its name; empty: there is none
}

const noLayers = "the units do not lie in one list of layers"

// every returns a plan of the layers that a rule takes, each by itself.
func every(l *layout, take func(i int) bool) (out []*Segment) {
	for i, units := range l.layers {
		if take(i) {
			out = append(out, recompute(units))
		}
	}
	return out
}

// recompute returns a segment whose units run again.
func recompute(units []string) *Segment { return &Segment{Units: units, Do: DoRecompute} }

// runs are equal runs of lists, the last one shorter.
func runs(lists [][]string, length int) (out []*Segment) {
	for part := range slices.Chunk(lists, length) {
		if units := slices.Concat(part...); len(units) > 0 {
			out = append(out, recompute(units))
		}
	}
	return out
}

func layers(l *layout) int { return len(l.layers) }

var families = []family{
	{"Transformers", layers, noLayers,
		// Of a list of layers those whose number n divides [huggingface/transformers#48200,
		// read there and not run].
		func(l *layout, n int) []*Segment { return every(l, func(i int) bool { return i%n == 0 }) },
		func(l *layout, n int) string {
			if n == 1 {
				return "model.gradient_checkpointing_enable()"
			}
			return fmt.Sprintf("model.gradient_checkpointing_enable(every_n_layers=%d)", n)
		},
		func(n int) string {
			if n == 1 {
				return "of a Trainer: TrainingArguments(gradient_checkpointing=True)"
			}
			return fmt.Sprintf(`every_n_layers: added in August 2026, in the documents of 5.17; of a Trainer: TrainingArguments(gradient_checkpointing=True, gradient_checkpointing_kwargs={"every_n_layers": %d})`, n)
		}},
	{"Megatron-LM, block", layers, noLayers,
		func(l *layout, n int) []*Segment { return every(l, func(i int) bool { return i < n }) },
		func(l *layout, n int) string {
			return fmt.Sprintf("--recompute-granularity full --recompute-method block --recompute-num-layers %d", n)
		}, nil},
	{"Megatron-LM, uniform", layers, noLayers,
		func(l *layout, n int) []*Segment { return runs(l.layers, n) },
		func(l *layout, n int) string {
			return fmt.Sprintf("--recompute-granularity full --recompute-method uniform --recompute-num-layers %d", n)
		}, nil},
	{"torch, checkpoint_sequential", func(l *layout) int { return len(l.sequence) }, "the model is no Sequential",
		// Children count, and the last segment is kept [torch/utils/checkpoint.py].
		func(l *layout, n int) []*Segment {
			size := len(l.sequence) / n
			return runs(l.sequence[:size*(n-1)], size)
		},
		func(l *layout, n int) string {
			return fmt.Sprintf("checkpoint_sequential(model, %d, input, use_reentrant=False)", n)
		},
		func(int) string { return "PyTorch 2.0 or later; before, without use_reentrant" }},
}

// children returns the units in each child of a model that is a Sequential, in their order; nil
// of other models.
func (t *Trace) children() (list [][]string) {
	if len(t.Calls) == 0 || t.Calls[0].Path != "" || t.Calls[0].Class != "Sequential" {
		return nil
	}
	units := t.UnitNames()
	for _, c := range t.Calls[1:] {
		if strings.ContainsAny(c.Path, ".#") {
			continue
		}
		var within []string
		for _, u := range units {
			if u == c.Path || strings.HasPrefix(u, c.Path+".") {
				within = append(within, u)
			}
		}
		list = append(list, within)
	}
	return list
}

// Settings returns the best ones of every framework within a budget, in the order of a list
// that is always the same. Where nothing of one fits, Why says the smallest peak.
func (p *Player) Settings(budget engine.Bytes, poll *engine.Poll) (out []Setting, err error) {
	l := &layout{trace: p.t, groups: p.t.groups(), sequence: p.t.children()}
	l.list, l.layers = repeated(l.groups)
	for _, f := range slices.Concat(families, furtherFamilies) {
		if err := poll.Err(); err != nil {
			return out, err
		}
		out = append(out, p.setting(&f, l, budget))
	}
	units, got, err := p.Solve(ClassUnit, budget, unitPlays, nil, poll)
	s := Setting{Framework: "torch, apply_activation_checkpointing", Segments: units, Result: got}
	switch short, infeasible := errors.AsType[*engine.InfeasibleError](err); {
	case infeasible:
		s.Segments, s.Result, s.Why = nil, Result{}, tooMuch(short.Smallest)
	case err != nil:
		return out, err
	case slices.ContainsFunc(units, func(u *Segment) bool { return strings.Contains(strings.Join(u.Units, ""), "#") }):
		s.Segments, s.Why = nil, "the plan runs a module again at one of its calls and not at others"
	default:
		s.Code = "apply_activation_checkpointing(model, check_fn=lambda m: m in {model.get_submodule(n) for n in " +
			names(units) + "})"
	}
	return append(out, s), nil
}

// unitPlays is how many plans are played for single units.
const unitPlays = 1000

func tooMuch(smallest engine.Bytes) string {
	return fmt.Sprintf("nothing that it can say fits; the smallest peak is %s", smallest.Text())
}

// setting plays all that a framework can say.
func (p *Player) setting(f *family, l *layout, budget engine.Bytes) Setting {
	s := Setting{Framework: f.framework, Why: f.why}
	least := engine.NoLimit
	for n := 1; n <= f.most(l); n++ {
		plan := f.plan(l, n)
		if p.t.Validate(plan) != nil {
			continue
		}
		got := p.Play(plan)
		least = min(least, got.Peak)
		s.Why = tooMuch(least)
		if got.Peak <= budget &&
			(s.Code == "" || got.Time < s.Result.Time || got.Time == s.Result.Time && got.Peak < s.Result.Peak) {
			s.Code, s.Segments, s.Result = f.code(l, n), plan, got
			if f.note != nil {
				s.Note = f.note(n)
			}
		}
	}
	if s.Code != "" {
		s.Why = ""
	}
	return s
}

// names writes the modules of a plan as a list of Python.
func names(segments []*Segment) string {
	var out []string
	for _, s := range segments {
		for _, u := range s.Units {
			out = append(out, strconv.Quote(u))
		}
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// member is a module in a list: 3 of h, 0 of encoder.layers.
type member struct{ list, number string }

// memberOf finds the outermost list that a unit lies in: "h.3", "encoder.layers.0.attn".
func memberOf(unit string) (m member, ok bool) {
	for at := 0; ; {
		part := unit[at:]
		end := strings.IndexAny(part+".", ".#")
		if number := part[:end]; number != "" && strings.Trim(number, "0123456789") == "" {
			return member{strings.TrimSuffix(unit[:at], "."), number}, true
		}
		dot := strings.IndexByte(part, '.')
		if dot < 0 {
			return member{}, false
		}
		at += dot + 1
	}
}

// repeated finds the list of modules that most units lie in, and the units of each of its
// members, in their order. A list has two members at least.
func repeated(groups [][]string) (list string, members [][]string) {
	count := map[string]int{}
	for _, g := range groups {
		if m, ok := memberOf(g[0]); ok {
			count[m.list]++
		}
	}
	for _, g := range groups { // in order: of equal ones the first
		if m, ok := memberOf(g[0]); ok && count[m.list] > count[list] {
			list = m.list
		}
	}
	last := member{}
	for _, g := range groups {
		m, ok := memberOf(g[0])
		switch {
		case !ok || m.list != list:
		case m == last:
			members[len(members)-1] = append(members[len(members)-1], g...)
		default:
			members, last = append(members, slices.Clone(g)), m
		}
	}
	if len(members) < 2 {
		return "", nil
	}
	return list, members
}
