//go:build !js

package export

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/draw"
	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/state"
	"memtide/web/tell"
	"memtide/web/tradeoff"
	"memtide/web/ui/answer"
	"memtide/web/ui/pagetest"
)

// compared returns a page that compares A, with its first strategy, and B, with greedy and more memory.
func compared(t *testing.T) *state.State {
	t.Helper()
	s := pagetest.First(t)
	pagetest.Do(t, s, state.ToggleCompare{}, state.SetStrategy{Name: "greedy"},
		state.SetBudget{Share: 90 * choice.Percent, Settled: true})
	if a, b, ok := s.Sides(); !ok || a == nil || b == nil {
		t.Fatal("the two sides have no schedules")
	}
	return s
}

// TestExportBoth checks that the JSON of a comparison contains both sides and the changes, which add up,
// whichever side the controls are on.
func TestExportBoth(t *testing.T) {
	s := compared(t)
	for _, onA := range []bool{false, true} {
		pagetest.Do(t, s, state.EditSide{A: onA})
		a, b, _ := s.Sides()
		f, ok := Of(s, "json", "https://example.org/#v=1&p=resnet101-b32&b.s=greedy")
		if got, want := f.Name, "resnet-101-batch-32-rotor-2.58-gib-vs-greedy-3.87-gib.json"; !ok || got != want {
			t.Errorf("the file is named %s, want %s", got, want)
		}
		if got, _ := link.In(f.Bytes); got != "v=1&p=resnet101-b32&b.s=greedy" {
			t.Errorf("its link is %q", got)
		}
		var e document
		if err := json.Unmarshal(f.Bytes, &e); err != nil || e.B == nil || e.Delta == nil {
			t.Fatalf("the file has B %v and a delta %v (%v); want both", e.B != nil, e.Delta, err)
		}
		for _, c := range []struct {
			side string
			got  *schedule
			want *known.Picture
		}{{"A", &e.schedule, a}, {"B", e.B, b}} {
			tr := c.want.Solved.Trace
			if c.got.Side != c.side || c.got.Strategy != c.want.Choice.Strategy ||
				c.got.StepNs != int64(tr.Makespan) || c.got.PeakBytes != int64(tr.Peak) ||
				c.got.BudgetBytes != int64(c.want.Solved.Budget) ||
				len(c.got.Operations) != c.want.Index().NumRows() || len(c.got.Layers) == 0 {
				t.Errorf("%s is %s %s of %d ns, %d bytes, %d operations, %d layers; want %s of %d, %d, %d", c.side,
					c.got.Side, c.got.Strategy, c.got.StepNs,
					c.got.PeakBytes, len(c.got.Operations), len(c.got.Layers), c.want.Choice.Strategy, tr.Makespan,
					tr.Peak, c.want.Index().NumRows())
			}
		}
		sum := int64(0)
		for _, p := range e.Delta.Parts {
			if sum += p.ChangeNs; p.ChangeNs != p.BNs-p.ANs {
				t.Errorf("%s changes by %d from %d to %d", p.Name, p.ChangeNs, p.ANs, p.BNs)
			}
		}
		if sum != e.Delta.StepNs || sum != e.B.StepNs-e.StepNs || sum == 0 ||
			e.Delta.PeakBytes != e.B.PeakBytes-e.PeakBytes {
			t.Errorf("the parts add up to %d, the step changes by %d from %d to %d, the peak by %d", sum,
				e.Delta.StepNs, e.StepNs, e.B.StepNs, e.Delta.PeakBytes)
		}
	}
}

// TestExportTables checks that the rows in tables of a comparison have a column with their side, which tables of
// one schedule do not have, and that the last line is one cell with the link.
func TestExportTables(t *testing.T) {
	const address = "https://example.org/#v=1&p=resnet101-b32&c=rotor,greedy"
	one, both := pagetest.First(t), compared(t)
	for kind, head := range map[string]string{"operations.csv": "start (ms),end (ms),lane",
		"layers.csv": "layer,name,decision", "curve.csv": "strategy,budget (bytes),"} {
		for _, s := range []*state.State{one, both} {
			f, _ := Of(s, kind, address)
			r := csv.NewReader(strings.NewReader(string(f.Bytes)))
			r.Comment = '#'
			rows, err := r.ReadAll()
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			wantHead, sides := head, map[string]int{}
			if s == both {
				wantHead = "side," + head
			}
			for _, row := range rows[1:] {
				sides[row[0]]++
			}
			if !strings.HasPrefix(string(f.Bytes), wantHead) {
				t.Errorf("%s begins with %.60q, want %q", kind, f.Bytes, wantHead)
			}
			if s == both && kind != "curve.csv" && (len(sides) != 2 || sides["A"] == 0 || sides["B"] == 0) {
				t.Errorf("%s has the sides %v, want A and B", kind, sides)
			}
			r = csv.NewReader(strings.NewReader(string(f.Bytes)))
			r.FieldsPerRecord = -1
			rows, err = r.ReadAll()
			if last := rows[len(rows)-1]; err != nil || len(last) != 1 ||
				last[0] != "# memtide: "+strings.ReplaceAll(address, ",", "%2C") {
				t.Errorf("%s ends in %q (%v), want the link in one cell", kind, last, err)
			}
			if !strings.HasSuffix(f.Name, "."+kind) || strings.Contains(f.Name, "-vs-") != (s == both) {
				t.Errorf("%s is saved as %s", kind, f.Name)
			}
		}
	}
	table := tableFile(both, "layers.csv", address,
		[]tableSide{layerCells(SideOf(both), both.Visible().Index().LayerTable(tell.LayerNumber, false, ""))})
	if want := "resnet-101-batch-32-greedy-3.87-gib.layers.csv"; table.Name != want ||
		strings.Contains(string(table.Bytes), "\nA,") {
		t.Errorf("the table of B is saved as %s, want %s and rows of B only", table.Name, want)
	}
}

