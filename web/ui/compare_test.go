//go:build !js

package ui

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/web/choice"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/link"
	"memtide/web/lookup"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/mount"
	"memtide/web/ui/names"
	"memtide/web/ui/pagetest"
	"memtide/web/ui/timeline"
)

func TestComparePanel(t *testing.T) {
	s := pagetest.First(t)
	if page := pageOf(t, s); !strings.Contains(page, `<section class="compare" aria-label="Comparison" hidden`) {
		t.Error("without a comparison its panel is not hidden")
	}
	pagetest.Do(t, s, state.ToggleCompare{})
	c := Compare{S: s}
	if got := c.Sentence(); !strings.HasPrefix(got, "B takes ") || !strings.Contains(got, "computing again ") {
		t.Errorf("it opens with %q; want another B than A", got)
	}
	pagetest.Do(t, s, state.SetStrategy{Name: "greedy"}, state.SetBudget{Share: 90 * choice.Percent, Settled: true})
	d, ok := s.Delta()
	if !ok {
		t.Fatalf("there is no delta: %s", c.missing())
	}
	page := pageOf(t, s)
	pagetest.WellFormed(t, page)
	for _, want := range []string{
		`data-testid="side-a" aria-pressed="false"`, `data-testid="side-b" aria-pressed="true"`,
		"Recompute · 2.58 GiB", "Controls and numbers: B", "computing again <b>−", `class="delta-step"`, c.Say(),
		c.Sub(), c.Sentence(),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if got := c.Sentence(); !strings.Contains(got, "computing again ") || !strings.Contains(got, " less") ||
		!strings.HasPrefix(got, "B takes ") || !strings.Contains(got, "Its peak is ") {
		t.Errorf("the sentence is %q; want it to say what B takes, does not recompute, and its peak", got)
	}
	if got, want := c.Say()+" "+c.Sub(),
		"B is 12 ms faster (170 ms, not 182 ms). It computes 9 fewer blocks again and sends 4 more blocks to the host. Its peak is 1.28 GiB higher. Both fit. Host memory: A none, B 680 MiB."; got != want {
		t.Errorf("the difference is %q; want %q", got, want)
	}
	// The numbers of the row must add up as they are printed, digit for digit.
	step, parts := d.Rounded()
	u, sum := names.UnitOf(&d), 0.0
	for _, p := range parts {
		sum += pagetest.Number(t, strings.TrimSuffix(u.Signed(p), " "+u.Name))
	}
	if want := pagetest.Number(t, strings.TrimSuffix(u.Signed(step), " "+u.Name)); sum-want > 1e-9 || want-sum > 1e-9 {
		t.Errorf("%s adds up to %v; want %v", c.Delta(), sum, want)
	}
}

// TestCompareFits checks that a side whose budget is too small is named with the least that it needs, and that a button
// gives it that, whichever side the controls change.
func TestCompareFits(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.ToggleCompare{})
	c := Compare{S: s}
	if got := c.Fit(); got != "" {
		t.Errorf("both have a schedule, and a button says %q", got)
	}
	least := &state.OverBudget{Smallest: 3 * engine.GiB, Offer: 3 * engine.GiB}
	s.OverBudget = least
	if got := c.missing() + " " + c.Fit(); got != "B has no schedule: it needs at least 3 GiB. Set 3 GiB for B" {
		t.Errorf("without a schedule of B: %q", got)
	}
	s.OverBudget, s.Compare.Other.OverBudget = nil, least
	if got := c.Fit(); got != "Set 3 GiB for A" {
		t.Errorf("without a schedule of A the button says %q", got)
	}
	s.Compare.Other.OverBudget = &state.OverBudget{Smallest: 17 * engine.GiB, Offer: 17 * engine.GiB}
	if got := c.Fit(); got != "" {
		t.Errorf("A needs more than its V100 has, and a button says %q", got)
	}
}

func TestCompareTable(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.ToggleCompare{}, state.SetStrategy{Name: "greedy"},
		state.SetBudget{Share: 90 * choice.Percent, Settled: true}, state.ToggleTable)
	c := Compare{S: s}
	table := string(c.Table())
	for _, want := range []string{"<th scope=\"col\">A</th><th scope=\"col\">B</th>",
		"Recompute</td><td>Greedy offload", "step time (ms)", "computed again</td><td>"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table does not contain %q:\n%s", want, table)
		}
	}
	if len(table) > 15<<10 {
		t.Errorf("the table is %d bytes long; want at most 15 KiB", len(table))
	}
}

