package link

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/preset"
)

// oddGraph returns a graph in which every field has a value.
func oddGraph() *profiles.Profile {
	g := &engine.Graph{Fixed: 1 << 33, Done: 3, Stages: 2, Values: []engine.Value{
		{Name: "in", Size: 7, Initial: engine.OnDevice | engine.OnHost, PartOf: engine.NoValue},
		{Name: "h.9/qkv10", Size: 1<<40 + 1, Stage: 1, PartOf: 2},
		{Name: "h.10/qkv10", Size: 0, Stage: 2, Kind: engine.KindWeight, PartOf: engine.NoValue},
		{Name: "", Size: 1, Kind: engine.KindGradient, PartOf: engine.NoValue},
	}, Ops: []engine.Op{
		{Name: "F h.9", Stage: 1, Time: 123456789, Temp: 5, In: []engine.ValueID{0}, Out: []engine.ValueID{2},
			OutputOnly: []engine.ValueID{1}, Alt: &engine.Alt{Time: 9, Temp: 8}, Once: true},
		{Name: "F h.10", Stage: 2, Time: 1, In: []engine.ValueID{1, 2, 0}, OutputOnly: []engine.ValueID{}},
		{Name: "B h.9", Pass: engine.Backward, In: []engine.ValueID{0, 0}, Out: []engine.ValueID{3},
			Alt: &engine.Alt{Time: 3, Temp: 2}},
		{Name: "step", Pass: engine.Backward, In: []engine.ValueID{3}, Once: true, Lane: engine.LaneCPU,
			After: []engine.OpID{2, 0}},
	}}
	return &profiles.Profile{Name: "odd", Batch: 3, Graph: g, Warnings: []string{"a warning"},
		Source: profiles.Source{Notes: []string{"a note"}, Times: profiles.Measured}}
}

// presetGraph returns the graph of a preset.
func presetGraph(t testing.TB, ref string) *profiles.Profile {
	t.Helper()
	p, batch, err := preset.Parse(ref)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := p.Profile(batch)
	if err != nil {
		t.Fatal(err)
	}
	return profile
}

// sameGraph checks that two profiles of graphs are equal, to the byte and the nanosecond.
func sameGraph(t *testing.T, name string, got, want *profiles.Profile) {
	t.Helper()
	if got == nil || got.Graph == nil {
		t.Fatalf("%s: no graph came back", name)
	}
	for i := range want.Graph.Ops {
		if !reflect.DeepEqual(got.Graph.Ops[i], want.Graph.Ops[i]) {
			t.Fatalf("%s: operation %d:\ngot  %+v\nwant %+v", name, i, got.Graph.Ops[i], want.Graph.Ops[i])
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, want)
	}
}

// TestGraphRoundTrip checks that a graph survives encoding and decoding, and is encoded to the same link again.
func TestGraphRoundTrip(t *testing.T) {
	odd := oddGraph()
	for name, p := range map[string]*profiles.Profile{"odd": odd, "resnet50": presetGraph(t, "resnet50-graph-b8"),
		"gpt2": presetGraph(t, "gpt2-medium-graph-b1")} {
		l := Link{}
		l.Profile, l.Kind = p, "graph"
		text := l.Sealed()
		back, notes := Parse(text)
		if len(notes) > 0 {
			t.Fatalf("%s: %q", name, notes)
		}
		sameGraph(t, name, back.Profile, p)
		if again := back.Sealed(); again != text {
			t.Errorf("%s: the link of what was read differs:\ngot  %s\nwant %s", name, again, text)
		}
	}
}

// TestOddGraphHasAll checks that oddGraph has a value in every field. A new field has to be encoded by graph.go
// and set by oddGraph.
func TestOddGraphHasAll(t *testing.T) {
	g := oddGraph().Graph
	filled := func(list reflect.Value) {
		of := list.Type().Elem()
		for field := range of.NumField() {
			some := false
			for i := range list.Len() {
				some = some || !list.Index(i).Field(field).IsZero()
			}
			if !some {
				t.Errorf("%s.%s is empty in all of them", of.Name(), of.Field(field).Name)
			}
		}
	}
	filled(reflect.ValueOf([]engine.Graph{*g}))
	filled(reflect.ValueOf(g.Values))
	filled(reflect.ValueOf(g.Ops))
	filled(reflect.ValueOf([]engine.Alt{*g.Ops[0].Alt}))
}

