package native

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
	"memtide/profiles/parse"
)

// TestNativeGraphRoundTrip checks that any graph survives a round trip, wherever its values are when the step
// begins, alone and with a chain.
func TestNativeGraphRoundTrip(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 7))
		p := &profiles.Profile{Name: "g", Graph: randomGraph(rng)}
		if seed%3 == 0 {
			p.Chain = &engine.Chain{Name: "g",
				Stages: []engine.Stage{{Name: "a", Out: 5, Saved: 5}, {Name: parse.LossName}}}
		}
		checkBack(t, p)
	}
	// The graph of a chain has parts of values, operations that can keep only their output, and a value that ends
	// it.
	c := enginetest.RandomChain(enginetest.Rand(1), enginetest.Shape{MinStages: 5, MaxStages: 5})
	checkBack(t, &profiles.Profile{Name: "chain", Graph: &engine.ExpandChain(c).Graph})
	// An operation that must not run again, and one whose output-only form writes nothing.
	checkBack(t, &profiles.Profile{Name: "once",
		Graph: &engine.Graph{Done: engine.NoValue,
			Ops: []engine.Op{{Name: "random", Once: true}, {Name: "silent", OutputOnly: []engine.ValueID{}}}}})
}

// TestNativeLanes checks that operations of other lanes survive a round trip with their order, and that
// impossible lanes and orders are refused.
func TestNativeLanes(t *testing.T) {
	for seed := range uint64(200) {
		p, _ := enginetest.Lanes(rand.New(rand.NewPCG(seed, 8)), 1, time.Second, 1)
		for i := range p.Graph.Values {
			p.Graph.Stages = max(p.Graph.Stages, p.Graph.Values[i].Stage)
		}
		checkBack(t, &profiles.Profile{Name: "lanes", Graph: p.Graph})
	}
	for op, want := range map[string]string{
		`{"lane":"gpu"}`:      "The lanes are compute, network and cpu.",
		`{"after":[1]}`:       "The numbers of operations before this one",
		`{"after":["first"]}`: "The numbers of operations before this one",
	} {
		_, err := profiles.Decode("x",
			profiles.Bytes(`{"format":"memtide/1","kind":"graph","values":[],"ops":[{},`+op+`]}`), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v; want %q", op, err, want)
		}
	}
}

// TestLargeGraphComesBack checks that long lists, which are read item by item, survive a round trip.
func TestLargeGraphComesBack(t *testing.T) {
	g := &engine.Graph{Done: engine.NoValue}
	for i := range 20_000 {
		g.Values = append(g.Values, engine.Value{Name: fmt.Sprintf("output of operation %d", i), Size: 1 << 20,
			PartOf: engine.NoValue})
		g.Ops = append(g.Ops, engine.Op{Name: fmt.Sprintf("operation %d", i), Time: 1000,
			Out: []engine.ValueID{engine.ValueID(i)}})
	}
	checkBack(t, &profiles.Profile{Name: "large", Graph: g})
}

// checkBack writes p and checks that it is read back the same.
func checkBack(t *testing.T, p *profiles.Profile) {
	t.Helper()
	var out bytes.Buffer
	if err := Encode(&out, p); err != nil {
		t.Fatal(err)
	}
	q, err := profiles.Decode("x", profiles.Bytes(out.Bytes()), nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, out.Bytes())
	}
	if !reflect.DeepEqual(p.Graph, q.Graph) || !reflect.DeepEqual(p.Chain, q.Chain) ||
		!reflect.DeepEqual(p.Memory, q.Memory) {
		t.Fatalf("%s\ncomes back as\n%s\nby\n%s", formattest.Text(p), formattest.Text(q), out.Bytes())
	}
}

// randomGraph returns a graph whose operations read values that an earlier operation has made or that exist when
// the step begins.
func randomGraph(rng *rand.Rand) *engine.Graph {
	g := &engine.Graph{Done: engine.NoValue, Fixed: engine.Bytes(rng.IntN(3))}
	n := 2 + rng.IntN(12)
	for i := range n {
		v := engine.Value{Kind: engine.ValueKind(rng.IntN(3)), Size: engine.Bytes(rng.IntN(9)), Stage: rng.IntN(4),
			PartOf:  engine.NoValue,
			Initial: engine.Place(rng.IntN(4))}
		if i > 2 && rng.IntN(4) == 0 && g.Values[i-2].PartOf == engine.NoValue {
			v.PartOf = engine.ValueID(i - 2)
		}
		g.Stages = max(g.Stages, v.Stage)
		g.Values = append(g.Values, v)
	}
	made := map[engine.ValueID]bool{}
	for range 1 + rng.IntN(8) {
		op := engine.Op{Name: "op", Pass: engine.Pass(rng.IntN(2)), Time: time.Duration(rng.IntN(99)),
			Temp: engine.Bytes(rng.IntN(9))}
		for id := range engine.ValueID(n) {
			switch ready := made[id] || g.Values[id].Initial != 0; {
			case ready && rng.IntN(3) == 0:
				op.In = append(op.In, id)
			case !made[id] && rng.IntN(3) == 0:
				op.Out = append(op.Out, id)
				made[id] = true
			case rng.IntN(9) == 0:
				op.OutputOnly = append(op.OutputOnly, id)
			}
		}
		if rng.IntN(3) == 0 {
			op.Alt = &engine.Alt{Time: 7, Temp: 8}
		}
		g.Ops = append(g.Ops, op)
	}
	if rng.IntN(2) == 0 {
		g.Done = engine.ValueID(rng.IntN(n))
	}
	return g
}

