package play

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
)

// Setting is the fastest setting of a framework within a budget. Frameworks can express fewer plans than memtide.
type Setting struct {
	Framework string
	Code      string // the code or flags to write; empty if no setting fits
	Note      string // the versions that have the setting, and where it goes; may be empty
	Why       string // why no setting fits
	Segments  []*Segment
	Result    Result
}

// family is the settings of a framework, numbered from 1.
type family struct {
	framework string
	most      func(l *layout) int // the number of settings
	why       string              // the reason if there are no settings
	plan      func(l *layout, n int) []*Segment
	code      func(l *layout, n int) string
	note      func(n int) string // may be nil
}

// layout is a network as frameworks see it.
type layout struct {
	trace    *Trace
	sequence [][]string // the units of each child of a model that is a Sequential; nil for other models
	layers   [][]string // the units of each layer of the list of layers; nil without such a list
}

const noLayers = "the units do not lie in one list of layers"

// every returns a plan in which the layers for which take returns true run again, each by itself.
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

// runs returns a plan in which every length consecutive lists of units run again as a whole. The last segment may
// be shorter.
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
		// Layers whose index is a multiple of n run again [huggingface/transformers#48200, not run].
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

// children returns the units of each child of a model that is a Sequential, in order, and nil for other models.
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

// Settings returns the best setting of every framework within a budget, in a fixed order. If no setting of a
// framework fits, Why has the smallest peak. The error is that of poll.
func (p *Player) Settings(budget engine.Bytes, poll *engine.Poll) (out []Setting, err error) {
	l := &layout{trace: p.t, sequence: p.t.children(), layers: repeated(p.t.groups())}
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

// unitPlays is the number of plans played for apply_activation_checkpointing.
const unitPlays = 1000

func tooMuch(smallest engine.Bytes) string {
	return fmt.Sprintf("nothing that it can say fits; the smallest peak is %s", smallest.Text())
}

// setting plays all settings of a family and returns the best.
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

// names returns the modules of a plan as a Python list.
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

// memberOf returns the member of the outermost list that contains a unit: 0 of encoder.layers for
// "encoder.layers.0.attn". ok is false if no list contains it.
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

// repeated returns the units of each member of the list of modules that contains the most groups, in order. It
// returns nil if there is no list with at least two members.
func repeated(groups [][]string) (members [][]string) {
	count, list := map[string]int{}, ""
	for _, g := range groups {
		if m, ok := memberOf(g[0]); ok {
			count[m.list]++
		}
	}
	for _, g := range groups { // in order, so that the first of equal lists counts
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
		return nil
	}
	return members
}
