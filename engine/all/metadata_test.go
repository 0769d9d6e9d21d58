package all_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// id is a doi, an arXiv number, or the page of a paper in the proceedings of
// NeurIPS, which have neither.
var id = regexp.MustCompile(`^(arXiv:\d{4}\.\d{4,5}|10\.\d{4,9}/\S+|https://papers\.nips\.cc/paper/\d{4}/hash/[0-9a-f]{32}-Abstract\.html)$`)

// TestMetadata checks that every strategy has a title, a summary of one sentence, sources that can be found, and
// parameters whose defaults are accepted.
func TestMetadata(t *testing.T) {
	if len(engine.Strategies()) < 4 {
		t.Errorf("only %d strategies are registered", len(engine.Strategies()))
	}
	for _, s := range engine.Strategies() {
		if !strings.HasSuffix(s.Doc, ".") || strings.Contains(s.Doc, "\n") ||
			strings.Contains(strings.TrimSuffix(s.Doc, "."), ". ") {
			t.Errorf("%s: the summary is %q, want one sentence on one line", s.Name, s.Doc)
		}
		if s.Title == "" || s.Solver == nil || len(s.Cites) == 0 {
			t.Errorf("%s: title %q, %d sources, Solver is nil: %v; all of them are needed", s.Name, s.Title,
				len(s.Cites), s.Solver == nil)
		}
		for _, c := range s.Cites {
			if c.Text == "" || c.Section == "" || !id.MatchString(c.ID) {
				t.Errorf("%s: source %+v; want a text, a section, and a doi, an arXiv number or the page in the proceedings", s.Name, c)
			}
		}
		for _, p := range s.Params {
			if p.Name == "" || p.Title == "" || p.Doc == "" {
				t.Errorf("%s: parameter %+v; want a name, a title and a text", s.Name, p)
			}
			if p.Choices != nil && !slices.Contains(p.Choices, p.Default) {
				t.Errorf("%s: the default of %s is %q, not one of %v", s.Name, p.Name, p.Default, p.Choices)
			}
		}
		if _, err := s.Parse(nil); err != nil {
			t.Errorf("%s: the defaults are not accepted: %v", s.Name, err)
		}
		if _, err := s.Parse(engine.Args{"no-such-parameter": "1"}); err == nil {
			t.Errorf("%s: a parameter that does not exist is accepted", s.Name)
		}
	}
}

// TestMarks checks that no two strategies of a class have the same mark.
func TestMarks(t *testing.T) {
	taken := map[engine.Class]map[int]string{}
	for _, s := range engine.Strategies() {
		of := taken[s.Class]
		if of == nil {
			of = map[int]string{}
			taken[s.Class] = of
		}
		if other, ok := of[s.Mark]; ok || s.Mark < 0 || s.Mark >= engine.Marks {
			free := 0
			for slices.ContainsFunc(engine.Strategies(),
				func(o *engine.Strategy) bool { return o.Class == s.Class && o.Mark == free }) {
				free++
			}
			t.Errorf("%s has the mark %d (%q has the same); want one from 0 to %d that is free in its class, such as %d", s.Name, s.Mark, other, engine.Marks-1, free)
		}
		of[s.Mark] = s.Name
	}
}

// TestSolveChecksArguments gives every parameter an invalid value.
func TestSolveChecksArguments(t *testing.T) {
	in := instances(1, enginetest.Shape{})[0]
	problem := engine.NewChainProblem(in.chain, enginetest.Device(engine.HalfDuplex), engine.Whole, engine.NoLimit)
	for _, s := range engine.Strategies() {
		for _, p := range s.Params {
			if _, err := s.Solve(problem, engine.Args{p.Name: "no such value"}, nil); err == nil {
				t.Errorf("%s: the value %q of %s is accepted", s.Name, "no such value", p.Name)
			}
		}
	}
}

// TestGraphs checks that exactly the strategies with Graphs work on a graph that is not a chain.
func TestGraphs(t *testing.T) {
	g := &engine.Graph{Done: engine.NoValue}
	for range 4 {
		g.Values = append(g.Values, engine.Value{Name: "v", Size: 3, PartOf: engine.NoValue})
	}
	g.Values[0].Initial = engine.OnDevice
	g.Ops = []engine.Op{
		{Name: "one", Time: 1, In: []engine.ValueID{0}, Out: []engine.ValueID{1}},
		{Name: "two", Time: 1, In: []engine.ValueID{1}, Out: []engine.ValueID{2}},
		{Name: "both", Time: 1, In: []engine.ValueID{0, 1, 2}, Out: []engine.ValueID{3}},
	}
	p := &engine.Problem{Graph: g, Device: enginetest.Device(engine.HalfDuplex), Budget: engine.NoLimit}
	for _, s := range engine.Strategies() {
		_, err := s.Solve(p, nil, nil)
		if s.Graphs && err != nil || !s.Graphs && !errors.Is(err, engine.ErrNeedsChain) {
			t.Errorf("%s: Graphs is %v; on a graph it says %v", s.Name, s.Graphs, err)
		}
	}
}
