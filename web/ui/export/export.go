// Package export makes files of what is shown: pictures, tables and JSON. They contain the link that
// opens the same view again.
package export

import (
	"bytes"
	"encoding/json"
	"strconv"

	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/state"
	"memtide/web/tell"
)

// File is something to save.
type File struct {
	Name, Type string
	Bytes      []byte
}

// Of returns a file of what is shown, of any kind of state.SaveFile except png and html, which need a browser. address
// is the link that the file contains. ok is false if there is nothing to save.
func Of(s *state.State, kind, address string) (f File, ok bool) {
	if s.Visible() == nil {
		return f, false
	}
	var tables []tableSide
	for _, side := range Sides(s) {
		switch kind {
		case "operations.csv":
			head, rows := side.Picture.Index().Table()
			tables = append(tables, tableSide{side, head, rows})
		case "layers.csv":
			tables = append(tables, layerCells(side, side.Picture.Index().LayerTable(tell.LayerNumber, false, "")))
		case "curve.csv":
			tables = append(tables, curveCells(side, curveOf(s, side.Picture)))
		}
	}
	if tables != nil {
		return tableFile(s, kind, address, tables), true
	}
	switch kind {
	case "svg":
		var scene draw.Scene
		theme := display.Light
		if s.Sharing != nil && s.Sharing.Theme == "dark" {
			theme = display.Dark
		}
		Figure(&scene, s, s.Sharing == nil || s.Sharing.Exact)
		return SVG(Name(s, kind), &scene, theme, address)
	case "json":
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetIndent("", " ")
		e.SetEscapeHTML(false)
		err := e.Encode(documentOf(s, address))
		return File{Name(s, kind), "application/json", b.Bytes()}, err == nil
	}
	return f, false
}

// SVG returns a scene as a file. It contains the link address, unless that is empty.
func SVG(name string, scene *draw.Scene, theme display.Theme, address string) (f File, ok bool) {
	var b bytes.Buffer
	err := scene.WriteSVG(&b, display.SVGOptions{Standalone: true, Theme: &theme, Surface: true, Link: address})
	return File{name, "image/svg+xml", b.Bytes()}, err == nil
}

// tableSide is a table of one side.
type tableSide struct {
	Side
	head []string
	rows [][]string
}

// tableFile returns a table as a file. In a comparison the first column is the letter of the side.
func tableFile(s *state.State, kind, address string, tables []tableSide) File {
	head := tables[0].head
	var rows [][]string
	for _, t := range tables {
		for _, row := range t.rows {
			if t.Letter != "" {
				row = append([]string{t.Letter}, row...)
			}
			rows = append(rows, row)
		}
	}
	if tables[0].Letter != "" {
		head = append([]string{"side"}, head...)
	}
	f := File{Name: Name(s, kind), Type: "text/csv;charset=utf-8",
		Bytes: link.WithLastLine([]byte(tell.CSV(head, rows)), address)}
	if len(tables) == 1 {
		f.Name = fileNameOf(s, tables[0].Picture, kind)
	}
	return f
}

func layerCells(side Side, layers []tell.LayerRow) tableSide {
	head, rows := tell.LayersCells(layers)
	return tableSide{side, head, rows}
}

