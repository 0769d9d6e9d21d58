package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/state"
)

// File is something to save.
type File struct {
	Name, Type string
	Bytes      []byte
}

// figureWidth is that of saved pictures in CSS pixels.
const figureWidth = 1040.0

// figure draws what is shown as one picture, for a file.
func figure(scene *draw.Scene, s *state.State, exact bool) {
	v := draw.View{Width: figureWidth, Budget: s.Budget(), Cursor: draw.NoCursor}
	if exact {
		v.From, v.To, v.Selected, v.Chain = s.View.From, s.View.To, s.View.Selected, s.View.Chain
	}
	if !figureOfBoth(scene, s, v) {
		s.Visible().Model().Figure(scene, v)
	}
	scene.Title = nameOf(s) + ": " + scene.Title
}

// ExportFile is a file of what is shown that can be made without a browser: all
// kinds of state.SaveFile but png and html. The address is that of the link;
// ok is false if there is nothing to save.
func ExportFile(s *state.State, kind, address string) (f File, ok bool) {
	p := s.Visible()
	if p == nil {
		return f, false
	}
	f = File{Name: fileName(s) + "." + kind, Type: "text/csv;charset=utf-8"}
	var b bytes.Buffer
	switch kind {
	case "svg":
		f.Type = "image/svg+xml"
		var scene draw.Scene
		theme := draw.Light
		if s.Sharing != nil && s.Sharing.Theme == "dark" {
			theme = draw.Dark
		}
		figure(&scene, s, s.Sharing == nil || s.Sharing.Exact)
		if scene.WriteSVG(&b, draw.SVGOptions{Standalone: true, Theme: &theme, Surface: true, Link: address}) != nil {
			return f, false
		}
	case "json":
		f.Type = "application/json"
		e := json.NewEncoder(&b)
		e.SetIndent("", " ")
		e.SetEscapeHTML(false)
		if e.Encode(exportOf(s, address)) != nil {
			return f, false
		}
	case "operations.csv":
		b.WriteString(draw.CSV(p.Model().Table()))
	case "layers.csv":
		b.WriteString(draw.LayersCSV(p.Model().LayerTable(draw.LayerNumber, false, "")))
	case "curve.csv":
		b.WriteString(draw.CSV(curveTable(s)))
	default:
		return f, false
	}
	f.Bytes = b.Bytes()
	return f, true
}

// scheduleName is the name of a schedule's file. A Python file has one that it can
// be imported by.
func scheduleName(s *state.State, e state.Export) string {
	if e.Request.Form == proto.FormPython {
		return e.Kind
	}
	return fileName(s) + "." + e.Kind
}

// scheduleFile has a pool write a schedule down.
func scheduleFile(ctx context.Context, pool proto.Pool, e state.Export, name string) (File, error) {
	f := File{Name: name, Type: "text/x-python"}
	if e.Request.Form == proto.FormJSON {
		f.Type = "application/json"
	}
	r, err := pool.Do(ctx, &proto.Request{Op: proto.OpExport, Export: &e.Request}, nil)
	if err != nil {
		return f, err
	}
	f.Bytes = r.Exported.Text
	return f, nil
}

// fileName is the name of what is shown, as part of a file's name.
func fileName(s *state.State) string {
	plain := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}
	name := strings.Map(plain, strings.ToLower(nameOf(s)+" "+s.Choice.Strategy+" "+format.Bytes(s.Budget())))
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	return strings.Trim(name[:min(len(name), 80)], "-.")
}

// exportPoint is a point of the curve in a file.
type exportPoint struct {
	Strategy    string `json:"strategy"`
	BudgetBytes int64  `json:"budgetBytes"`
	StepNs      int64  `json:"stepNs,omitempty"` // 0: no schedule in this budget
	PeakBytes   int64  `json:"peakBytes,omitempty"`
	BestSoFar   bool   `json:"bestSoFar,omitempty"` // the solver's time was over
}

