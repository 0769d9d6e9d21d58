package play

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"memtide/engine"
)

// PlanFormat is the value of "format" in files of plans.
const PlanFormat = "memtide-plan/1"

// What a segment does with the tensors that autograd keeps for its calls.
const (
	DoKeep      = "keep"
	DoRecompute = "recompute" // drop them, and run the calls again when their backward comes
	DoOffload   = "offload"   // move them to the host
)

// Plan is the content of a file of plans. Fields are only added.
type Plan struct {
	Format    string     `json:"format"`
	Class     string     `json:"class"`
	Name      string     `json:"name"`
	MadeBy    string     `json:"made_by"`
	Budget    int64      `json:"budget_bytes"`
	Model     Identity   `json:"model"`
	Inputs    [][]any    `json:"inputs"`
	Autocast  string     `json:"autocast"`
	Predicted Predicted  `json:"predicted"`
	Warnings  []string   `json:"warnings,omitempty"` // why Predicted may not hold, as Trace.Warnings
	Shapes    []*Shape   `json:"shapes,omitempty"`   // more plans, for other inputs
	Segments  []*Segment `json:"segments"`
}

// Shape is a plan for inputs of other shapes. In a plan with shapes, the model runs plainly on inputs without a plan.
type Shape struct {
	Budget    int64      `json:"budget_bytes"`
	Inputs    [][]any    `json:"inputs"`
	Predicted Predicted  `json:"predicted"`
	Segments  []*Segment `json:"segments"`
}

// Add adds q to the shapes of p. The error says that q is for another model, or for the same inputs as an earlier plan.
func (p *Plan) Add(q *Plan) error {
	switch {
	case !slices.Equal(p.Model.Units, q.Model.Units) || !slices.Equal(p.Model.Classes, q.Model.Classes) ||
		p.Model.Modules != q.Model.Modules || p.Autocast != q.Autocast:
		return fmt.Errorf("its units or modules are not those of the file before: a plan is of one model")
	case same(p.Inputs, q.Inputs) ||
		slices.ContainsFunc(p.Shapes, func(s *Shape) bool { return same(s.Inputs, q.Inputs) }):
		return fmt.Errorf("a file before has the same inputs")
	}
	p.Shapes = append(p.Shapes, &Shape{q.Budget, q.Inputs, q.Predicted, q.Segments})
	for _, w := range q.Warnings {
		if !slices.Contains(p.Warnings, w) {
			p.Warnings = append(p.Warnings, w)
		}
	}
	return nil
}