func curveCells(side Side, curve []point) tableSide {
	t := tableSide{side, []string{"strategy", "budget (bytes)", "step time (ms)", "peak (bytes)", "best so far"}, nil}
	for _, p := range curve {
		row := []string{p.Strategy, strconv.FormatInt(p.BudgetBytes, 10), "", "", ""}
		if p.StepNs > 0 {
			row[2], row[3] = strconv.FormatFloat(float64(p.StepNs)/1e6, 'f', -1, 64), strconv.FormatInt(p.PeakBytes, 10)
		}
		if p.BestSoFar {
			row[4] = "yes"
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// Layers returns the table of layers as a file, sorted and filtered as on the page. It returns false if the table has
// no rows.
func Layers(s *state.State, address string) (File, bool) {
	rows := s.LayerRows()
	if len(rows) == 0 {
		return File{}, false
	}
	return tableFile(s, "layers.csv", address, []tableSide{layerCells(SideOf(s), rows)}), true
}

// Schedule returns the file for the schedule or plan of e, without content.
func Schedule(s *state.State, e state.Export) File {
	if e.Kind == state.PlanFile {
		return File{Name: e.Kind, Type: "application/json"} // ui.Run's code uses this name
	}
	return File{Name: fileNameOf(s, s.Visible(), e.Kind), Type: "application/json"}
}

// document is the JSON file. Field names contain the units. In a comparison the outer object is A.
type document struct {
	Memtide struct {
		Link string `json:"link"`
	} `json:"memtide"`
	schedule
	B     *schedule `json:"b,omitempty"`
	Delta *delta    `json:"delta,omitempty"`
}

type schedule struct {
	Name        string            `json:"name"`
	Side        string            `json:"side,omitempty"` // of a comparison
	Strategy    string            `json:"strategy"`
	Arguments   map[string]string `json:"arguments,omitempty"`
	BudgetBytes int64             `json:"budgetBytes"`
	PeakBytes   int64             `json:"peakBytes"`
	StepNs      int64             `json:"stepNs"`
	ComputeNs   int64             `json:"computeNs"`
	RecomputeNs int64             `json:"recomputeNs"`
	WaitingNs   int64             `json:"waitingNs"`
	Verified    bool              `json:"verified"`
	Operations  []tell.Row        `json:"operations"`
	Layers      []layer           `json:"layers"`
	Curve       []point           `json:"curve,omitempty"`
}

type layer struct {
	Name        string `json:"name"`
	Decision    string `json:"decision"`
	SavedBytes  int64  `json:"savedBytes"`
	ForwardNs   int64  `json:"forwardNs"`
	RecomputeNs int64  `json:"recomputeNs"`
	BackwardNs  int64  `json:"backwardNs"`
	CopiesNs    int64  `json:"copiesNs"`
}

// point is a point of the curve in a file.
type point struct {
	Strategy    string `json:"strategy"`
	BudgetBytes int64  `json:"budgetBytes"`
	StepNs      int64  `json:"stepNs,omitempty"` // 0: no schedule in this budget
	PeakBytes   int64  `json:"peakBytes,omitempty"`
	BestSoFar   bool   `json:"bestSoFar,omitempty"` // the solver reached its time limit
}

// delta is B minus A. The parts add up to the change of the step.
type delta struct {
	StepNs    int64  `json:"stepNs"`
	Parts     []part `json:"parts"`
	PeakBytes int64  `json:"peakBytes"`
}

type part struct {
	Name     string `json:"name"`
	ANs      int64  `json:"aNs"`
	BNs      int64  `json:"bNs"`
	ChangeNs int64  `json:"changeNs"`
}

func documentOf(s *state.State, address string) *document {
	sides := Sides(s)
	e := &document{schedule: exportScheduleOf(s, sides[0])}
	e.Memtide.Link = address
	e.Name = headOf(s, sides[0].Picture)
	if len(sides) == 1 {
		return e
	}
	b := exportScheduleOf(s, sides[1])
	e.B = &b
	d := known.DeltaOf(sides[0].Picture, sides[1].Picture)
	e.Delta = &delta{StepNs: int64(d.Step), PeakBytes: int64(d.Peak)}
	for _, p := range d.Parts {
		e.Delta.Parts = append(e.Delta.Parts, part{p.Name, int64(p.A), int64(p.B), int64(p.Change())})
	}
	return e
}

func exportScheduleOf(s *state.State, side Side) schedule {
	p := side.Picture
	t, m := p.Solved.Trace, p.Index()
	e := schedule{Name: p.Network.Profile.Name, Side: side.Letter, Strategy: p.Choice.Strategy,
		Arguments:   p.Choice.Args,
		BudgetBytes: int64(p.Solved.Budget), PeakBytes: int64(t.Peak), StepNs: int64(t.Makespan),
		ComputeNs:   int64(t.ComputeTime),
		RecomputeNs: int64(t.RecomputeTime), WaitingNs: int64(t.WaitingTotal()), Verified: p.Solved.Verdict.Verified,
		Curve: curveOf(s, p)}
	for i := range m.NumRows() {
		e.Operations = append(e.Operations, m.Row(i))
	}
	for _, l := range m.LayerTable(tell.LayerNumber, false, "") {
		e.Layers = append(e.Layers, layer{l.Name, tell.DecisionName(l.Decision), int64(l.Size), int64(l.Forward),
			int64(l.Recompute), int64(l.Backward), int64(l.Copies)})
	}
	return e
}

// curveOf returns the points of the curve on screen if it is about p. The curve is that of the side that the controls
// change, and that of the other side if sameSetting.
func curveOf(s *state.State, p *known.Picture) (out []point) {
	if s.Curve == nil || s.Compare != nil && p != s.Visible() && !sameSetting(s, &s.Compare.Other) {
		return nil
	}
	for i, m := range s.Curve.Methods {
		if i >= len(s.Curve.Points) || !s.Drawn(m.Strategy) {
			continue
		}
		for _, p := range s.Curve.Points[i] {
			if p != nil {
				out = append(out, point{m.Strategy, int64(p.Budget), int64(p.StepTime), int64(p.Peak), p.Partial()})
			}
		}
	}
	return out
}

// sameSetting reports whether the other side o differs only in its strategy and budget.
func sameSetting(s *state.State, o *state.Side) bool {
	return s.Network == o.Network && s.Choice.SettingKey() == o.Choice.SettingKey()
}