// TestExportCurve checks that a side of a comparison has the points of the curve only if the curve is about its
// network and link.
func TestExportCurve(t *testing.T) {
	s := compared(t)
	a, b, _ := s.Sides()
	s.Curve = &tradeoff.Curve{Methods: []proto.Method{{Strategy: "greedy"}},
		Points: [][]*proto.Point{{{Budget: 1 << 30, StepTime: 5}}}}
	s.View.Lines = []string{tradeoff.AllLines}
	if got := [2]int{len(curveOf(s, a)), len(curveOf(s, b))}; got != [2]int{1, 1} {
		t.Errorf("the same network and link: A and B have %v points, want 1 each", got)
	}
	s.Choice.ToDev /= 2
	if got := [2]int{len(curveOf(s, a)), len(curveOf(s, b))}; got != [2]int{0, 1} {
		t.Errorf("the link of B is another one: A and B have %v points, want those of B", got)
	}
}

// TestFileNames checks that the names of files are short and say what is compared.
func TestFileNames(t *testing.T) {
	s := pagetest.First(t)
	s.View.Frame.Title = strings.Repeat("long ", 30)
	if got := Name(s, "svg"); len(got) > maxFileName+4 || !strings.HasPrefix(got, "long-long-") ||
		!strings.HasSuffix(got, "long.svg") {
		t.Errorf("a long title: %s", got)
	}
	pagetest.Do(t, s, state.ToggleCompare{}, state.SetStrategy{Name: "rotor"})
	if got := Name(s, "json"); len(got) > maxFileName+5 || !strings.HasSuffix(got, "-vs-b.json") {
		t.Errorf("a comparison with a copy: %s; want -vs-b at its end", got)
	}
	s.View.Frame.Title = ""
	pagetest.Do(t, s, state.SetStrategy{Name: "greedy"})
	if got, want := Name(s, "png"), "resnet-101-batch-32-rotor-2.58-gib-vs-greedy.png"; got != want {
		t.Errorf("another strategy: %s, want %s", got, want)
	}
	pagetest.Do(t, s, state.PickNetwork{ID: "vgg16"})
	if got, want := Name(s, "png"),
		"-vs-vgg-16-batch-32-greedy-"; !strings.HasPrefix(got, "resnet-101-batch-32-rotor-2.58-gib-vs-") ||
		!strings.Contains(got, want) {
		t.Errorf("another network: %s, want %s in it", got, want)
	}
}

