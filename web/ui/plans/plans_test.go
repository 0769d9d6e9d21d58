//go:build !js

package plans

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/state"
	"memtide/web/tradeoff"
	"memtide/web/ui/pagetest"
)

// The folded table has the chosen plan, what is drawn and the best known of each kind;
// unfolded it has every strategy that applies once, with the sample of its line as a
// switch.
func TestPlanTable(t *testing.T) {
	s := pagetest.First(t)
	c := &Plans{S: s}
	folded := map[string]bool{}
	for _, g := range c.Groups() {
		for _, o := range g.Rows {
			name := o.Plan.Strategy.Name
			folded[name] = true
			if o.Toggle || strings.Contains(string(o.HTML), "<svg") != o.Plan.Drawn || o.Doc == "" {
				t.Errorf("%s is %+v; want a sample only if its line is drawn, and what it does", name, o)
			}
		}
	}
	for _, name := range []string{"rotor", "dynprog", "pofo", "sequential", "vdnn", "keepall"} {
		if !folded[name] {
			t.Errorf("the folded table has no %s", name)
		}
	}
	if folded["revolve"] || !strings.HasSuffix(c.MoreText(), " methods of the literature") {
		t.Errorf("folded it has revolve: %v, and %q; want it among the methods of the literature", folded["revolve"], c.MoreText())
	}
	s.Update(state.ToggleLineList{})
	seen := map[string]int{}
	for _, g := range c.Groups() {
		for _, o := range g.Rows {
			seen[o.Plan.Strategy.Name]++
			if o.Toggle != (o.Plan.Strategy.Name != "keepall") || o.Toggle == (string(o.Sample) == "") || strings.Contains(string(o.HTML), "<svg") {
				t.Errorf("%s is %+v; want its sample as a switch", o.Plan.Strategy.Name, o)
			}
		}
	}
	for _, st := range s.CurveStrategies() {
		if seen[st.Name] != 1 {
			t.Errorf("%s is in the unfolded table %d times; want once", st.Name, seen[st.Name])
		}
	}
	page := pagetest.HTML(t, &Plans{S: s})
	pagetest.WellFormed(t, page)
	if n := strings.Count(page, `role="radio"`); n != len(seen) || strings.Count(page, `aria-checked="true"`) != 1 || !regexp.MustCompile(`aria-checked="true" data-arg="rotor"[^>]*tabindex="0"`).MatchString(page) {
		t.Errorf("%d plans in the page; want %d, rotor checked and the tab stop", n, len(seen))
	}
}

// What is read of a plan: its time and what it costs, or in other words for each why
// it has none.
func TestPlanResults(t *testing.T) {
	s := pagetest.First(t)
	s.Curve = &tradeoff.Curve{KeepAll: proto.Reference{StepTime: 100 * time.Millisecond, Peak: 5 * engine.GiB}}
	for _, c := range []struct {
		name string
		plan state.Plan
		want string
	}{
		{"a schedule", state.Plan{Strategy: engine.Lookup("rotor"), Found: tradeoff.Found{StepTime: 108 * time.Millisecond}}, "108 ms +8 %"},
		{"of less memory", state.Plan{Strategy: engine.Lookup("rotor"), Found: tradeoff.Found{StepTime: 108 * time.Millisecond, AtMost: true}}, "≤ 108 ms +8 %"},
		{"too much", state.Plan{Strategy: engine.Lookup("rotor"), Found: tradeoff.Found{Failure: &proto.Failure{Kind: proto.Infeasible, Smallest: 102 * engine.GiB}}}, "does not fit 102 GiB"},
		{"too much, nobody knows how much", state.Plan{Strategy: engine.Lookup("rotor"), Found: tradeoff.Found{Failure: &proto.Failure{Kind: proto.Infeasible}}}, "does not fit"},
		{"not for this network", state.Plan{Strategy: engine.Lookup("rotor"), Found: tradeoff.Found{Failure: proto.Fail(proto.Unsupported, "odd")}}, "does not apply"},
		{"out of time", state.Plan{Strategy: engine.Lookup("rotor"), Found: tradeoff.Found{Failure: proto.Fail(proto.Deadline, "stopped")}}, "out of time"},
		{"broken", state.Plan{Strategy: engine.Lookup("rotor"), Found: tradeoff.Found{Failure: proto.Fail(proto.Crash, "panic")}}, "failed"},
		{"not known", state.Plan{Strategy: engine.Lookup("rotor")}, "–"},
	} {
		time, more := Result(s, &c.plan)
		if got := strings.TrimSpace(time + " " + more); got != c.want {
			t.Errorf("%s: %q; want %q", c.name, got, c.want)
		}
	}
}

// A strategy that tries everything says how many layers it can do.
func TestPlanTooLong(t *testing.T) {
	s := pagetest.First(t)
	problem := s.Shown.Problem()
	for _, name := range []string{"offloadexact", "nonpersistent"} {
		st := engine.Lookup(name)
		_, err := st.Solve(problem, nil, nil)
		if !errors.Is(err, engine.ErrUnsupported) {
			t.Fatalf("%s: %v; want that it does not apply", name, err)
		}
		if got := Failure(proto.Fail(proto.Unsupported, "%v", err)); got != "needs ≤ 12 blocks" {
			t.Errorf("%s: %q of %v; want needs ≤ 12 blocks", name, got, err)
		}
	}
}
