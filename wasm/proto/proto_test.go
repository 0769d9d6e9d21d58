package proto

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
)

// fill sets every field that it can reach to a random value that fits the width of its column, so that a
// forgotten or mixed-up column is noticed. depth limits the nesting of types that contain themselves.
func fill(rng *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Buffers]() {
			v.Set(reflect.ValueOf(*buffersOf(rng)))
			return
		}
		for i := range v.NumField() {
			fill(rng, v.Field(i), depth)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(rng, v.Index(i), depth)
		}
	case reflect.Slice:
		if n := rng.IntN(5); n > 0 && depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(rng, v.Index(i), depth-1)
			}
		}
	case reflect.Pointer:
		if rng.IntN(2) == 1 && depth > 0 &&
			v.Type() != reflect.TypeFor[*profiles.Profile]() { // decoded profiles are not sent
			v.Set(reflect.New(v.Type().Elem()))
			fill(rng, v.Elem(), depth-1)
		}
	case reflect.Map:
		if rng.IntN(2) == 1 {
			v.Set(reflect.ValueOf(engine.Args{"slots": fmt.Sprint(rng.IntN(9))}))
		}
	case reflect.Interface: // handles of the browser are not part of the message
	case reflect.String:
		v.SetString([]string{"", "rotor", "größte <&>"}[rng.IntN(3)])
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 1)
	case reflect.Float64:
		v.SetFloat(rng.NormFloat64())
	case reflect.Uint8:
		v.SetUint(uint64(rng.IntN(256)))
	case reflect.Int32, reflect.Int: // ints are indices into the schedule and event numbers, which are sent in 32 bits
		v.SetInt(int64(int32(rng.Uint32())))
	case reflect.Int64:
		v.SetInt(int64(rng.Uint64()))
	default:
		panic("fill: cannot set a " + v.Type().String() + "; the codec may lack it too")
	}
}

// filled returns a random value of the type of v.
func filled[T any](rng *rand.Rand, v T) T {
	out := reflect.New(reflect.TypeOf(v).Elem())
	fill(rng, out.Elem(), 4)
	return out.Interface().(T)
}

func randomTrace(rng *rand.Rand) *sim.Trace { return filled(rng, new(sim.Trace)) }

func randomSchedule(rng *rand.Rand) engine.Schedule { return *filled(rng, new(engine.Schedule)) }

// written returns the bytes that the codec function as writes for v.
func written[T any](as func(*codec, T), v T) []byte {
	var c codec
	as(&c, v)
	return c.buf
}

// again writes from with the codec function as and reads the bytes into to.
func again[T any](as func(*codec, T), from, to T) error {
	c := &codec{buf: written(as, from), reading: true}
	as(c, to)
	return c.end()
}

// TestTraceRoundTrip checks that every field of a trace and of a schedule is decoded as it was encoded.
func TestTraceRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		want, wantS := randomTrace(rng), randomSchedule(rng)
		got := new(sim.Trace)
		if err := again((*codec).trace, want, got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: trace\n got %+v (%v)\nwant %+v", seed, got, err, want)
		}
		var gotS engine.Schedule
		if err := again((*codec).schedule, &wantS, &gotS); err != nil || !reflect.DeepEqual(gotS, wantS) {
			t.Fatalf("seed %d: schedule\n got %+v (%v)\nwant %+v", seed, gotS, err, wantS)
		}
	}
}

// TestNoPointers checks that types whose values are sent as they lie in memory contain no pointers, which would
// be invalid for the receiver.
func TestNoPointers(t *testing.T) {
	for _, row := range []any{engine.Instruction{}, sim.Span{}, sim.Gap{}, sim.Sample{}, sim.Point{}, sim.Life{},
		sim.Decision(0), Piece{}, Moment{}, bufferRow{}, StepPass{}} {
		if field := pointerIn(reflect.TypeOf(row)); field != "" {
			t.Errorf("%T holds a pointer in %s; want numbers and booleans only", row, field)
		}
	}
}

// pointerIn returns the name of the first part of t that refers to memory outside its own bytes, or "".
func pointerIn(t reflect.Type) string {
	switch k := t.Kind(); {
	case k == reflect.Struct:
		for i := range t.NumField() {
			if name := pointerIn(t.Field(i).Type); name != "" {
				return t.Field(i).Name
			}
		}
		return ""
	case k == reflect.Array:
		return pointerIn(t.Elem())
	case k <= reflect.Complex128:
		return ""
	}
	return t.String()
}

