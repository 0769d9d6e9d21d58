//go:build !js

package plans

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	_ "memtide/wasm/serve/step"
	"memtide/web/jobs"
	"memtide/web/state"
	"memtide/web/tradeoff"
	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
)

// TestPlanTable checks that the folded table has the chosen plan, the plans that the curve draws, and the best
// known plan of each kind. The unfolded table has every strategy that applies once, with the sample of its line
// as a switch.
func TestPlanTable(t *testing.T) {
	s := pagetest.First(t)
	c := &Plans{S: s}
	c.Compute()
	folded := map[string]bool{}
	for _, g := range c.Parts {
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
	if folded["revolve"] || !strings.HasSuffix(c.More, " methods of the literature") {
		t.Errorf("folded it has revolve: %v, and %q; want it among the methods of the literature", folded["revolve"],
			c.More)
	}
	s.Update(state.ToggleLineList)
	c.Compute()
	seen := map[string]int{}
	for _, g := range c.Parts {
		for _, o := range g.Rows {
			seen[o.Plan.Strategy.Name]++
			if o.Toggle != (o.Plan.Strategy.Name != "keepall") || o.Toggle == (string(o.Sample) == "") ||
				strings.Contains(string(o.HTML), "<svg") {
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
	if n := strings.Count(page, `role="radio"`); n != len(seen) || strings.Count(page, `aria-checked="true"`) != 1 ||
		!regexp.MustCompile(`aria-checked="true" data-arg="rotor"[^>]*tabindex="0"`).MatchString(page) {
		t.Errorf("%d plans in the page; want %d, rotor checked and the tab stop", n, len(seen))
	}
}

// TestPlanResults checks the text about a plan: its time and its cost, or a different text for each reason why it
// has none.
func TestPlanResults(t *testing.T) {
	s := pagetest.First(t)
	s.Curve = &tradeoff.Curve{KeepAll: proto.Reference{StepTime: 100 * time.Millisecond, Peak: 5 * engine.GiB}}
	for _, c := range []struct {
		name string
		plan state.PlanRow
		want string
	}{
		{"a schedule", state.PlanRow{Strategy: engine.Lookup("rotor"),
			Found: tradeoff.Found{StepTime: 108 * time.Millisecond}}, "108 ms +8 %"},
		{"of less memory", state.PlanRow{Strategy: engine.Lookup("rotor"),
			Found: tradeoff.Found{StepTime: 108 * time.Millisecond, AtMost: true}}, "≤ 108 ms +8 %"},
		{"too much", state.PlanRow{Strategy: engine.Lookup("rotor"),
			Found: tradeoff.Found{Failure: &proto.Failure{Kind: proto.Infeasible, Smallest: 102 * engine.GiB}}},
			"does not fit 102 GiB"},
		{"too much, nobody knows how much",
			state.PlanRow{Strategy: engine.Lookup("rotor"),
				Found: tradeoff.Found{Failure: &proto.Failure{Kind: proto.Infeasible}}}, "does not fit"},
		{"not for this network", state.PlanRow{Strategy: engine.Lookup("rotor"),
			Found: tradeoff.Found{Failure: proto.Fail(proto.Unsupported, "odd")}}, "does not apply"},
		{"out of time", state.PlanRow{Strategy: engine.Lookup("rotor"),
			Found: tradeoff.Found{Failure: proto.Fail(proto.Deadline, "stopped")}}, "out of time"},
		{"broken", state.PlanRow{Strategy: engine.Lookup("rotor"),
			Found: tradeoff.Found{Failure: proto.Fail(proto.Crash, "panic")}}, "failed"},
		{"not known", state.PlanRow{Strategy: engine.Lookup("rotor")}, "–"},
	} {
		time, more := Result(s, &c.plan)
		if got := strings.TrimSpace(time + " " + more); got != c.want {
			t.Errorf("%s: %q; want %q", c.name, got, c.want)
		}
	}
}

// TestPlanTooLong checks that a strategy that tries everything says how many layers it can handle.
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

// beside gives a page a complete curve, and the answer of the engine about the policies of frameworks.
func beside(t *testing.T, s *state.State) {
	t.Helper()
	s.Update(state.Unhover{}) // starts the curve
	s.Curve.ID, s.Curve.Done = 0, s.Curve.Total
	for _, e := range s.Update(state.Unhover{}) {
		if q, ok := e.(state.AskStep); ok {
			s.Update(jobs.Step(t.Context(), new(serve.Local), q, nil))
		}
	}
	if len(s.Policies()) == 0 {
		t.Fatalf("no policies are known of %+v on %s", s.Choice, s.Choice.Device)
	}
}

// TestPoliciesAmongPlans checks that policies are listed among the plans by step time, and below them plans that are
// not found yet, and those that do not fit. Each has the names that frameworks give it, and opens the whole step. A part of the folded table
// has seven rows, among them the best plan of each kind, and the table says how many more rows there are.
func TestPoliciesAmongPlans(t *testing.T) {
	s := pagetest.Preset(t, "llama3.2-1b-step-4096tok-lora.16-on-h100-b2")
	pagetest.Do(t, s, state.SetStrategy{Name: "rotor"}, state.SetGPU{ID: "rtx-4090"})
	keepall := func() string {
		for _, g := range s.Plans() {
			for _, p := range g.Plans {
				if p.Strategy.Class == 0 {
					return string((&Plans{S: s}).row(p).HTML)
				}
			}
		}
		return "missing"
	}
	awaited := keepall()
	beside(t, s)
	if known := keepall(); !strings.Contains(awaited, "…") || strings.Contains(known, "…") {
		t.Errorf("keeping everything is %s and, with the policies, %s; want what it needs only when it was played",
			awaited, known)
	}
	c := &Plans{S: s}
	c.Compute()
	groups := c.Parts
	var titles []string
	for _, g := range groups {
		titles = append(titles, g.Title)
	}
	const parts = "Fits or should fit 24 GiB, May not fit, No plan yet, Does not fit"
	if got := strings.Join(titles, ", "); got != parts || c.Title() != "Plans and policies" {
		t.Fatalf("%q in parts %s; want plans and policies in %s", c.Title(), got, parts)
	}
	policies, hidden := 0, 0
	for _, g := range groups {
		last := time.Duration(0)
		for _, o := range g.Rows {
			if o.step > 0 && (o.step < last || last < 0) {
				t.Errorf("%s: %+v stands below %v", g.Title, o, last)
			}
			if last = o.step; o.step == 0 {
				last = -1
			}
			if o.Policy {
				policies++
				class := map[bool]string{false: `class="fits"`, true: `class="fits-not"`}[o.unfit || o.unsure]
				if html := string(o.HTML); !strings.Contains(html, class) || !strings.Contains(html, "<small>") ||
					o.unfit != (g.Title == "Does not fit") || o.unsure != (g.Title == "May not fit") {
					t.Errorf("%s: the row is %s; want its circle, %s, and what frameworks call it", g.Title, html,
						class)
				}
			}
		}
		shown := c.Folded(g)
		hidden += len(g.Rows) - len(shown)
		if len(shown) > len(g.Rows) || len(shown) < min(mostRows, len(g.Rows)) {
			t.Errorf("%s: %d of %d rows are shown; want seven", g.Title, len(shown), len(g.Rows))
		}
	}
	if policies != len(s.Policies()) || !strings.HasPrefix(c.More, fmt.Sprintf("%d more and ", hidden)) {
		t.Errorf("%d policies of %d, %d rows hidden, and %q", policies, len(s.Policies()), hidden, c.More)
	}
	page := pagetest.HTML(t, c)
	pagetest.WellFormed(t, page)
	for _, want := range []string{"memtide: recompute + offload<", "memtide: recompute<", "memtide: offload<",
		`data-do="policy"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the table has no %q", want)
		}
	}
	s.Update(input.Command{Do: "policy", Index: s.Policies()[0].Index}.Message(s))
	if s.Choice.Policy["ckpt"] != "full" {
		t.Errorf("a click on a policy chooses %v; want full checkpointing", s.Choice.Policy)
	}
}

// TestPlanOfExpertsMayNotFit checks that the row of a plan has what it needs if experts are busy unevenly, as its verdict
// has, that it may not fit where that is more than the card has, and that the curve says that it is about the other case.
func TestPlanOfExpertsMayNotFit(t *testing.T) {
	for ref, want := range map[string]string{"qwen3-30b-a3b-step-256tok-lora.8-base.nf4-b1": "May not fit",
		"qwen3-30b-a3b-step-256tok-lora.8-gpus.2-ep.2-imbalance.10-b1": "Fits"} {
		s := pagetest.Preset(t, ref)
		pagetest.Do(t, s, state.SetStrategy{Name: "layerwise"})
		peak := s.Shown.Solved.Trace.Peak
		pagetest.Do(t, s, state.SetGPU{ID: fmt.Sprintf("%dmib", s.Choice.Reserved(peak)/engine.MiB+100)})
		most := s.Choice.Reserved(s.Shown.Solved.Trace.Peak)
		if want != "Fits" {
			most = (most-s.Choice.Context())*100/79 + s.Choice.Context()
		}
		if got := (&Tradeoff{S: s}).Better(); strings.Contains(got, "evenly busy") == (want == "Fits") {
			t.Errorf("%s: the curve is of %q; want it to say whether experts are evenly busy there", ref, got)
		}
		c := &Plans{S: s}
		c.Compute()
		title, text := "", ""
		for _, g := range c.Parts {
			for _, o := range g.Rows {
				if o.Checked == "true" {
					title, text = g.Title, string(o.HTML)
				}
			}
		}
		if !strings.HasPrefix(title, want) || !strings.Contains(text, gib(most)) {
			t.Errorf("%s: the row is below %q: %s; want %q and %s", ref, title, text, want, gib(most))
		}
	}
}

// TestKeepingAllAsPlayed checks that the row of keeping everything is among those that its range puts it: the allocator
// may hold more than the card has, though what is allocated is within the budget.
func TestKeepingAllAsPlayed(t *testing.T) {
	for low, want := range map[engine.Bytes]string{19: "Fits 24 GiB", 20: "Fits or should fit 24 GiB", 22: "May not fit",
		24: "Does not fit"} {
		s := pagetest.Preset(t, "llama3.2-1b-step-4096tok-lora.8-on-rtx-4090-b1")
		pagetest.Do(t, s, state.SetGPU{ID: "rtx-4090"})
		s.View.Frame.Embed = true // which asks for the range at once
		for _, e := range s.Update(state.ToggleMore{}) {
			if e, ok := e.(state.AskStep); ok {
				s.Update(state.Policed{ID: e.ID, Stepped: &proto.Stepped{Low: low * engine.GiB,
					High: (low + 2) * engine.GiB, Context: engine.GiB}})
			}
		}
		c := &Plans{S: s}
		c.Compute()
		for _, g := range c.Parts {
			for _, o := range g.Rows {
				if o.Checked == "true" && (g.Title != want || (o.Known == "no") != (want == "Does not fit")) {
					t.Errorf("from %d GiB on without CUDA: %q, known %q; want %q", low, g.Title, o.Known, want)
				}
			}
		}
		if len(c.Parts) == 0 || !s.Choice.KeepsAll() {
			t.Fatalf("%d parts, %s; want those of keeping everything", len(c.Parts), s.Choice.Strategy)
		}
	}
}

// TestFoldedWhenAllFits checks that the folded table has one row if everything fits, and says how many more there are.
func TestFoldedWhenAllFits(t *testing.T) {
	c := &Plans{S: pagetest.Preset(t, "resnet50-b32")}
	page := pagetest.HTML(t, c)
	if got := strings.Count(page, `role="radio"`); got != 1 || strings.Count(page, `class="plan-group"`) != 1 ||
		!strings.Contains(page, `data-arg="keepall"`) || !strings.Contains(c.More, " more and ") {
		t.Errorf("%d rows and %q; want that of keeping everything, and how many more there are", got, c.More)
	}
	c.S.Update(state.ToggleLineList)
	if got := strings.Count(pagetest.HTML(t, c), `role="radio"`); got < 10 {
		t.Errorf("unfolded it has %d rows; want all plans", got)
	}
}

// TestFoldedRows checks that the folded table keeps the fastest plan of each kind and the plans that are drawn,
// and if there is room policies and then other plans, in the order of their step times.
func TestFoldedRows(t *testing.T) {
	row := func(name string, step int, policy, pinned bool) *PlanRow {
		o := &PlanRow{Known: name, Policy: policy, pinned: pinned, step: time.Duration(step)}
		if !policy {
			o.Plan.Strategy = engine.Lookup(name)
		}
		return o
	}
	rows := []*PlanRow{row("window", 1, false, false), row("vdnn", 2, false, false),
		row("offloadsearch", 3, false, false), row("p1", 4, true, false),
		row("rotor", 5, false, false), row("sequential", 6, false, true), row("p2", 7, true, false),
		row("p3", 8, true, false), row("p4", 9, true, false), row("p5", 10, true, false)}
	pinFastest(rows)
	var got []string
	for _, o := range (&Plans{S: state.New()}).Folded(PlanRows{Rows: rows}) {
		got = append(got, o.Known)
	}
	if want := "window p1 rotor sequential p2 p3 p4"; strings.Join(got, " ") != want {
		t.Errorf("folded it has %q; want %q", strings.Join(got, " "), want)
	}
}