// TestHeading checks that a saved picture says what it shows.
func TestHeading(t *testing.T) {
	s := pagetest.First(t)
	h := headingOf(s, Sides(s))
	if h.Title != "ResNet-101, batch 32" || len(h.Lines) != 2 ||
		!strings.HasPrefix(h.Lines[0], "Fits: 3.58 to 3.73 of 15.8 GiB, ") ||
		!strings.HasPrefix(h.Lines[1], "Recompute · plan may use 2.58 GiB · peak ") ||
		!strings.Contains(h.Lines[1], " · step time ") {
		t.Errorf("the heading is %q", h)
	}
	s = pagetest.Preset(t, "llama3.2-1b-step-4096tok-lora.8-on-h100-b2")
	pagetest.Do(t, s, state.SetGPU{ID: "h100"}, state.SetStrategy{Name: "rotor"},
		state.SetBudget{Bytes: 16 * engine.GiB, Settled: true})
	s.View.Frame.Embed = true // which asks before the curve is complete
	for _, e := range s.Update(state.ToggleMore{}) {
		if e, ok := e.(state.AskStep); ok {
			s.Update(state.Policed{ID: e.ID,
				Stepped: &proto.Stepped{Context: engine.GiB, Low: 41 * engine.GiB, High: 42 * engine.GiB}})
		}
	}
	s.View.Frame.Embed = false
	pagetest.Do(t, s, state.SetStrategy{Name: engine.KeepAll}, state.SetBudget{Bytes: 70 * engine.GiB, Settled: true})
	h = headingOf(s, Sides(s))
	if got, page := h.Lines[0], (&answer.Answer{S: s}); !strings.Contains(got, "42 to 43 of 79.6 GiB") ||
		got != page.Word()+page.Sentence() || strings.Contains(h.Lines[1], "may use") {
		t.Errorf("keeping everything is headed %q, and the page says %q", h.Lines, page.Word()+page.Sentence())
	}
	s = pagetest.First(t)
	s.View.Frame.Title = "Mine"
	if h = headingOf(s, Sides(s)); h.Title != "Mine" ||
		!strings.HasPrefix(h.Lines[1], "ResNet-101, batch 32 · Recompute") {
		t.Errorf("with a title the heading is %q", h)
	}
	s = compared(t)
	h = headingOf(s, Sides(s))
	for i, want := range []string{"A: Recompute · plan may use 2.58 GiB · peak ", "B: ", "B − A: step "} {
		if len(h.Lines) != 3 || !strings.HasPrefix(h.Lines[i], want) {
			t.Fatalf("the heading of a comparison is %q; want a line %q", h, want)
		}
	}
	// The numbers of the row must add up as they are printed.
	step, parts, ok := strings.Cut(strings.TrimPrefix(h.Lines[2], "B − A: step "), " = ")
	parts, peak, _ := strings.Cut(parts, " · peak ")
	sum := 0.0
	for _, p := range strings.Split(parts, ", ") {
		fields := strings.Fields(p)
		sum += pagetest.Number(t, fields[len(fields)-2])
	}
	if want := pagetest.Number(t, strings.Fields(step)[0]); !ok || sum-want > 1e-9 || want-sum > 1e-9 || peak == "" {
		t.Errorf("%q adds up to %v", h.Lines[2], sum)
	}
	f, _ := Of(s, "svg", "#v=1")
	for _, line := range append(h.Lines, h.Title) {
		if !strings.Contains(string(f.Bytes), ">"+line+"</text>") {
			t.Errorf("the SVG does not say %q", line)
		}
	}
	if !strings.Contains(string(f.Bytes), `viewBox="0 0 1040 `) || strings.Contains(string(f.Bytes), `<text x="0"`) {
		t.Error("the SVG is not 1040 wide, or has a text at its edge")
	}
}

// TestExportFiles checks that the link can be read from every file that contains it, and that the rows of the
// JSON are those of the trace.
func TestExportFiles(t *testing.T) {
	s := pagetest.First(t)
	const address = `https://example.org/#v=1&p=resnet101-b32&title=a%22b`
	for _, kind := range []string{"svg", "json", "operations.csv", "layers.csv", "curve.csv"} {
		f, ok := Of(s, kind, address)
		if got, found := link.In(f.Bytes); !ok || !found || got != "v=1&p=resnet101-b32&title=a%22b" {
			t.Errorf("%s: saved %t, its link %q; want that of the page", kind, ok, got)
		}
	}
	again, _ := Of(s, "json", address)
	f, _ := Of(s, "json", address)
	if string(again.Bytes) != string(f.Bytes) {
		t.Error("saving twice gives two different files")
	}
	var e document
	if err := json.Unmarshal(f.Bytes, &e); err != nil {
		t.Fatal(err)
	}
	trace := s.Shown.Solved.Trace
	if n := len(trace.Spans) + len(trace.Gaps); len(e.Operations) != n || e.StepNs != int64(trace.Makespan) ||
		e.PeakBytes != int64(trace.Peak) {
		t.Errorf("%d operations, step %d, peak %d; want %d, %d, %d", len(e.Operations), e.StepNs, e.PeakBytes, n,
			trace.Makespan, trace.Peak)
	}
	for kind, ok := range map[string]bool{"operations.csv": true, "layers.csv": true, "curve.csv": true, "png": false,
		"html": false, "": false} {
		if _, got := Of(s, kind, address); got != ok {
			t.Errorf("%q can be made without a browser: %t, want %t", kind, got, ok)
		}
	}
	if _, ok := Of(state.New(), "svg", address); ok {
		t.Error("a page without a schedule saves a picture")
	}
	if got, want := f.Name, "resnet-101-batch-32-rotor-2.58-gib.json"; got != want {
		t.Errorf("the file is named %s, want %s", got, want)
	}
}

// TestCompareFigure checks that a saved picture of a comparison shows both sides.
func TestCompareFigure(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.ToggleCompare{}, state.SetBudget{Share: 90 * choice.Percent, Settled: true})
	var scene draw.Scene
	Figure(&scene, s, true)
	if !strings.Contains(scene.Desc, "A: Peak ") || !strings.Contains(scene.Desc, "B: Peak ") {
		t.Errorf("the picture says %q; want A's peak and B's", scene.Desc)
	}
}
