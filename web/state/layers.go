package state

import (
	"memtide/web/lookup"
	"memtide/web/tell"
)

// ToggleLayers opens the table of layers and closes it.
type ToggleLayers struct{}

func (ToggleLayers) apply(s *State) []Effect {
	s.View.LayerList = !s.View.LayerList
	s.DOM++
	return []Effect{WriteURL{Replace}}
}

// SortLayers sorts the table by a column, see view.LayerTable.
type SortLayers struct{ By tell.LayerColumn }

func (m SortLayers) apply(s *State) []Effect {
	if m.By >= tell.NumLayerColumns {
		return nil
	}
	s.View.Layers.Sort(m.By)
	return s.touchDOM()
}

// FindLayers leaves out rows that do not contain a text.
type FindLayers struct{ Text string }

func (m FindLayers) apply(s *State) []Effect {
	s.View.Layers.Find, s.View.Layers.Top = m.Text, 0
	return s.touchDOM()
}

// ScrollLayers says which row is the first on screen.
type ScrollLayers struct{ Top int }

func (m ScrollLayers) apply(s *State) []Effect {
	s.View.Layers.Top = max(m.Top, 0) // the rows are set by hand: nothing else has to be drawn
	return nil
}

// StepLayer selects the layer some rows below the selected one.
type StepLayer struct{ By int }

func (m StepLayer) apply(s *State) []Effect {
	rows, at := s.LayerRows(), s.LayerRow()
	switch {
	case len(rows) == 0:
		return s.touchDOM()
	case at >= 0:
		at = min(max(at+m.By, 0), len(rows)-1)
	case m.By < 0:
		at = len(rows) - 1
	default:
		at = 0
	}
	Select{lookup.Target{Kind: lookup.OnStage, Index: rows[at].Stage}}.apply(s)
	return nil
}

// ToggleChain shows the critical chain, or no longer.
type ToggleChain struct{}

func (ToggleChain) apply(s *State) []Effect {
	s.View.Chain = !s.View.Chain
	return s.looked()
}

// LayerRows returns the rows of the table of layers, see view.View.
func (s *State) LayerRows() []tell.LayerRow { return s.View.LayerRows(s.Visible()) }

// LayerRow returns the row of the selected stage, -1 if it has none.
func (s *State) LayerRow() int { return s.View.LayerRow(s.Visible()) }