// same reports whether inputs are equal.
func same(a, b [][]any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// Identity identifies the model of a plan, so that a plan is not applied to another model.
type Identity struct {
	Units   []string `json:"units"`
	Classes []string `json:"classes"`
	SHA     string   `json:"ops_sha"`
	Modules string   `json:"modules_sha,omitempty"` // hash of paths, classes and shapes of parameters
}

// Predicted is the result of playing a plan.
type Predicted struct {
	Peak    int64   `json:"peak_bytes"`
	Step    float64 `json:"step_s"`
	KeepAll int64   `json:"keepall_peak_bytes"`
	Again   float64 `json:"again_s"`
	Sent    int64   `json:"sent_bytes,omitempty"` // to the host, and back
	Copies  float64 `json:"copies_s,omitempty"`   // the part of step_s for these copies; see Result.Copies
}

// Segment is a list of consecutive unit calls with what becomes of their kept tensors. The tensors of units in no
// segment are kept.
type Segment struct {
	Units    []string   `json:"units"`
	Do       string     `json:"do"`
	Inner    []*Segment `json:"inner,omitempty"`    // segments within it, when it runs again
	Save     []Saved    `json:"save,omitempty"`     // operators whose results are kept; only without Inner
	Prefetch int        `json:"prefetch,omitempty"` // how many segments early its values are fetched from the host
	Input    string     `json:"input,omitempty"`    // DoOffload moves the arguments of a segment that runs again
}

// Saved is an operator of a segment: its name, and its index among the operators with that name.
type Saved struct {
	Op string
	At int
}

// MarshalJSON writes a list of two elements.
func (s Saved) MarshalJSON() ([]byte, error) { return json.Marshal([]any{s.Op, s.At}) }

// UnmarshalJSON reads a list of two elements.
func (s *Saved) UnmarshalJSON(data []byte) error {
	two := []any{&s.Op, &s.At}
	if err := json.Unmarshal(data, &two); err != nil || len(two) != 2 {
		return fmt.Errorf("%s is not the name of an operator and a number", data)
	}
	return nil
}

// ReadPlan reads a file of a plan.
func ReadPlan(data []byte) (*Plan, error) {
	p := &Plan{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("this is no plan: %w", err)
	}
	if p.Format != PlanFormat {
		return nil, fmt.Errorf("format is %q; a plan is %q", p.Format, PlanFormat)
	}
	return p, nil
}

// JSON returns the content of the plan's file, with one line per segment.
func (p *Plan) JSON() ([]byte, error) {
	short := *p
	short.Segments = nil
	head, err := json.Marshal(&short)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, s := range p.Segments {
		line, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		lines = append(lines, "  "+string(line))
	}
	out := bytes.TrimSuffix(head, []byte(`"segments":null}`))
	return append(out, "\n \"segments\": [\n"+strings.Join(lines, ",\n")+"]}\n"...), nil
}

// Validate returns an error if segments are not a valid plan of this trace.
func (t *Trace) Validate(segments []*Segment) error {
	at := map[string]int{}
	for i, c := range t.Calls {
		at[c.Path] = i
	}
	return t.validate(segments, at, 0, len(t.Ops))
}

// validate is Validate for segments whose operators must lie in [first, end). at maps paths to calls.
func (t *Trace) validate(segments []*Segment, at map[string]int, first, end int) error {
	last := -1
	for _, s := range segments {
		if err := s.valid(); err != nil {
			return err
		}
		for _, u := range s.Units {
			c, ok := at[u]
			switch {
			case !ok:
				return fmt.Errorf("there is no call of %s in the trace", u)
			case c <= last:
				return fmt.Errorf("%s is in two segments, or not in the order of the calls", u)
			case t.Calls[c].Op < first || t.Calls[c].End > end:
				return fmt.Errorf("%s does not lie within the segment around it", u)
			}
			last = c
		}
		for _, in := range s.Inner {
			if in.Do == DoOffload {
				return fmt.Errorf("%s runs again, and what it keeps then cannot be offloaded", in.Units[0])
			}
		}
		if err := t.validate(s.Inner, at, t.Calls[at[s.Units[0]]].Op, t.Calls[last].End); err != nil {
			return err
		}
	}
	return nil
}

func (s *Segment) valid() error {
	switch {
	case len(s.Units) == 0:
		return fmt.Errorf("a segment has no units")
	case s.Do != DoKeep && s.Do != DoRecompute && s.Do != DoOffload:
		return fmt.Errorf("the segment of %s says %q; it is keep, recompute or offload", s.Units[0], s.Do)
	case s.Prefetch < 0:
		return fmt.Errorf("the segment of %s has the prefetch %d; it is a number of segments before it", s.Units[0],
			s.Prefetch)
	case s.Input != "" && (s.Input != DoOffload || s.Do != DoRecompute):
		return fmt.Errorf("the segment of %s says %q of its input; a segment that runs again may offload it",
			s.Units[0], s.Input)
	case len(s.Save) > 0 && len(s.Inner) > 0:
		return fmt.Errorf("the segment of %s keeps single operators and has others within", s.Units[0])
	}
	return nil
}

// Plan returns a plan with these segments and their predicted result. maker names the program and the method.
func (p *Player) Plan(segments []*Segment, class, maker string, budget engine.Bytes) *Plan {
	t, all, got := p.t, p.Play(nil), p.Play(segments)
	plan := &Plan{Format: PlanFormat, Class: class, Name: t.Name, MadeBy: maker, Budget: int64(budget),
		Autocast: t.Autocast, Inputs: [][]any{}, Segments: segments, Warnings: t.Warnings,
		Model: Identity{Units: t.UnitNames(), SHA: t.SHA, Modules: t.Modules},
		Predicted: Predicted{Peak: int64(got.Peak), Step: got.Time.Seconds(), KeepAll: int64(all.Peak),
			Again: got.Again.Seconds(), Sent: int64(got.Sent), Copies: got.Copies.Seconds()}}
	for _, c := range t.Units {
		plan.Model.Classes = append(plan.Model.Classes, t.Calls[c].Class)
	}
	for _, in := range t.Inputs {
		plan.Inputs = append(plan.Inputs, []any{in.Name, in.Shape, in.DType})
	}
	return plan
}
