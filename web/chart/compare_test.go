package chart

import (
	"encoding/json"
	"testing"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/state"
)

// Both sides of a comparison have a dot with their letter, if they are of one
// network.
func TestBothPoints(t *testing.T) {
	network := &state.Network{}
	picture := func(n *state.Network) *state.Picture {
		return &state.Picture{Network: n, Solved: &proto.Solved{Budget: 3 * engine.GiB, Trace: &sim.Trace{Makespan: 150 * ms}}}
	}
	for _, c := range []struct {
		name  string
		other *state.Network
		onA   bool
		want  map[string]string // by name of the dot
	}{
		{"one network", network, false, map[string]string{shownName: "B", otherName: "A"}},
		{"controls on A", network, true, map[string]string{shownName: "A", otherName: "B"}},
		{"two networks", &state.Network{}, false, map[string]string{shownName: "B"}},
	} {
		p := example()
		s := &state.State{Network: network, Compare: &state.Compare{OnA: c.onA, Other: state.Side{Shown: picture(c.other)}}}
		p.compare(s)
		raw, err := p.Option(Look{Colours: draw.Palette(draw.Light)})
		if err != nil {
			t.Fatal(err)
		}
		var o struct {
			Series []struct {
				Name  string
				Label struct{ Formatter string }
				Data  []struct{ Value []float64 }
			}
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, dot := range o.Series {
			if dot.Name != shownName && dot.Name != otherName {
				continue
			}
			if got++; dot.Label.Formatter != c.want[dot.Name] {
				t.Errorf("%s: the dot %q says %q; want %q", c.name, dot.Name, dot.Label.Formatter, c.want[dot.Name])
			}
			if v := dot.Data[0].Value; dot.Name == otherName && (v[0] != 3 || v[1] != 1.5) {
				t.Errorf("%s: the other side stands at %v; want 3 GiB, ×1.5", c.name, v)
			}
		}
		if got != len(c.want) {
			t.Errorf("%s: %d dots; want %d", c.name, got, len(c.want))
		}
	}
}