func exportCurve(s *state.State) (out []exportPoint) {
	if s.Curve == nil {
		return nil
	}
	for i, m := range s.Curve.Methods {
		if i >= len(s.Curve.Points) || !s.Drawn(m.Strategy) {
			continue
		}
		for _, p := range s.Curve.Points[i] {
			if p != nil {
				out = append(out, exportPoint{m.Strategy, int64(p.Budget), int64(p.StepTime), int64(p.Peak), p.Partial()})
			}
		}
	}
	return out
}

func curveTable(s *state.State) (head []string, rows [][]string) {
	head = []string{"strategy", "budget (bytes)", "step time (ms)", "peak (bytes)", "best so far"}
	for _, p := range exportCurve(s) {
		row := []string{p.Strategy, strconv.FormatInt(p.BudgetBytes, 10), "", "", ""}
		if p.StepNs > 0 {
			row[2], row[3] = strconv.FormatFloat(float64(p.StepNs)/1e6, 'f', -1, 64), strconv.FormatInt(p.PeakBytes, 10)
		}
		if p.BestSoFar {
			row[4] = "yes"
		}
		rows = append(rows, row)
	}
	return head, rows
}

// export is the JSON file. Names of fields say their units.
type export struct {
	Memtide struct {
		Link string `json:"link"`
	} `json:"memtide"`
	Name        string            `json:"name"`
	Strategy    string            `json:"strategy"`
	Arguments   map[string]string `json:"arguments,omitempty"`
	BudgetBytes int64             `json:"budgetBytes"`
	PeakBytes   int64             `json:"peakBytes"`
	StepNs      int64             `json:"stepNs"`
	ComputeNs   int64             `json:"computeNs"`
	RecomputeNs int64             `json:"recomputeNs"`
	WaitingNs   int64             `json:"waitingNs"`
	Verified    bool              `json:"verified"`
	Operations  []exportOperation `json:"operations"`
	Layers      []exportLayer     `json:"layers"`
	Curve       []exportPoint     `json:"curve,omitempty"`
}

type exportOperation struct {
	StartNs int64  `json:"startNs"`
	EndNs   int64  `json:"endNs"`
	Lane    string `json:"lane"`
	What    string `json:"what"`
	Kind    string `json:"kind"`
	Layer   string `json:"layer,omitempty"`
	Why     string `json:"why,omitempty"`
}

type exportLayer struct {
	Name        string `json:"name"`
	Decision    string `json:"decision"`
	SavedBytes  int64  `json:"savedBytes"`
	ForwardNs   int64  `json:"forwardNs"`
	RecomputeNs int64  `json:"recomputeNs"`
	BackwardNs  int64  `json:"backwardNs"`
	CopiesNs    int64  `json:"copiesNs"`
}

func exportOf(s *state.State, address string) *export {
	p := s.Visible()
	t, m := p.Solved.Trace, p.Model()
	e := &export{Name: nameOf(s), Strategy: p.Choice.Strategy, Arguments: p.Choice.Args, BudgetBytes: int64(p.Solved.Budget),
		PeakBytes: int64(t.Peak), StepNs: int64(t.Makespan), ComputeNs: int64(t.ComputeTime), RecomputeNs: int64(t.RecomputeTime),
		WaitingNs: int64(t.WaitingTotal()), Verified: p.Solved.Verdict.Verified, Curve: exportCurve(s)}
	e.Memtide.Link = address
	for i := range m.NumRows() {
		r := m.Row(i)
		e.Operations = append(e.Operations, exportOperation{int64(r.Start), int64(r.End), r.Lane, r.What, r.Kind, r.Stage, r.Why})
	}
	for _, l := range m.LayerTable(draw.LayerNumber, false, "") {
		e.Layers = append(e.Layers, exportLayer{l.Name, draw.DecisionName(l.Decision), int64(l.Size), int64(l.Forward), int64(l.Recompute), int64(l.Backward), int64(l.Copies)})
	}
	return e
}
