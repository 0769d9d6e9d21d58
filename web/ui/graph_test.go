//go:build !js

package ui

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/jobs"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/controls"
	"memtide/web/ui/pagetest"
)

// TestGraphPage checks the page of a graph that is no chain. It has a strategy for graphs in place of the
// default, pictures by operation, totals, and a curve of the strategies that apply.
func TestGraphPage(t *testing.T) {
	s := pagetest.Graph(t, nil)
	if s.Choice.Strategy != choice.GraphStrategy || !s.Shown.Solved.Verdict.Verified {
		t.Fatalf("%s, verified %v; want %s, verified", s.Choice.Strategy, s.Shown.Solved.Verdict.Verified,
			choice.GraphStrategy)
	}
	if peak, budget := s.Shown.Solved.Trace.Peak, s.Budget(); peak > budget ||
		budget != s.Network.Totals.KeepAllPeak*60/100 {
		t.Errorf("peak %d, budget %d; want 60 %% of %d and a peak within it", peak, budget,
			s.Network.Totals.KeepAllPeak)
	}
	page := pageOf(t, s)
	for _, want := range []string{"12 forward operations; ", `<dt>operations</dt>`, "checked", "Adaptive window"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	var drawn []string
	for _, g := range s.Plans() {
		for _, p := range g.Plans {
			if !p.Strategy.Graphs {
				t.Errorf("the list offers %s, which needs a chain", p.Strategy.Name)
			}
			if p.Drawn {
				drawn = append(drawn, p.Strategy.Name)
			}
		}
	}
	if got, want := strings.Join(drawn, " "), "blocks dtr window lms"; got != want {
		t.Errorf("the curve draws %s; want %s", got, want)
	}
	for k := 1; k <= 12; k++ {
		if name := s.Shown.Index().StageName(k); name != fmt.Sprint("conv", k) {
			t.Errorf("layer %d is %s; want conv%d", k, name, k)
		}
	}
	pagetest.WellFormed(t, page)
}

func TestGraphStrategies(t *testing.T) {
	for _, name := range []string{"window", "lms", "keepall"} {
		s := pagetest.Graph(t, func(c *state.Choice) {
			c.Strategy = name
			c.Budget.Share = 100 * choice.Percent
		})
		if got := s.Shown.Solved; got.Strategy != name || !got.Verdict.Verified ||
			got.Trace.Makespan != got.KeepAll.StepTime {
			t.Errorf("%s within what keeps everything: %s, %v, verified %v; want the time of keeping everything, %v",
				name, got.Strategy, got.Trace.Makespan, got.Verdict.Verified, got.KeepAll.StepTime)
		}
	}
}

// TestGraphInLink checks that a link contains a graph from a file. A link without the graph, because it is too
// long, still names the kind of the network, and the page says what it shows instead.
func TestGraphInLink(t *testing.T) {
	s := pagetest.Graph(t, nil)
	l := permalink.Of(s, link.Link{})
	back, _, notes := permalink.Follow(l.String())
	if len(notes) > 0 || back.Profile == nil || len(back.Profile.Graph.Ops) != 24 || back.Kind != "graph" {
		t.Errorf("the link %q: kind %q, notes %q; want the graph of 24 operations, none", l.String(), back.Kind, notes)
	}
	if s.Update(state.Copied{}); s.View.Note != "Link copied." {
		t.Errorf("copying says %q; want no more than that it is copied", s.View.Note)
	}
	l.Profile = nil
	if got, want := l.String(), "v=1&kind=graph&m=60%25&s=window"; got != want {
		t.Errorf("without the graph the link is %q; want %q", got, want)
	}
	_, m, notes := permalink.Follow(l.String())
	if len(notes) != 1 || !strings.Contains(notes[0], "too long for a link") ||
		!strings.HasSuffix(notes[0], "The example is shown instead.") {
		t.Errorf("notes %q; want that the graph is too long, and what is shown", notes)
	}
	if !m.Choice.Equal(choice.Example()) {
		t.Errorf("the link shows %+v; want the example", m.Choice)
	}
}

// TestCutLinkSaysWhatIsShown checks that the page says if a link was cut, and what it shows instead.
func TestCutLinkSaysWhatIsShown(t *testing.T) {
	for _, text := range []string{"v=1&d=1.bQHcBT6njdWMks9rK1UUgM8", "v=1&m=60%25", "v=99&p=vgg16-b64"} {
		_, m, notes := permalink.Follow(text)
		if len(notes) == 0 || !strings.HasSuffix(notes[0], "The example is shown instead.") {
			t.Errorf("%s: notes %q; want what is shown instead", text, notes)
		}
		if !m.Choice.Equal(choice.Example()) {
			t.Errorf("%s: shows %+v; want the example", text, m.Choice)
		}
	}
	if _, _, notes := permalink.Follow("v=1&p=vgg16-b64&bw=x"); len(notes) != 1 ||
		strings.Contains(notes[0], "is shown instead") {
		t.Errorf("notes %q; want one, about the bandwidth only", notes)
	}
}

// TestFileOfTwoWays checks that a file with a chain and operations is shown in the way that was chosen, here as
// operations, and that the link then contains only the operations.
func TestFileOfTwoWays(t *testing.T) {
	data, err := os.ReadFile("../../profiles/formats/pipedream/testdata/branchy.graph.txt")
	if err != nil {
		t.Fatal(err)
	}
	c := choice.Default()
	c.Source, c.Graph, c.Strategy, c.Budget = state.Source{File: "branchy", Profile: data}, true, "lms",
		choice.Budget{Share: 90 * choice.Percent}
	s, err := jobs.First(context.Background(), new(serve.Local), c)
	if err != nil {
		t.Fatal(err)
	}
	if s.Network.Chain != nil || (&controls.Case{S: s}).Measures()[0].Name != "kind" || !s.Shown.Solved.Verdict.Verified ||
		s.Shown.Problem().Graph != s.Network.Profile.Graph {
		t.Errorf("chain %v, verified %v; want the operations, verified", s.Network.Chain != nil,
			s.Shown.Solved.Verdict.Verified)
	}
	if l := permalink.Of(s, link.Link{}); l.Kind != "graph" || l.Profile == nil || l.Profile.Chain != nil ||
		!s.Network.InLink() {
		t.Errorf("link of kind %q, in links %v; want graph, true, and the operations without the chain", l.Kind,
			s.Network.InLink())
	}
	pagetest.WellFormed(t, pageOf(t, s))
}

// TestGraphOrder checks that the page explains the two orders of operations if the strategy lets the user choose
// one, and that the answer names the bound that the method has proven.
func TestGraphOrder(t *testing.T) {
	s := pagetest.Graph(t, func(c *state.Choice) { c.Strategy = "graphsearch" })
	page := pageOf(t, s)
	for _, want := range []string{"any order", "order kept", "the first runs come in the order in which they stand",
		"only data decides"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if got := (&Results{S: s}).ClaimTitle(); s.Shown.Solved.Claim.Bound <= 0 ||
		!strings.Contains(got, "among schedules that recompute in any order and do not offload") {
		t.Errorf("of a bound of %v the page says %q; want it, and among which schedules",
			s.Shown.Solved.Claim.Bound, got)
	}
	pagetest.WellFormed(t, page)
}