// TestGraphDamage checks that a cut or changed link of a graph is an error, and never another graph.
func TestGraphDamage(t *testing.T) {
	text := encodeBlob(oddGraph())
	for i := range text {
		if p, err := decodeBlob(text[:i], newBudget()); err == nil {
			t.Fatalf("%d of %d characters: %+v; want an error", i, len(text), p)
		}
		flipped := []byte(text)
		if flipped[i] = 'A'; text[i] == 'A' {
			flipped[i] = 'B'
		}
		if p, err := decodeBlob(string(flipped), newBudget()); err == nil {
			t.Fatalf("character %d changed: %+v; want an error", i, p)
		}
	}
}

// TestGraphBodies checks that a changed body with a valid checksum is refused or decoded to a valid graph, within
// the memory limit of links.
func TestGraphBodies(t *testing.T) {
	body := encodeGraph(oddGraph())
	for i := range body {
		for _, b := range [...]byte{0, 1, 0x7f, 0x80, 0xff} {
			bad := append([]byte{}, body...)
			bad[i] = b
			spent := allocated(func() {
				if p, err := decodeGraph(bad, newBudget()); err == nil && p.Graph.Validate() != nil {
					t.Errorf("byte %d is %d: %v", i, b, p.Graph.Validate())
				}
			})
			if spent > maxMemory {
				t.Errorf("byte %d is %d: %d bytes allocated; want at most %d", i, b, spent, maxMemory)
			}
		}
	}
}

// FuzzGraphBody decodes bodies of graphs and checks that all results are valid.
func FuzzGraphBody(f *testing.F) {
	f.Add(encodeGraph(oddGraph()))
	f.Add(encodeGraph(presetGraph(f, "vgg16-graph-b1")))
	f.Fuzz(func(t *testing.T, body []byte) {
		if p, err := decodeGraph(body, newBudget()); err == nil {
			if err := p.Graph.Validate(); err != nil {
				t.Errorf("%v", err)
			}
		}
	})
}

// TestGraphBlocksOnce checks that repeated blocks are encoded once: a link with ten times as many is at most
// twice as long.
func TestGraphBlocksOnce(t *testing.T) {
	few, many := len(encodeBlob(repeated(10))), len(encodeBlob(repeated(100)))
	t.Logf("10 blocks %d characters, 100 blocks %d", few, many)
	if many > 2*few {
		t.Errorf("10 blocks take %d characters and 100 take %d; want at most twice as many", few, many)
	}
}

// repeated returns a network of n blocks, each with eight operations and their backward.
func repeated(n int) *profiles.Profile {
	g := &engine.Graph{Done: engine.NoValue, Stages: n}
	value := func(name string, kind engine.ValueKind, size engine.Bytes) engine.ValueID {
		g.Values = append(g.Values, engine.Value{Name: name, Kind: kind, Size: size, PartOf: engine.NoValue})
		return engine.ValueID(len(g.Values) - 1)
	}
	last := value("x", engine.KindActivation, 1<<20)
	g.Values[last].Initial = engine.OnDevice
	for b := range n {
		first := last
		for i := range 8 {
			name := fmt.Sprintf("h.%d/op%d", b, i)
			in := []engine.ValueID{last}
			if i == 7 {
				in = append(in, first)
			}
			last = value(name, engine.KindActivation, engine.Bytes(1+i*i)<<20)
			g.Ops = append(g.Ops, engine.Op{Name: "F " + name, Stage: b + 1, Time: 1000 * 1000, In: in,
				Out: []engine.ValueID{last}})
		}
	}
	for i := len(g.Ops) - 1; i >= 0; i-- {
		f := g.Ops[i]
		grad := value("grad of "+f.Name, engine.KindGradient, g.Values[f.Out[0]].Size)
		g.Ops = append(g.Ops, engine.Op{Name: "B " + f.Name, Pass: engine.Backward, Stage: f.Stage, Time: 2000 * 1000,
			In: append([]engine.ValueID{last}, f.In...), Out: []engine.ValueID{grad}})
		last = grad
	}
	return &profiles.Profile{Name: "repeated", Graph: g}
}

// TestGraphSizes logs the lengths of links of real graphs, which are the figures in docs/links.md, and checks
// that none exceeds LongestGraph.
func TestGraphSizes(t *testing.T) {
	for _, ref := range strings.Fields("vgg16-graph-b64 resnet50-graph-b64 resnet101-graph-b32 densenet121-graph-b32 inception-v3-graph-b32 gpt2-medium-graph-b4") {
		if p, _, err := preset.Parse(ref); err != nil || p == nil {
			t.Logf("%s: %v", ref, err)
			continue
		}
		p := presetGraph(t, ref)
		n := len(encodeBlob(p))
		t.Logf("%-24s %5d operations %5d values %6d characters", ref, len(p.Graph.Ops), len(p.Graph.Values), n)
		if n > LongestGraph {
			t.Errorf("%s: %d characters; want at most %d", ref, n, LongestGraph)
		}
	}
}
