//go:build !js

package ui

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/state"
	"memtide/web/tell"
	"memtide/web/tradeoff"
)

// compared is A with the first strategy and B with greedy and more memory.
func compared(t *testing.T) *state.State {
	t.Helper()
	s := first(t)
	do(t, s, state.ToggleCompare{}, state.SetStrategy{Name: "greedy"}, state.SetBudget{Share: 90 * choice.Percent, Settled: true})
	if a, b, ok := s.Sides(); !ok || a == nil || b == nil {
		t.Fatal("the two sides have no schedules")
	}
	return s
}

// The JSON of a comparison holds both sides and what changes, which adds up;
// whatever side the controls are on.
func TestExportBoth(t *testing.T) {
	s := compared(t)
	for _, onA := range []bool{false, true} {
		do(t, s, state.EditSide{A: onA})
		a, b, _ := s.Sides()
		f, ok := ExportFile(s, "json", "https://example.org/#v=1&p=resnet101-b32&b.s=greedy")
		if got, want := f.Name, "resnet-101-batch-32-rotor-2.58-gib-vs-greedy-3.87-gib.json"; !ok || got != want {
			t.Errorf("the file is named %s, want %s", got, want)
		}
		if got, _ := link.In(f.Bytes); got != "v=1&p=resnet101-b32&b.s=greedy" {
			t.Errorf("its link is %q", got)
		}
		var e export
		if err := json.Unmarshal(f.Bytes, &e); err != nil || e.B == nil || e.Delta == nil {
			t.Fatalf("the file has B %v and a delta %v (%v); want both", e.B != nil, e.Delta, err)
		}
		for _, c := range []struct {
			side string
			got  *exportSchedule
			want *known.Picture
		}{{"A", &e.exportSchedule, a}, {"B", e.B, b}} {
			tr := c.want.Solved.Trace
			if c.got.Side != c.side || c.got.Strategy != c.want.Choice.Strategy || c.got.StepNs != int64(tr.Makespan) || c.got.PeakBytes != int64(tr.Peak) ||
				c.got.BudgetBytes != int64(c.want.Solved.Budget) || len(c.got.Operations) != c.want.Model().NumRows() || len(c.got.Layers) == 0 {
				t.Errorf("%s is %s %s of %d ns, %d bytes, %d operations, %d layers; want %s of %d, %d, %d", c.side, c.got.Side, c.got.Strategy, c.got.StepNs,
					c.got.PeakBytes, len(c.got.Operations), len(c.got.Layers), c.want.Choice.Strategy, tr.Makespan, tr.Peak, c.want.Model().NumRows())
			}
		}
		sum := int64(0)
		for _, p := range e.Delta.Parts {
			if sum += p.ChangeNs; p.ChangeNs != p.BNs-p.ANs {
				t.Errorf("%s changes by %d from %d to %d", p.Name, p.ChangeNs, p.ANs, p.BNs)
			}
		}
		if sum != e.Delta.StepNs || sum != e.B.StepNs-e.StepNs || sum == 0 || e.Delta.PeakBytes != e.B.PeakBytes-e.PeakBytes {
			t.Errorf("the parts add up to %d, the step changes by %d from %d to %d, the peak by %d", sum, e.Delta.StepNs, e.StepNs, e.B.StepNs, e.Delta.PeakBytes)
		}
	}
}

// The tables of a comparison say whose row each row is; those of one schedule have
// no such column. The last line is one cell, the link.
func TestExportTables(t *testing.T) {
	const address = "https://example.org/#v=1&p=resnet101-b32&c=rotor,greedy"
	one, both := first(t), compared(t)
	for kind, head := range map[string]string{"operations.csv": "start (ms),end (ms),lane", "layers.csv": "layer,name,decision", "curve.csv": "strategy,budget (bytes),"} {
		for _, s := range []*state.State{one, both} {
			f, _ := ExportFile(s, kind, address)
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
			if last := rows[len(rows)-1]; err != nil || len(last) != 1 || last[0] != "# memtide: "+strings.ReplaceAll(address, ",", "%2C") {
				t.Errorf("%s ends in %q (%v), want the link in one cell", kind, last, err)
			}
			if !strings.HasSuffix(f.Name, "."+kind) || strings.Contains(f.Name, "-vs-") != (s == both) {
				t.Errorf("%s is saved as %s", kind, f.Name)
			}
		}
	}
	table := tableFile(both, "layers.csv", address, []tableSide{layerCells(sideOf(both), both.Visible().Model().LayerTable(tell.LayerNumber, false, ""))})
	if want := "resnet-101-batch-32-greedy-3.87-gib.layers.csv"; table.Name != want || strings.Contains(string(table.Bytes), "\nA,") {
		t.Errorf("the table of B is saved as %s, want %s and rows of B only", table.Name, want)
	}
}

