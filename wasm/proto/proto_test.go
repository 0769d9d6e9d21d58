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
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles/doctor"
	"memtide/web/choice"
)

// fill sets every field that it can reach to a random number that survives the
// width of its column, so that a forgotten or a mixed-up column shows.
func fill(rng *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rng, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(rng, v.Index(i))
		}
	case reflect.Slice:
		if n := rng.IntN(5); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(rng, v.Index(i))
			}
		}
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 1)
	case reflect.Uint8:
		v.SetUint(uint64(rng.IntN(256)))
	case reflect.Int32, reflect.Int: // int: indices into the schedule and event numbers
		v.SetInt(int64(int32(rng.Uint32())))
	case reflect.Int64:
		v.SetInt(int64(rng.Uint64()))
	default:
		panic("fill: cannot set a " + v.Type().String() + "; the codec may lack it too")
	}
}

func randomTrace(rng *rand.Rand) *sim.Trace {
	t := new(sim.Trace)
	fill(rng, reflect.ValueOf(t).Elem())
	return t
}

func randomSchedule(rng *rand.Rand) (s engine.Schedule) {
	fill(rng, reflect.ValueOf(&s).Elem())
	return s
}

// written is what a description writes of a value.
func written[T any](as func(*codec, T), v T) []byte {
	var c codec
	as(&c, v)
	return c.buf
}

// again writes one value and reads it into another one.
func again[T any](as func(*codec, T), from, to T) error {
	c := &codec{buf: written(as, from), reading: true}
	as(c, to)
	return c.end("it")
}

// Every field of a trace and of a schedule comes back exactly.
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

// A blob that is cut anywhere, or that is too long, is an error and no panic.
func TestTraceTruncated(t *testing.T) {
	full := append(written((*codec).trace, randomTrace(rand.New(rand.NewPCG(7, 7)))), 0) // one byte too many
	for n := range len(full) + 1 {
		c, tr := &codec{buf: full[:n], reading: true}, new(sim.Trace)
		if c.trace(tr); (c.end("a trace") == nil) != (n == len(full)-1) {
			t.Fatalf("%d bytes of a trace that has %d: got %+v, %v; want an error for all but that", n, len(full)-1, tr, c.err)
		}
	}
}

func TestReplyRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	solved := &Solved{
		Strategy: "rotor", Budget: 12 * engine.GiB,
		Claim:   Claim{StepTime: 612 * time.Millisecond, Peak: 11 * engine.GiB, Optimal: true, Within: "persistent", Notes: []string{"exact"}},
		Verdict: Verdict{Verified: true}, Bounds: []Bound{{"compute", time.Second}}, KeepAll: Reference{time.Second, 20 * engine.GiB},
		Schedule: randomSchedule(rng), Trace: randomTrace(rng),
	}
	refused := *solved
	refused.Trace, refused.Verdict = nil, Verdict{Problem: "deadlock"}
	for _, c := range []struct {
		to   Request
		want *Reply
	}{
		{new(Solve), &Reply{Final: true, Value: solved}},
		{new(Solve), &Reply{Final: true, Value: &refused}},
		{new(Solve), &Reply{Value: &Solving{Progress{3, 9}, solved}}},
		{new(Solve), &Reply{Value: &Solving{Progress: Progress{Done: 3}}}},
		{new(Solve), &Reply{Final: true, Failure: &Failure{Kind: Infeasible, Text: "no", Budget: 3, Smallest: 5}}},
		{new(Solve), &Reply{Final: true, Value: solved, Failure: Fail(Deadline, "stopped")}},
		{new(Sweep), &Reply{Value: &Point{Method: 1, Index: 2, Done: 3, Total: 40, Strategy: "greedy", Budget: engine.NoLimit, Failure: Fail(Unsupported, "no link")}}},
		{new(Sweep), &Reply{Final: true, Value: &Swept{Points: 80}}},
		{new(Open), &Reply{Final: true, Value: &Opened{Profile: json.RawMessage(`{"format":"memtide/1"}`), Format: "csv", Lint: []string{"é"}, Totals: Totals{Stages: 3}}}},
		{new(Question), &Reply{Value: &Answering{Answer: &Answer{Index: 3, Strategy: "rotor", Done: 4}}}},
		{new(Question), &Reply{Final: true, Value: &Answered{Answers: 4}}},
		{new(Export), &Reply{Final: true, Value: &Exported{Text: []byte("PROGRAM = 'F1'\n\xff")}}},
		{new(Doctor), &Reply{Final: true, Value: &Examined{Alive: &doctor.Alive{At: 3, Flame: &doctor.Flame{Name: "all", Category: doctor.Weights, Bytes: 9}},
			Replay: &doctor.Replay{Setting: "expandable_segments:True", Fits: new(bool)}, More: true}}},
		{new(Step), &Reply{Value: &Stepped{Name: "gpt2", Done: 1}}},
		{new(Step), &Reply{Final: true, Value: &Stepped{Profile: json.RawMessage(`{}`)}}},
	} {
		cut(t, roundTrip(t, c.to, c.want), func(b []byte) error { _, err := DecodeReply(c.to, b); return err })
	}
}