// TestNativeGraphPlaces checks where values are by default when the step begins, and the errors for invalid
// references.
func TestNativeGraphPlaces(t *testing.T) {
	const file = `{"format":"memtide/1","kind":"graph","values":[
		{"id":"x","bytes":1,"role":"input"},{"id":"w","bytes":1,"role":"weight"},{"id":"dw","bytes":1,"role":"weight"},
		{"id":"y","bytes":1},{"id":"m","bytes":1,"role":"weight","at":"host"},{"id":"dy","bytes":1,"role":"gradient"},{"id":"part","bytes":1,"within":"y"}],
		"ops":[{"in":["x","w"],"out":["y"],"lean":["part"]},{"pass":"backward","in":["dy","y"],"out":["dw"]},{"pass":"backward","in":["w","dw","m"],"out":["w"]}]}`
	p, err := profiles.Decode("x", profiles.Bytes(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []engine.Place
	for _, v := range p.Graph.Values {
		got = append(got, v.Initial)
	}
	want := []engine.Place{engine.OnDevice, engine.OnDevice, 0, 0, engine.OnHost, engine.OnDevice, 0}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("places %v, want %v", got, want)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"at":"host"`, `"at":"moon"`,
			`values[4].at: at is "moon". When the step begins, a value is at device, host, both or nowhere.`},
		{`"within":"y"`, `"within":"z"`, `values[6].within: within is "z". The id of one of the values is expected.`},
		{`"within":"y"`, `"within":"part"`,
			`values[6].within: within is "part". A value may be within one that is not itself within another.`},
		{`"ops"`, `"done":"z","ops"`, `done is "z". The id of one of the values is expected.`},
		{`"lean":["part"]`, `"lean":["pat"]`,
			`ops[0].lean[0]: lean[0] is "pat". The id of one of the values is expected.`},
		{`"lean":["part"]`, `"alt":{"time_s":-1}`, `ops[0].alt.time_s: time_s is -1. Times cannot be negative.`},
	} {
		_, err := profiles.Decode("x", profiles.Bytes(strings.Replace(file, c.from, c.to, 1)), nil)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.to, err, c.want)
		}
	}
}

// TestNativeBuffers checks the errors for invalid buffers, with their places.
func TestNativeBuffers(t *testing.T) {
	const head = `{"format":"memtide/1","kind":"buffers",`
	for _, c := range []struct{ fields, want string }{
		{`"name":"x"`, "buffers is missing or not a list. A list of buffers is expected."},
		{`"buffers":[]`, "There are no buffers. At least one buffer is expected."},
		{`"buffers":[1]`, "buffers[0] is 1. An object with lower, upper and size is expected."},
		{`"buffers":[{"lower":0,"upper":1}]`, "buffers[0].size: size is missing. Every buffer has lower and size."},
		{`"buffers":[{"lower":3,"upper":3,"size":1}]`,
			"buffers[0].upper: upper is 3. A buffer lives from lower to before upper, which is above lower (3)."},
		{`"buffers":[{"lower":-1,"upper":3,"size":1}]`, "buffers[0].lower: lower is -1. Moments cannot be negative."},
		{`"buffers":[{"lower":0,"size":1.5}]`, "buffers[0].size: size is 1.5. Sizes are whole numbers of bytes."},
		{`"buffers":[{"lower":0,"size":1,"role":"king"}]`,
			`buffers[0].role: role is "king". The roles are weight, gradient, activation, recomputed, transfer and workspace.`},
		{`"buffers":[{"lower":0,"size":5,"addr":0,"took":4}]`,
			"buffers[0].took: took is 4. A buffer takes at least its size (5)."},
		{`"buffers":[{"lower":0,"size":5,"addr":0},{"lower":0,"size":5}]`,
			"buffers[1].addr: addr is missing, and other buffers have one. Either all buffers have an address or none; only what failed, and what came after it, may lack one."},
		{`"buffers":[{"lower":0,"size":5,"addr":0}],"failed":{"event":1}`,
			"failed.event: event is 1. The number of a request is expected; there are 1 events, counted from 0."},
		{`"capacity":-1,"buffers":[{"lower":0,"size":5}]`, "capacity is -1. Sizes cannot be negative."},
		{`"buffers":[` + strings.Repeat(`{"lower":0,"size":9007199254740992},`, 600) + `{"lower":0,"size":1}]`,
			"The sizes add up to 5.4e+18 bytes. The sizes of one training step are expected."},
	} {
		_, err := profiles.Decode("x", profiles.Bytes(head+c.fields+"}"), nil)
		if err == nil || err.Error() != c.want {
			t.Errorf("%.80s: %v, want %s", c.fields, err, c.want)
		}
		formattest.CheckProblems(t, err)
	}
}

// TestFirstRequestFailed checks that a recording in which the first request failed survives a round trip.
func TestFirstRequestFailed(t *testing.T) {
	p, err := profiles.Decode("x",
		profiles.Bytes(`{"format":"memtide/1","kind":"buffers","buffers":[{"lower":0,"size":5}],"pool":3,"failed":{"event":0,"bytes":5,"free":3,"largest":3}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if l := p.Memory.Recorded; l == nil || l.Failed == nil || l.Pool != 3 {
		t.Fatalf("got the layout %+v; want a pool of 3 bytes in which the request has failed", l)
	}
	checkBack(t, p)
}
