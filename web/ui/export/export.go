// Package export makes files of what is shown: pictures, tables and JSON, with the link in
// them that opens it again, and their names.
package export

import (
	"bytes"
	"encoding/json"
	"strconv"

	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/link"
	"memtide/web/state"
	"memtide/web/tell"
)

// File is something to save.
type File struct {
	Name, Type string
	Bytes      []byte
}

// Of returns a file of what is shown that can be made without a browser: all
// kinds of state.SaveFile but png and html. The address is that of the link;
// ok is false if there is nothing to save.
func Of(s *state.State, kind, address string) (f File, ok bool) {
	if s.Visible() == nil {
		return f, false
	}
	var tables []tableSide
	for _, side := range Sides(s) {
		switch kind {
		case "operations.csv":
			head, rows := side.Picture.Model().Table()
			tables = append(tables, tableSide{side, head, rows})
		case "layers.csv":
			tables = append(tables, layerCells(side, side.Picture.Model().LayerTable(tell.LayerNumber, false, "")))
		case "curve.csv":
			tables = append(tables, curveCells(side, curveOf(s, side.Picture)))
		}
	}
	if tables != nil {
		return tableFile(s, kind, address, tables), true
	}
	f.Name = Name(s, kind)
	var b bytes.Buffer
	switch kind {
	case "svg":
		f.Type = "image/svg+xml"
		var scene draw.Scene
		theme := display.Light
		if s.Sharing != nil && s.Sharing.Theme == "dark" {
			theme = display.Dark
		}
		Figure(&scene, s, s.Sharing == nil || s.Sharing.Exact)
		if scene.WriteSVG(&b, display.SVGOptions{Standalone: true, Theme: &theme, Surface: true,
			Link: address}) != nil {
			return f, false
		}
	case "json":
		f.Type = "application/json"
		e := json.NewEncoder(&b)
		e.SetIndent("", " ")
		e.SetEscapeHTML(false)
		if e.Encode(documentOf(s, address)) != nil {
			return f, false
		}
	default:
		return f, false
	}
	f.Bytes = b.Bytes()
	return f, true
}

// tableSide is a table of one side.
type tableSide struct {
	Side
	head []string
	rows [][]string
}

// tableFile returns a table as a file. In that of a comparison, the first column says
// whose row it is.
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

// Layers returns the table of layers as a file, as it is sorted and filtered; false
// if it has no rows.
func Layers(s *state.State, address string) (File, bool) {
	rows := s.LayerRows()
	if len(rows) == 0 {
		return File{}, false
	}
	return tableFile(s, "layers.csv", address, []tableSide{layerCells(SideOf(s), rows)}), true
}

// Schedule returns the file that a schedule is to be written into, still empty.
func Schedule(s *state.State, e state.Export) File {
	if e.Kind == state.PlanFile {
		return File{Name: e.Kind, Type: "application/json"} // as the code has it that runs it
	}
	return File{Name: fileNameOf(s, s.Visible(), e.Kind), Type: "application/json"}
}
