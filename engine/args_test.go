package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

var testParams = []Param{
	{Name: "segments", Default: "0", Min: 0, Max: 9},
	{Name: "rule", Default: "text", Choices: []string{"text", "printed"}},
}

func TestParseArgs(t *testing.T) {
	for _, tc := range []struct {
		in       Args
		segments int
		rule     string
		want     string // part of the error message; empty means no error
	}{
		{nil, 0, "text", ""},
		{Args{"segments": "9", "rule": "printed"}, 9, "printed", ""},
		{Args{"segments": "10"}, 0, "", "whole number from 0 to 9"},
		{Args{"segments": "two"}, 0, "", "whole number"},
		{Args{"rule": "other"}, 0, "", "one of text, printed"},
		{Args{"depth": "1"}, 0, "", `x has no parameter "depth"`},
	} {
		got, err := ParseArgs("x", testParams, tc.in)
		if tc.want != "" {
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v: got %v, want %q", tc.in, err, tc.want)
			}
			continue
		}
		if err != nil || got.Int("segments") != tc.segments || got.Word("rule") != tc.rule || !got.Is("rule", tc.rule) {
			t.Errorf("%v: got %+v, %v; want %d and %q", tc.in, got, err, tc.segments, tc.rule)
		}
	}
}

// A solver panics if it reads a parameter that its strategy does not declare, or if its arguments were not parsed.
func TestParsedPanics(t *testing.T) {
	parsed, err := ParseArgs("x", testParams, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, use := range map[string]func(){
		"an undeclared number": func() { parsed.Int("segment") },
		"an undeclared word":   func() { parsed.Word("rules") },
		"a word as a number":   func() { parsed.Int("rule") },
		"a number as a word":   func() { parsed.Word("segments") },
		"a word not offered":   func() { parsed.Is("rule", "print") },
		"nothing parsed":       func() { Parsed{}.Int("segments") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			use()
		}()
	}
}

// Solve and Sweep parse arguments: the solver gets every parameter, and is not called with invalid arguments. Without
// a Sweeper every budget is solved by itself.
func TestSolveParses(t *testing.T) {
	var calls []int // the value of segments in each call
	s := &Strategy{Name: "x", Graphs: true, Params: testParams,
		Solver: func(p *Problem, args Parsed, _ *Poll) (*Solution, error) {
			calls = append(calls, args.Int("segments"))
			return &Solution{Peak: p.Budget}, nil
		}}
	p := &Problem{Budget: 5}
	if sol, err := s.Solve(p, Args{"segments": "3"}, nil); err != nil || sol.Peak != 5 {
		t.Errorf("Solve: got %+v, %v; want what the solver returns", sol, err)
	}
	chains := *s
	chains.Graphs = false
	if sol, err := chains.Solve(p, nil, nil); sol != nil || err != ErrNeedsChain {
		t.Errorf("Solve: a graph for a strategy of chains: got %+v, %v; want %v", sol, err, ErrNeedsChain)
	}
	if _, err := s.Solve(p, Args{"rule": "other"}, nil); err == nil {
		t.Error("Solve: arguments that Parse refuses are no error")
	}
	var peaks []Bytes
	s.Sweep(p, nil, []Bytes{7, 8}, nil, func(_ int, sol *Solution, err error) {
		if err != nil {
			t.Fatal(err)
		}
		peaks = append(peaks, sol.Peak)
	})
	refused := 0
	s.Sweep(p, Args{"depth": "1"}, []Bytes{7, 8}, nil, func(_ int, _ *Solution, err error) {
		if err != nil && !errors.Is(err, ErrUnsupported) {
			refused++
		}
	})
	if want := []int{3, 0, 0}; !slices.Equal(calls, want) || !slices.Equal(peaks, []Bytes{7, 8}) || refused != 2 {
		t.Errorf("the solver saw %v, the budgets of the sweep gave %v, %d of 2 were refused; want %v and [7 8]",
			calls, peaks, refused, want)
	}
}