// The points of a curve are those of the sides that it is about.
func TestExportCurve(t *testing.T) {
	s := compared(t)
	a, b, _ := s.Sides()
	s.Curve = &tradeoff.Curve{Methods: []proto.Method{{Strategy: "greedy"}}, Points: [][]*proto.Point{{{Budget: 1 << 30, StepTime: 5}}}}
	s.View.Lines = []string{tradeoff.AllLines}
	if got := [2]int{len(curveOf(s, a)), len(curveOf(s, b))}; got != [2]int{1, 1} {
		t.Errorf("the same network and link: A and B have %v points, want 1 each", got)
	}
	s.Choice.ToDev /= 2
	if got := [2]int{len(curveOf(s, a)), len(curveOf(s, b))}; got != [2]int{0, 1} {
		t.Errorf("the link of B is another one: A and B have %v points, want those of B", got)
	}
}

// Names of files say what is compared, and are short.
func TestFileNames(t *testing.T) {
	s := first(t)
	s.View.Frame.Title = strings.Repeat("long ", 30)
	if got := FileName(s, "svg"); len(got) > maxFileName+4 || !strings.HasPrefix(got, "long-long-") || !strings.HasSuffix(got, "long.svg") {
		t.Errorf("a long title: %s", got)
	}
	do(t, s, state.ToggleCompare{})
	if got := FileName(s, "json"); len(got) > maxFileName+5 || !strings.HasSuffix(got, "-vs-b.json") {
		t.Errorf("a comparison with a copy: %s; want -vs-b at its end", got)
	}
	s.View.Frame.Title = ""
	do(t, s, state.SetStrategy{Name: "greedy"})
	if got, want := FileName(s, "png"), "resnet-101-batch-32-rotor-2.58-gib-vs-greedy.png"; got != want {
		t.Errorf("another strategy: %s, want %s", got, want)
	}
	do(t, s, state.PickPreset{ID: "vgg16-b32"})
	if got, want := FileName(s, "png"), "-vs-vgg-16-batch-32-greedy-"; !strings.HasPrefix(got, "resnet-101-batch-32-rotor-2.58-gib-vs-") || !strings.Contains(got, want) {
		t.Errorf("another network: %s, want %s in it", got, want)
	}
}

// A saved picture says what it shows.
func TestHeading(t *testing.T) {
	s := first(t)
	h := headingOf(s, sidesOf(s))
	if h.Title != "ResNet-101, batch 32" || len(h.Lines) != 1 || !strings.HasPrefix(h.Lines[0], "Best choice of blocks · budget 2.58 GiB · peak ") || !strings.Contains(h.Lines[0], " · step time ") {
		t.Errorf("the heading is %q", h)
	}
	s.View.Frame.Title = "Mine"
	if h = headingOf(s, sidesOf(s)); h.Title != "Mine" || !strings.HasPrefix(h.Lines[0], "ResNet-101, batch 32 · Best choice of blocks") {
		t.Errorf("with a title the heading is %q", h)
	}
	s = compared(t)
	h = headingOf(s, sidesOf(s))
	for i, want := range []string{"A: Best choice of blocks · budget 2.58 GiB · peak ", "B: ", "B − A: step "} {
		if len(h.Lines) != 3 || !strings.HasPrefix(h.Lines[i], want) {
			t.Fatalf("the heading of a comparison is %q; want a line %q", h, want)
		}
	}
	// The row adds up as it is written.
	step, parts, ok := strings.Cut(strings.TrimPrefix(h.Lines[2], "B − A: step "), " = ")
	parts, peak, _ := strings.Cut(parts, " · peak ")
	sum := 0.0
	for _, p := range strings.Split(parts, ", ") {
		fields := strings.Fields(p)
		sum += number(t, fields[len(fields)-2])
	}
	if want := number(t, strings.Fields(step)[0]); !ok || sum-want > 1e-9 || want-sum > 1e-9 || peak == "" {
		t.Errorf("%q adds up to %v", h.Lines[2], sum)
	}
	f, _ := ExportFile(s, "svg", "#v=1")
	for _, line := range append(h.Lines, h.Title) {
		if !strings.Contains(string(f.Bytes), ">"+line+"</text>") {
			t.Errorf("the SVG does not say %q", line)
		}
	}
	if !strings.Contains(string(f.Bytes), `viewBox="0 0 1040 `) || strings.Contains(string(f.Bytes), `<text x="0"`) {
		t.Error("the SVG is not 1040 wide, or has a text at its edge")
	}
}