// TestCompareTitle checks that the title of a comparison says which side is faster.
func TestCompareTitle(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.ToggleCompare{})
	a, b, _ := s.Sides()
	by := format.Duration(b.Solved.Trace.Makespan - a.Solved.Trace.Makespan)
	if got, want := answer.Title(s), s.Network.Profile.Name+": B is "+by+" slower than A"; got != want {
		t.Errorf("the title is %q; want %q", got, want)
	}
	s.Compare.Other.Shown = s.Shown
	if got, want := answer.Title(s), s.Network.Profile.Name; got != want {
		t.Errorf("the title of two equal schedules is %q; want %q", got, want)
	}
}

// TestCompareLinkRoundTrip checks that the link of a comparison opens both sides as they were, whatever their
// choices are.
func TestCompareLinkRoundTrip(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.ToggleCompare{})
	r := rand.New(rand.NewPCG(6, 2))
	for range 400 {
		a, b := randomChoice(r), randomChoice(r)
		if r.IntN(2) == 0 { // mostly alike
			was := b
			b = a
			switch r.IntN(4) {
			case 0:
				b.Budget = was.Budget
			case 1:
				b.Strategy, b.Args = was.Strategy, was.Args
			case 2:
				b.Device, b.ToDev, b.ToHost, b.Duplex = was.Device, was.ToDev, was.ToHost, was.Duplex
			case 3:
				b.Duplex = was.Duplex
			}
		}
		s.Compare.OnA, s.Choice, s.Compare.Other.Choice = true, a, b
		l := permalink.Of(s, link.Link{})
		text := l.String()
		_, m, notes := permalink.Follow(text)
		if len(notes) > 0 || m.B == nil {
			t.Fatalf("%s: notes %q, B %v; want none, and a B", text, notes, m.B)
		}
		m.Choice.Unplanned, m.B.Unplanned = a.Unplanned, b.Unplanned
		if !reflect.DeepEqual(m.Choice, a) || !reflect.DeepEqual(*m.B, b) {
			t.Fatalf("%s:\nA %+v\nwant %+v\nB %+v\nwant %+v", text, m.Choice, a, *m.B, b)
		}
	}
}

func randomChoice(r *rand.Rand) state.Choice {
	c := choice.Default()
	c.Source.Preset = []string{"resnet101-b32", "vgg16-b64", "resnet101-b64"}[r.IntN(3)]
	if c.Budget = (choice.Budget{Share: choice.Share(1+r.IntN(100)) * choice.Percent}); r.IntN(2) == 0 {
		c.Budget = choice.Budget{Bytes: 1 + engine.Bytes(r.Int64N(1<<35))}
	}
	if all := engine.Strategies(); r.IntN(2) == 0 {
		st := all[r.IntN(len(all))]
		c.Strategy = st.Name
		for _, p := range st.Params {
			if len(p.Choices) > 0 {
				c.Args = choice.WithArg(st.Params, c.Args, p.Name, p.Choices[r.IntN(len(p.Choices))])
			}
		}
	}
	if all := card.All(); r.IntN(2) == 0 {
		d := all[r.IntN(len(all))]
		c.Device, c.ToHost, c.ToDev, c.Duplex = d.ID, d.ToHost, d.ToDev, d.Duplex
	} else if r.IntN(2) == 0 {
		c.Device, c.ToHost, c.ToDev = "", engine.Rate(1+r.Int64N(1e12)), engine.Rate(1+r.Int64N(1e12))
	}
	c.Duplex, c.Transfers = engine.Duplex(r.IntN(2)), engine.Transfers(r.IntN(2))
	return c
}

// TestCompareLinks checks that the link of a comparison says how B differs from A, so that Back can undo the
// comparison.
func TestCompareLinks(t *testing.T) {
	s := pagetest.First(t)
	before := permalink.Of(s, link.Link{})
	pagetest.Do(t, s, state.ToggleCompare{})
	l := permalink.Of(s, link.Link{})
	if got, want := l.String(), before.String()+"&b.s=layerwise"; got != want {
		t.Errorf("the link is %s; want %s", got, want)
	}
	pagetest.Do(t, s, state.SetStrategy{Name: "rotor"})
	l = permalink.Of(s, link.Link{})
	if got, want := l.String(), before.String()+"&b.s=rotor"; got != want {
		t.Errorf("a copy: the link is %s; want %s", got, want)
	}
	pagetest.Do(t, s, state.SetBudget{Bytes: 2 * engine.GiB, Settled: true})
	l = permalink.Of(s, link.Link{})
	if got, want := l.String(), before.String()+"&b.m=2GiB&b.s=rotor"; got != want {
		t.Errorf("another budget: the link is %s; want %s", got, want)
	}
	pagetest.Do(t, s, state.SwapSides{})
	l = permalink.Of(s, link.Link{})
	if got, want := l.String(), "v=1&p=resnet101-b32&m=2GiB&b.m=60%25"; !strings.HasSuffix(got, "&b.m=60%25") ||
		!strings.Contains(got, "&m=2GiB") {
		t.Errorf("swapped: the link is %s; want something like %s", got, want)
	}
}

