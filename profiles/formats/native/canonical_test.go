package native

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/profiles"
)

// spaced is the same profile in a form that only the ordinary reader reads.
func spaced(t *testing.T, native []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, native, "", "\t"); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := canonicalStages(b.Bytes()); ok {
		t.Fatalf("an indented profile is taken for a canonical one:\n%s", b.Bytes())
	}
	return b.Bytes()
}

// Both readers of native profiles read the same, and the short one reads what the
// writer writes.
func TestCanonicalStages(t *testing.T) {
	for seed := range uint64(300) {
		rng := enginetest.Rand(seed)
		c := enginetest.RandomChain(rng,
			enginetest.Shape{MinStages: 2, MaxStages: 30, MaxSize: 1 << 45, MaxTime: 1 << 40})
		for i := range c.Stages {
			s := &c.Stages[i]
			s.Name = fmt.Sprintf("layer %d é", i)
			if rng.IntN(3) == 0 {
				s.Kind = "conv"
			}
			if rng.IntN(3) == 0 && i < len(c.Stages)-1 {
				s.Fast = &engine.Algorithm{Forward: s.Forward / 3, Back: s.Back / 7, FwdTemp: s.Saved, BwdTemp: 5}
			}
		}
		var native bytes.Buffer
		if err := Encode(&native, &profiles.Profile{Name: "a \"b\"", Batch: 3, Chain: c,
			Source: profiles.Source{Tool: "x"}}); err != nil {
			t.Fatal(err)
		}
		if _, _, ok := canonicalStages(native.Bytes()); !ok {
			t.Fatalf("seed %d: what was written is not read as canonical:\n%s", seed, native.Bytes())
		}
		got, err := profiles.Decode("", profiles.Bytes(native.Bytes()), nil)
		want, err2 := profiles.Decode("", profiles.Bytes(spaced(t, native.Bytes())), nil)
		if err != nil || err2 != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: read as canonical %+v (%v), as any file %+v (%v)\n%s", seed, got, err, want, err2,
				native.Bytes())
		}
	}
}

// What differs from the canonical form is read by the ordinary reader, with its
// values and its messages.
func TestNearlyCanonical(t *testing.T) {
	const stage = `{"name":"a","forward_s":0.001,"backward_s":0.25,"output_bytes":10,"saved_bytes":20,"grad_bytes":10,"forward_temp_bytes":0,"backward_temp_bytes":0}`
	file := func(stages ...string) string {
		return `{"format":"memtide/1","kind":"chain",` + "\n " + `"name":"x",` + "\n " + `"stages":[` + "\n  " +
			strings.Join(stages, ",\n  ") + `],` + "\n " + `"loss":` + stage + "}\n"
	}
	if _, _, ok := canonicalStages([]byte(file(stage, stage))); !ok {
		t.Fatalf("not read as canonical:\n%s", file(stage, stage))
	}
	change := func(from, to string) string { return strings.Replace(stage, from, to, 1) }
	for name, odd := range map[string]string{
		"an escape":         change(`"a"`, `"\u0061"`),
		"a space":           change(`,"b`, `, "b`),
		"an exponent":       change("0.001", "1e-3"),
		"below nanoseconds": change("0.001", "0.0010000004"),
		"no digits":         change("0.001", "1."),
		"a sign":            change("0.001", "-0.001"),
		"a zero in front":   change(":10", ":010"),
		"too large":         change(":10", ":12345678901234567890"),
		"a fraction":        change(":10", ":10.5"),
		"saved too small":   change(":20", ":5"),
		"a key is missing":  change(`"grad_bytes":10,`, ""),
		"an unknown key":    change(`"grad_bytes":10,`, `"grad_bytes":10,"colour":3,`),
		"no name":           change(`"a"`, `""`),
		"no object":         "3",
		"cut":               stage[:40],
		"not UTF-8":         change(`"a"`, "\"\xff\""),
	} {
		text := file(stage, odd)
		if _, _, ok := canonicalStages([]byte(text)); ok {
			t.Errorf("%s: read as canonical:\n%s", name, text)
		}
		got, err := profiles.Decode("", profiles.Bytes(text), nil)
		want, err2 := profiles.Decode("", profiles.Bytes(" "+text), nil) // a space in front: certainly not canonical
		if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Errorf("%s: got %+v (%v), want %+v (%v)", name, got, err, want, err2)
		}
	}
	// A list of stages that is not the profile's own is not taken for it.
	inner := strings.Replace(file(stage), "\n \"stages\"", "\n \"notes\":{\n \"stages\"", 1)
	inner = strings.Replace(inner, "],\n \"loss\"", "]}, \"stages\":[],\n \"loss\"", 1)
	if p, err := profiles.Decode("", profiles.Bytes(inner), nil); err == nil {
		t.Errorf("the stages of another object are read as the profile's: %+v\n%s", p, inner)
	}
}

// Cut anywhere, a canonical profile is an error that names the end of the file.
func TestCanonicalCut(t *testing.T) {
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

func BenchmarkCanonical(b *testing.B) {
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
