package chart

import (
	"encoding/json"
	"math"
	"memtide/web/link"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/web/display"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/tradeoff"
	"memtide/web/view"
)

// TestBothPoints checks that each side of a comparison has a dot that is labelled with its letter. The label also
// says if the other side is another network.
func TestBothPoints(t *testing.T) {
	network := &known.Network{Graph: new(engine.Graph)}
	picture := func(n *known.Network) *known.Picture {
		return &known.Picture{Network: n,
			Solved: &proto.Solved{Budget: 3 * engine.GiB, Trace: &sim.Trace{Makespan: 150 * ms},
				KeepAll: proto.Reference{StepTime: 100 * ms}}}
	}
	for _, c := range []struct {
		name  string
		other *known.Network
		onA   bool
		want  map[string]string // labels of the dots, by their names
	}{
		{"one network", network, false, map[string]string{shownName: "B", otherName: "A"}},
		{"controls on A", network, true, map[string]string{shownName: "A", otherName: "B"}},
		{"two networks", &known.Network{Graph: new(engine.Graph)}, false,
			map[string]string{shownName: "B", otherName: "A, another network"}},
		{"two networks, controls on A", &known.Network{Graph: new(engine.Graph)}, true,
			map[string]string{shownName: "A", otherName: "B, another network"}},
	} {
		p := example()
		p.Axis = tradeoff.Slowdown
		p.layAxis()
		s := &state.State{View: view.View{Look: link.Look{Axis: tradeoff.Slowdown}},
			Side:    state.Side{Network: network, Shown: picture(network)},
			Compare: &state.Compare{OnA: c.onA, Other: state.Side{Shown: picture(c.other)}}}
		p.compare(s)
		raw, err := p.Option(Look{Colours: display.Palette(display.Light)})
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

// twoNetworks returns a state with the curve of a network of 32 samples that needs 100 ms
// and 4 GiB when everything is kept, compared with a schedule of another network.
func twoNetworks(axis string, batch int, other *proto.Solved, otherBatch int) *state.State {
	s := state.New()
	s.Network = &known.Network{Graph: new(engine.Graph), Totals: proto.Totals{Batch: batch, KeepAllPeak: 4 * engine.GiB}}
	s.View.Axis = axis
	s.Choice.Strategy, s.View.Lines = "rotor", []string{}
	point := func(gib, step int) *proto.Point {
		return &proto.Point{Budget: engine.Bytes(gib) * engine.GiB, StepTime: ms * time.Duration(step)}
	}
	s.Curve = &tradeoff.Curve{Methods: []proto.Method{{Strategy: "rotor"}},
		Points:  [][]*proto.Point{{point(1, 130), point(4, 100)}},
		KeepAll: proto.Reference{Peak: 4 * engine.GiB, StepTime: 100 * ms}}
	o := &known.Network{Totals: proto.Totals{Batch: otherBatch}}
	s.Compare = &state.Compare{OnA: true,
		Other: state.Side{Network: o, Shown: &known.Picture{Network: o, Solved: other}}}
	return s
}

// TestAnotherNetworkHasItsOwnMeasure checks that the dot of another network stands at that network's own
// slowdown, step time or throughput, and that the axes include it. If this value is not known, there is no dot,
// and the note says why.
func TestAnotherNetworkHasItsOwnMeasure(t *testing.T) {
	solved := func(gib int, step, keepAll time.Duration) *proto.Solved {
		return &proto.Solved{Budget: engine.Bytes(gib) * engine.GiB, Trace: &sim.Trace{Makespan: step},
			KeepAll: proto.Reference{StepTime: keepAll}}
	}
	for _, c := range []struct {
		name         string
		axis         string
		batch        int
		other        *proto.Solved
		otherBatch   int
		want         float64 // expected value on the axis; 0 means that there is no dot
		words, notes string
	}{
		{"slowdown against its own", tradeoff.Slowdown, 32, solved(3, 600*ms, 400*ms), 64, 1.5,
			"600 ms per step in 3 GiB, ×1.5 against its own 400 ms, 107 samples/s",
			"own step time of keeping everything."},
		{"much slower and larger", tradeoff.Slowdown, 32, solved(24, 8000*ms, 400*ms), 64, 20, "×20 against",
			"slowdown"},
		{"its own step time", tradeoff.StepTime, 32, solved(3, 600*ms, 400*ms), 64, 600, "600 ms per step",
			"own step time."},
		{"much faster and smaller", tradeoff.StepTime, 32, solved(0, 6*ms, 4*ms), 64, 6, "6 ms per step",
			"own step time."},
		{"step time without a reference", tradeoff.StepTime, 32, solved(3, 600*ms, 0), 64, 600,
			"600 ms per step in 3 GiB, 107", "own step time."},
		{"its own throughput", tradeoff.Throughput, 32, solved(3, 500*ms, 400*ms), 64, 128, "128 samples/s",
			"own throughput."},
		{"a much higher throughput", tradeoff.Throughput, 32, solved(9, 5*ms, 4*ms), 64, 12800, "samples/s",
			"own throughput."},
		{"a much lower throughput", tradeoff.Throughput, 32, solved(9, 50000*ms, 400*ms), 1, 0.02, "samples/s",
			"own throughput."},
		{"steps per second", tradeoff.Throughput, 0, solved(3, 500*ms, 400*ms), 64, 2, "", "own throughput."},
		{"no batch size", tradeoff.Throughput, 32, solved(3, 500*ms, 400*ms), 0, 0,
			"500 ms per step in 3 GiB, ×1.25 against its own 400 ms", "not in the chart: its batch size is not known"},
		{"no reference", tradeoff.Slowdown, 32, solved(3, 500*ms, 0), 64, 0,
			"500 ms per step in 3 GiB, 128 samples/s",
			"not in the chart: its step time of keeping everything is not known."},
	} {
		s := twoNetworks(c.axis, c.batch, c.other, c.otherBatch)
		b, p := OtherSide(s), New(s, 516, 248)
		if b == nil || !b.Another || !strings.Contains(b.Words, c.words) ||
			!strings.HasPrefix(b.Note, "B is another network") || !strings.Contains(b.Note, c.notes) {
			t.Errorf("%s: %+v; want the words %q and the note %q", c.name, b, c.words, c.notes)
			continue
		}
		if c.want == 0 {
			if p.Other.StepTime != 0 || b.At.StepTime != 0 {
				t.Errorf("%s: it stands at %+v; want it not in the chart", c.name, p.Other)
			}
			continue
		}
		if got := p.value(p.Other, float64(engine.GiB))[1]; math.Abs(got/c.want-1) > 1e-6 {
			t.Errorf("%s: it stands at %v on the axis; want %v", c.name, got, c.want)
		}
		if x, y := p.X(p.Other.Budget),
			p.Y(p.Other.StepTime); !(x >= p.left()-0.01 && x <= p.Width-right-5 && y >= top+3 &&
			y <= p.Height-bottom-3) || !p.OtherAt(x+2, y-2) || p.OtherAt(x+30, y) {
			t.Errorf("%s: the dot is at %.1f, %.1f, and can be pointed at there: %v; want it in the plot", c.name, x,
				y, p.OtherAt(x, y))
		}
		if x, y := p.X(4*engine.GiB),
			p.Y(100*ms); !(x >= p.left() && x <= p.Width-right && y >= top && y <= p.Height-bottom) {
			t.Errorf("%s: keeping everything is at %.1f, %.1f; want it in the plot too", c.name, x, y)
		}
		if r := p.letterRects(); len(r) != 1 || r[0].x0 < 0 || r[0].x1 > p.Width {
			t.Errorf("%s: its name stands at %+v; want it in the picture", c.name, r)
		}
	}
}

// TestOtherSideOfTheSameNetwork checks that a schedule of the same network has a dot without a note, and that
// there is no dot while the other side has no schedule.
func TestOtherSideOfTheSameNetwork(t *testing.T) {
	s := twoNetworks(tradeoff.Slowdown, 32,
		&proto.Solved{Budget: 3 * engine.GiB, Trace: &sim.Trace{Makespan: 700 * ms},
			KeepAll: proto.Reference{StepTime: 100 * ms}}, 32)
	s.Compare.Other.Shown.Network = s.Network
	b, p := OtherSide(s), New(s, 516, 248)
	if b == nil || b.Another || b.Note != "" || b.Words != "700 ms per step in 3 GiB, ×7, 45.7 samples/s" {
		t.Errorf("%+v; want B's numbers and no note", b)
	}
	if y := p.Y(p.Other.StepTime); p.Another || y < top || y > p.Height-bottom {
		t.Errorf("B is at %.1f; want it in the plot, %.1f to %.1f, however slow it is", y, top, p.Height-bottom)
	}
	s.Compare.Other.Shown = nil
	if b, p := OtherSide(s), New(s, 516, 248); b != nil || p.Other.StepTime != 0 {
		t.Errorf("without a schedule: %+v, at %+v; want nothing", b, p.Other)
	}
}
