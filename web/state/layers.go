package state

import (
	"memtide/web/draw"
)

// LayerTable is how the table of layers is looked at.
type LayerTable struct {
	Open bool
	By   draw.LayerColumn
	Down bool   // the largest first
	Find string // only layers whose row contains it, in any case
	Top  int    // first row that is on screen
}

// What people do with the table of layers and the critical chain.
type (
	// ToggleLayers opens the table of layers and closes it.
	ToggleLayers struct{}
	// SortLayers sorts the table by a column, the other way round if it is sorted
	// by it already.
	SortLayers struct{ By draw.LayerColumn }
	// FindLayers leaves out rows that do not contain a text.
	FindLayers struct{ Text string }
	// ScrollLayers says which row is the first on screen.
	ScrollLayers struct{ Top int }
	// StepLayer selects the layer some rows below the selected one.
	StepLayer struct{ By int }
	// ToggleChain shows the critical chain, or no longer.
	ToggleChain struct{}
)

func (ToggleLayers) message() {}
func (SortLayers) message()   {}
func (FindLayers) message()   {}
func (ScrollLayers) message() {}
func (StepLayer) message()    {}
func (ToggleChain) message()  {}

// updateLayers handles the messages of the table of layers; false for others.
func (s *State) updateLayers(m Message) (out []Effect, ok bool) {
	t := &s.View.Layers
	switch m := m.(type) {
	case ToggleLayers:
		t.Open = !t.Open
		out = []Effect{WriteURL{Replace}}
	case SortLayers:
		if m.By >= draw.NumLayerColumns {
			return nil, true
		}
		// Of amounts the largest are looked for, of names the first.
		t.Down, t.By = m.By == t.By && !t.Down || m.By != t.By && m.By.Amount(), m.By
		t.Top = 0
	case FindLayers:
		t.Find, t.Top = m.Text, 0
	case ScrollLayers: // the rows are set by hand: nothing else has to be drawn
		t.Top = max(m.Top, 0)
		return nil, true
	case StepLayer:
		s.stepLayer(m.By)
	case ToggleChain:
		s.View.Chain = !s.View.Chain
		s.Paint++
		out = []Effect{WriteURL{Replace}}
	default:
		return nil, false
	}
	s.DOM++
	return out, true
}

// LayerRows are the rows of the table of layers that are not left out, in its
// order.
func (s *State) LayerRows() []draw.LayerRow {
	p := s.Visible()
	if p == nil || !s.View.Layers.Open {
		return nil
	}
	t := s.View.Layers
	key := layerKey{p, t.By, t.Down, t.Find}
	if s.layers.key != key {
		s.layers.key, s.layers.rows = key, p.Model().LayerTable(t.By, t.Down, t.Find)
	}
	return s.layers.rows
}

// layerRows are the rows of the table, kept until they change.
type layerRows struct {
	key  layerKey
	rows []draw.LayerRow
}

type layerKey struct {
	picture *Picture
	by      draw.LayerColumn
	down    bool
	find    string
}

// LayerRow is the row of the selected stage, -1 if it has none.
func (s *State) LayerRow() int {
	p := s.Visible()
	if p == nil {
		return -1
	}
	stage := p.Model().StageOf(s.View.Selected)
	for i, r := range s.LayerRows() {
		if r.Stage == stage {
			return i
		}
	}
	return -1
}

// stepLayer selects a stage by its place in the table.
func (s *State) stepLayer(by int) {
	rows := s.LayerRows()
	if len(rows) == 0 {
		return
	}
	at := s.LayerRow()
	switch {
	case at >= 0:
		at = min(max(at+by, 0), len(rows)-1)
	case by < 0:
		at = len(rows) - 1
	default:
		at = 0
	}
	s.Paint++
	s.updateSelection(Select{draw.Target{Kind: draw.OnStage, Index: rows[at].Stage}})
}
