package view

import (
	"slices"

	"memtide/web/known"
	"memtide/web/tell"
)

// Sort sorts the table by a column, the other way round if it is sorted by it already.
func (t *LayerTable) Sort(by tell.LayerColumn) {
	// Of amounts the largest are looked for, of names the first.
	t.Down, t.By = by == t.By && !t.Down || by != t.By && by.Amount(), by
	t.Top = 0
}

// LayerRows are the rows of the table of a picture's layers that are not left out, in its
// order; none while it is closed.
func (v *View) LayerRows(p *known.Picture) []tell.LayerRow {
	if p == nil || !v.LayerList {
		return nil
	}
	t := LayerTable{By: v.Layers.By, Down: v.Layers.Down, Find: v.Layers.Find}
	if v.rows.of != p || v.rows.table != t {
		v.rows = layerRows{p, t, p.Model().LayerTable(t.By, t.Down, t.Find)}
	}
	return v.rows.rows
}

// LayerRow is the row of the selected stage, -1 if it has none.
func (v *View) LayerRow(p *known.Picture) int {
	if p == nil {
		return -1
	}
	stage := p.Model().StageOf(v.Selected)
	return slices.IndexFunc(v.LayerRows(p), func(r tell.LayerRow) bool { return r.Stage == stage })
}
