package native

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
	"memtide/profiles/parse"
)

// TestNativeRoundTrip checks that any chain survives a round trip to the nanosecond and the byte, with everything
// else in its profile.
func TestNativeRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		p := randomProfile(rand.New(rand.NewPCG(seed, 1)))
		var first, second bytes.Buffer
		if err := Encode(&first, p); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		q, err := profiles.Decode("another name.json", profiles.Bytes(first.Bytes()), nil)
		if err != nil {
			t.Fatalf("seed %d: %v in\n%s", seed, err, first.Bytes())
		}
		// Decode sets these fields, so they are not part of what was written.
		q.Format, q.Warnings = p.Format, p.Warnings
		if !reflect.DeepEqual(p, q) {
			t.Fatalf("seed %d: what was written (-) is read as (+):\n%s", seed,
				cmp.Diff(formattest.Text(p), formattest.Text(q)))
		}
		if err := Encode(&second, q); err != nil || first.String() != second.String() {
			t.Fatalf("seed %d: written again (%v)\n%s\nfirst\n%s", seed, err, second.Bytes(), first.Bytes())
		}
	}
}

// randomProfile returns a valid profile with numbers of all magnitudes.
func randomProfile(rng *rand.Rand) *profiles.Profile {
	number := func() int64 { return rng.Int64N(1 << (1 + rng.IntN(48))) }
	size := func() engine.Bytes { return engine.Bytes(number()) }
	word := func() string {
		return []string{"", "a", `"q"`, "a\\b", "<&>", "ü\u00a0", "loss", "stage 1"}[rng.IntN(8)]
	}
	p := &profiles.Profile{Name: word(), Batch: rng.IntN(3), DType: word(),
		Source: profiles.Source{Tool: word(), Times: profiles.Measured, Sizes: profiles.Exact, Device: word(),
			URL: word(), Notes: []string{word(), "note"}}}
	if rng.IntN(2) == 0 {
		p.Device = &engine.Device{Name: word(), Memory: size(), ToHost: engine.Rate(number()),
			ToDev:  engine.Rate(number()),
			Duplex: engine.Duplex(rng.IntN(2))}
	}
	p.Chain = &engine.Chain{Name: p.Name, Batch: p.Batch, Input: size(), InputGrad: size(),
		LossGradAllocated: rng.IntN(4) == 0,
		Resident:          engine.Resident{Weights: size(), Grads: size(), Optimizer: size(), Pinned: size()}}
	for range 2 + rng.IntN(20) {
		s := engine.Stage{Name: word(), Kind: word(), Forward: time.Duration(number()), Back: time.Duration(number()),
			Out: size(), Grad: size(), FwdTemp: size(), BwdTemp: size()}
		s.Saved = s.Out + size()
		if rng.IntN(3) == 0 {
			s.Fast = &engine.Algorithm{Forward: time.Duration(number()), Back: time.Duration(number()),
				FwdTemp: size(), BwdTemp: size()}
		}
		p.Chain.Stages = append(p.Chain.Stages, s)
	}
	return p
}

// TestEncodeRefuses checks that a profile without a stage is not written.
func TestEncodeRefuses(t *testing.T) {
	for _, p := range []*profiles.Profile{
		{Name: "nothing"},
		{Name: "only a loss", Chain: &engine.Chain{Stages: []engine.Stage{{Name: parse.LossName}}}},
	} {
		var out bytes.Buffer
		if err := Encode(&out, p); err == nil || out.Len() > 0 {
			t.Errorf("Encode(%s) = %v, wrote %q; want an error and nothing", p.Name, err, out.String())
		}
	}
}

// TestFormatAnywhere checks that the key format may come after others, but counts only in the outer object.
func TestFormatAnywhere(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{`{"format":"memtide/1"}`, "memtide/1"},
		{`{"name":"format","batch":1,"a":{"format":"no"},"b":["format","no"],"format":"memtide/7"`, "memtide/7"},
		{`{"format":{"a":1},"format":"memtide/1"}`, ""},
		{`{"a":{"format":"memtide/1"}}`, ""},
		{`["format","memtide/1"]`, ""},
		{`{"a":1`, ""},
		{`{"format"`, ""},
		{``, ""},
	} {
		if got := FormatOf([]byte(c.input)); got != c.want {
			t.Errorf("nativeFormat(%s) = %q, want %q", c.input, got, c.want)
		}
	}
}