// TestTraceTruncated checks that a message that is cut off anywhere, or that is too long, gives an error and does
// not panic.
func TestTraceTruncated(t *testing.T) {
	full := append(written((*codec).trace, randomTrace(rand.New(rand.NewPCG(7, 7)))), 0) // one byte too many
	for n := range len(full) + 1 {
		c, tr := &codec{buf: full[:n], reading: true}, new(sim.Trace)
		if c.trace(tr); (c.end() == nil) != (n == len(full)-1) {
			t.Fatalf("%d bytes of a trace that has %d: got %+v, %v; want an error for all but that", n, len(full)-1,
				tr, c.err)
		}
	}
}

// TestRoundTrip checks that every field of every request and of its replies is decoded as it was encoded, and
// that a message that is cut off gives an error.
func TestRoundTrip(t *testing.T) {
	for _, kind := range Requests() {
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 3))
			req := filled(rng, kind)
			if p, ok := req.(*Place); ok && p.Buffers != nil { // names are not sent, because allocators do not use them
				for i := range p.Buffers.List {
					p.Buffers.List[i].Name = ""
				}
			}
			messages := [][]byte{sent(t, req)}
			result, progress := kind.replies()
			for _, r := range []*Reply{
				{Value: filled(rng, progress)},
				{Final: true, Value: filled(rng, result)},
				{Final: true, Value: filled(rng, result), Failure: filled(rng, new(Failure))},
				{Final: true, Failure: filled(rng, new(Failure))},
			} {
				messages = append(messages, roundTrip(t, kind, r))
			}
			if seed > 0 {
				continue
			}
			cut(t, messages[0], func(b []byte) error { _, err := DecodeRequest(b); return err })
			for _, m := range messages[1:] {
				cut(t, m, func(b []byte) error { _, err := DecodeReply(kind, b); return err })
			}
		}
	}
}

// cut checks that no proper prefix of a message can be read.
func cut(t *testing.T, b []byte, read func([]byte) error) {
	t.Helper()
	for n := range b {
		if read(b[:n]) == nil {
			t.Fatalf("%d of %d bytes of a message: got no error", n, len(b))
		}
	}
}

// roundTrip encodes and decodes a reply to the request to. It returns the message.
func roundTrip(t *testing.T, to Request, want *Reply) []byte {
	t.Helper()
	b, err := EncodeReply(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeReply(to, b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("reply to %q\n got %+v (%v)\nwant %+v", Op(to), got, err, want)
	}
	return b
}

// sent encodes and decodes a request. It returns the message.
func sent(t *testing.T, want Request) []byte {
	t.Helper()
	b, err := EncodeRequest(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeRequest(b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("request %q\n got %+v (%v)\nwant %+v", Op(want), got, err, want)
	}
	return b
}

// TestRequests checks that Requests returns every type that embeds brings, and that each has its own name.
func TestRequests(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	embedding := regexp.MustCompile(`(?m)^type (\w+) struct \{\n\tbrings\[`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range embedding.FindAllStringSubmatch(string(text), -1) {
			want = append(want, "*proto."+m[1])
		}
	}
	names := map[string]bool{}
	for _, r := range Requests() {
		got = append(got, fmt.Sprintf("%T", r))
		names[Op(r)] = true
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(names) != len(got) {
		t.Errorf("%d names for %q; want one for each of %q", len(names), got, want)
	}
}

// TestProfileIsNotTouched checks that a profile is sent beside the JSON, byte for byte, and that a request
// without a network refuses a profile.
func TestProfileIsNotTouched(t *testing.T) {
	native := json.RawMessage(`{"format":"memtide/1",  "name":"<é>"}` + "\n")
	network := Setting{Network: Network{Profile: native, Graph: true}}
	for _, q := range []Request{&Solve{Setting: network}, &Sweep{Setting: network}, &Place{Setting: network},
		&Question{Setting: network}, &Export{Setting: network}} {
		if b := sent(t, q); !bytes.Contains(b, native) {
			t.Errorf("%q does not hold the profile as it is", Op(q))
		}
	}
	b, err := EncodeRequest(new(Step))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := DecodeRequest(append(b, written((*codec).raw, (*[]byte)(&native))...)); err == nil {
		t.Errorf("a profile with a request that has no network: got %+v, want an error", r)
	}
}

func FuzzDecodeReply(f *testing.F) {
	rng := rand.New(rand.NewPCG(5, 6))
	b, err := EncodeReply(&Reply{Final: true, Value: &Solved{Schedule: randomSchedule(rng), Trace: randomTrace(rng)}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeReply(new(Solve), b)
		if err != nil {
			return
		}
		again, err := EncodeReply(r)
		if err != nil {
			t.Fatalf("%+v was read but cannot be written: %v", r, err)
		}
		if r2, err := DecodeReply(new(Solve), again); err != nil || !reflect.DeepEqual(r, r2) {
			t.Fatalf("got %+v (%v), want %+v", r2, err, r)
		}
	})
}