// cut reads every beginning of a message, none of which is one.
func cut(t *testing.T, b []byte, read func([]byte) error) {
	t.Helper()
	for n := range b {
		if read(b[:n]) == nil {
			t.Fatalf("%d of %d bytes of a message: got no error", n, len(b))
		}
	}
}

// roundTrip writes a reply to a request and reads it again. It returns the message.
func roundTrip(t *testing.T, to Request, want *Reply) []byte {
	t.Helper()
	b, err := EncodeReply(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeReply(to, b)
	if err != nil || !reflect.DeepEqual(normal(got), normal(want)) {
		t.Errorf("reply to %q\n got %+v (%v)\nwant %+v", to.Op(), got, err, want)
	}
	return b
}

func TestRequestRoundTrip(t *testing.T) {
	setting := Setting{Network: Network{Preset: "resnet101-b32"}, Device: engine.Device{Name: "V100", ToHost: 12e9, ToDev: 12e9, Duplex: engine.FullDuplex}, Transfers: engine.Streamed}
	method := Method{Strategy: "rotor", Args: engine.Args{"slots": "500"}}
	for _, want := range []Request{
		&Open{File: "a.csv", Bytes: []byte{0, 1, 255}},
		&Open{Preset: "vgg16-b64"},
		&Solve{Setting: setting, Method: method, Budget: choice.Budget{Share: 60 * choice.Percent}, Limit: time.Second},
		&Sweep{Setting: setting, Methods: []Method{method}, Budgets: []choice.Budget{{Bytes: 7}, {Share: 1}}},
		&Question{Setting: setting, Method: method, Name: "help", Methods: []Method{method}, Slowdown: 3},
		&Doctor{File: Open{File: "a.pickle", Bytes: []byte{0x80, 4}, Keep: 7, Device: new(int)}, Part: PartAlive, At: 11},
		&Export{Setting: setting, Method: method, Budget: 7, Form: FormPython, Schedule: randomSchedule(rand.New(rand.NewPCG(5, 6)))},
		&Step{Model: "gpt2", Args: engine.Args{"seq": "1"}, Chain: true},
		&Break{How: "panic"},
	} {
		cut(t, sent(t, want), func(b []byte) error { _, err := DecodeRequest(b); return err })
	}
}

// sent writes a request and reads it again. It returns the message.
func sent(t *testing.T, want Request) []byte {
	t.Helper()
	b, err := EncodeRequest(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeRequest(b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("request %q\n got %+v (%v)\nwant %+v", want.Op(), got, err, want)
	}
	return b
}

// Every type with a name for messages is among those that can be read, under a name of its own.
func TestRequests(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func \((\*\w+)\) Op\(\)`).FindAllStringSubmatch(string(text), -1) {
			want = append(want, strings.Replace(m[1], "*", "*proto.", 1))
		}
	}
	names := map[string]bool{}
	for _, r := range Requests() {
		got = append(got, fmt.Sprintf("%T", r))
		names[r.Op()] = true
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(names) != len(got) {
		t.Errorf("%d names for %q; want one for each of %q", len(names), got, want)
	}
}

// The profile of a network goes beside the JSON of every request that has one, byte
// for byte, and what has no network refuses one.
func TestProfileRoundTrip(t *testing.T) {
	native := json.RawMessage(`{"format":"memtide/1",  "name":"<é>"}` + "\n")
	setting := Setting{Network: Network{Profile: native, Graph: true}}
	schedule := randomSchedule(rand.New(rand.NewPCG(8, 9)))
	for _, want := range []Request{
		&Solve{Setting: setting},
		&Sweep{Setting: setting, Budgets: []choice.Budget{{Bytes: 7}}},
		&Place{Setting: setting, Allocator: "caching", Schedule: schedule},
		&Question{Setting: setting, Name: "help"},
		&Export{Setting: setting, Schedule: schedule},
	} {
		if b := sent(t, want); !bytes.Contains(b, native) {
			t.Errorf("%q does not hold the profile as it is", want.Op())
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