// TestIsNative checks that content that names the format is claimed, also if the name has escapes or comes late,
// and that other content is not.
func TestIsNative(t *testing.T) {
	for _, c := range []struct {
		input string
		want  bool
	}{
		{`{"format":"memtide/1"}`, true},
		{`{"format":"memtide\/1"}`, true},
		{`{"format":"\u006demtide/1"}`, true},
		{`{"name":"x","format":"memtide/9"`, true},
		{`{"name":"memtide/1"}`, false},
		{`{"traceEvents":[{"name":"memtide/1"}]}`, false},
		{`memtide`, false},
	} {
		if got := Claims([]byte(c.input)); got != c.want {
			t.Errorf("isNative(%s) = %t, want %t", c.input, got, c.want)
		}
	}
}

func ExampleEncode() {
	p, err := profiles.Decode("net.csv",
		profiles.Bytes("name,forward_s,backward_s,output_bytes,saved_bytes\nconv,2e-3,0.0040000005,65536,65536\n"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := Encode(os.Stdout, p); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"format":"memtide/1","kind":"chain",
	//  "name":"net",
	//  "source":{},
	//  "input_bytes":0,"input_grad_bytes":0,
	//  "resident":{"weights":0,"grads":0,"optimizer":0,"pinned":0},
	//  "stages":[
	//   {"name":"conv","forward_s":0.002,"backward_s":0.004000001,"output_bytes":65536,"saved_bytes":65536,"grad_bytes":65536,"forward_temp_bytes":0,"backward_temp_bytes":0}],
	//  "loss":{"name":"loss","forward_s":0,"backward_s":0,"output_bytes":0,"saved_bytes":0,"grad_bytes":0,"forward_temp_bytes":0,"backward_temp_bytes":0}}
}

// TestRefusedTakesNothing checks that a buffer whose request was refused takes no memory, whatever a file says.
func TestRefusedTakesNothing(t *testing.T) {
	text, err := os.ReadFile("testdata/buffers.json")
	if err != nil {
		t.Fatal(err)
	}
	dump := func(text []byte) string {
		p, err := profiles.Decode("buffers.json", profiles.Bytes(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return formattest.Text(p)
	}
	want := dump(text)
	if got := dump(bytes.Replace(text, []byte(`"size":4096}`), []byte(`"size":4096,"took":4096}`), 1)); got != want {
		t.Errorf("with a taken size of what was refused:\n%s\nwant\n%s", got, want)
	}
}

// TestCut checks that a profile that is cut at any byte is an error.
func TestCut(t *testing.T) {
	var native bytes.Buffer
	c := enginetest.RandomChain(enginetest.Rand(1),
		enginetest.Shape{MinStages: 3, MaxStages: 3, MaxSize: 1 << 20, MaxTime: 1 << 20})
	if err := Encode(&native, &profiles.Profile{Name: "x", Chain: c}); err != nil {
		t.Fatal(err)
	}
	full := bytes.TrimSpace(native.Bytes())
	for n := range full {
		if p, err := profiles.Decode("x.json", profiles.Bytes(full[:n]), nil); err == nil {
			t.Fatalf("%d of %d bytes are read as %+v; want an error", n, len(full), p)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	c := &engine.Chain{Name: "x"}
	for i := range 20_000 {
		c.Stages = append(c.Stages, engine.Stage{Name: fmt.Sprintf("layer%d", i), Forward: 123456, Back: 234567,
			Out: 1 << 20, Saved: 2 << 20, Grad: 1 << 20})
	}
	var native bytes.Buffer
	if err := Encode(&native, &profiles.Profile{Name: "x", Chain: c}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(native.Len()))
	for b.Loop() {
		if _, err := profiles.Decode("", profiles.Bytes(native.Bytes()), nil); err != nil {
			b.Fatal(err)
		}
	}
}