// TestCompareLinkTooLong checks that two profiles that are too long for one link give a link with A alone, and a
// note that says so.
func TestCompareLinkTooLong(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.ToggleCompare{})
	r := rand.New(rand.NewPCG(6, 3))
	for _, side := range []bool{true, false} {
		pagetest.Do(t, s, state.EditSide{A: side}, state.PickFile{Name: "long.csv", Bytes: longCSV(r, 1100)})
	}
	a, b := s.AB()
	if na, nb := a.Network, b.Network; na == nil || nb == nil || na.Profile.Chain.Len() < 1100 || na == nb {
		t.Fatalf("networks %v, %v; want two long ones", na, nb)
	}
	l := permalink.Of(s, link.Link{})
	if text := l.String(); len(text) > permalink.MaxBoth || l.B.From != choice.FromFile || l.Profile == nil {
		t.Errorf("the link has %d characters, B from %q; want A alone in at most %d", len(text), l.B.From,
			permalink.MaxBoth)
	}
	c := Compare{S: s}
	if got := c.Note(); !strings.Contains(got, "too long for a link") {
		t.Errorf("the panel says %q; want that the link cannot hold both", got)
	}
}

func longCSV(r *rand.Rand, n int) []byte {
	var b strings.Builder
	b.WriteString("name,forward_s,backward_s,output_bytes,saved_bytes\n")
	for range n {
		word := make([]byte, 8)
		for i := range word {
			word[i] = byte('a' + r.IntN(26))
		}
		out := 1 + r.IntN(1e9)
		b.WriteString(string(word) + "," + decimal(r) + "," + decimal(r) + "," + digits(out) + "," +
			digits(out+r.IntN(1e9)) + "\n")
	}
	return []byte(b.String())
}

func decimal(r *rand.Rand) string { return "0." + digits(100000000+r.IntN(899999999)) }

func digits(n int) string {
	text := ""
	for ; n > 0; n /= 10 {
		text = string(rune('0'+n%10)) + text
	}
	return text
}

// TestCompareViews checks that the layer under the pointer on one side is found on the other.
func TestCompareViews(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.ToggleCompare{}, state.SetBudget{Share: 80 * choice.Percent, Settled: true})
	first, second := mount.Mount{}, mount.Mount{Second: true}
	if !second.Controlled(s) || first.Controlled(s) {
		t.Error("the controls are not on B")
	}
	a, b := first.Beside(s), second.Beside(s)
	if a.Model != second.Shown(s).Index() || b.Model != first.Shown(s).Index() || a.Letter != "A" || a.Other != "B" ||
		b.Letter != "B" {
		t.Errorf("beside A stands %+v, beside B %+v; want the other side each", a, b)
	}
	if a.Budget != s.Budget() || b.Budget == a.Budget {
		t.Errorf("the budget beside A is %d, beside B %d; want B's %d and A's", a.Budget, b.Budget, s.Budget())
	}
	if got := second.Across(s, lookup.Target{Kind: lookup.OnStage,
		Index: 7}); got != (lookup.Target{Kind: lookup.OnStage, Index: 7}) {
		t.Errorf("layer 7 stands for %+v on the other side; want layer 7", got)
	}
}

// TestCompareHosts checks that every picture has exactly one host for each side.
func TestCompareHosts(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.ToggleCompare{})
	page := pageOf(t, s)
	for name, m := range mount.ByName {
		if !m.Second || m.Picture == draw.PassLanes { // of a pipeline, see TestBeside
			continue
		}
		for _, id := range []string{name, strings.TrimSuffix(name, "-b")} {
			if n := strings.Count(page, `data-testid="`+id+`"`); n != 1 {
				t.Errorf("the host %s stands %d times in the page; want once", id, n)
			}
		}
		if mount.ByName[strings.TrimSuffix(name, "-b")] != m.Other() {
			t.Errorf("%s shows picture %d; want the same as A", name, m.Picture)
		}
	}
	pagetest.Do(t, s, state.SetBudget{Bytes: engine.MiB, Settled: true}, state.EditSide{A: true})
	pictures := timeline.Pictures{S: s}
	if !pictures.Absent(true) || pictures.Absent(false) {
		t.Errorf("B has no schedule: absent %v, A %v; want true, false", pictures.Absent(true), pictures.Absent(false))
	}
	if got, want := (&Compare{S: s}).Sentence(),
		"B has no schedule: it needs at least "; !strings.HasPrefix(got, want) {
		t.Errorf("it says %q; want %q and how much", got, want)
	}
}
