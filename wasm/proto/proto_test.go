package proto

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
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

// Every field of a trace and of a schedule comes back exactly.
func TestTraceRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		want, wantS := randomTrace(rng), randomSchedule(rng)
		got, err := DecodeTrace(EncodeTrace(want))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: trace\n got %+v (%v)\nwant %+v", seed, got, err, want)
		}
		gotS, err := DecodeSchedule(EncodeSchedule(wantS))
		if err != nil || !reflect.DeepEqual(gotS, wantS) {
			t.Fatalf("seed %d: schedule\n got %+v (%v)\nwant %+v", seed, gotS, err, wantS)
		}
	}
}

// A blob that is cut anywhere, or that is too long, is an error and no panic.
func TestTraceTruncated(t *testing.T) {
	full := EncodeTrace(randomTrace(rand.New(rand.NewPCG(7, 7))))
	for n := range full {
		if tr, err := DecodeTrace(full[:n]); err == nil {
			t.Fatalf("%d of %d bytes: got %+v, want an error", n, len(full), tr)
		}
	}
	if _, err := DecodeTrace(append(bytes.Clone(full), 0)); err == nil {
		t.Fatal("one byte too many: got no error")
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
	for _, want := range []*Reply{
		{Kind: KindResult, Solved: solved},
		{Kind: KindResult, Solved: &refused},
		{Kind: KindProgress, Solved: solved, Progress: &Progress{Done: 3, Total: 9, Best: true}},
		{Kind: KindFailure, Failure: &Failure{Kind: Infeasible, Text: "no", Budget: 3, Smallest: 5}},
		{Kind: KindProgress, Point: &Point{Method: 1, Index: 2, Done: 3, Total: 40, Strategy: "greedy", Budget: engine.NoLimit, Failure: Fail(Unsupported, "no link")}},
		{Kind: KindResult, Opened: &Opened{Profile: json.RawMessage(`{"format":"memtide/1"}`), Format: "csv", Lint: []string{"é"}, Totals: Totals{Stages: 3}}},
		{Kind: KindResult, Swept: &Swept{Points: 80}},
		{Kind: KindResult, Exported: &Exported{Text: []byte("PROGRAM = 'F1'\n\xff")}},
		{Kind: KindResult, Examined: &Examined{Alive: &doctor.Alive{At: 3, Flame: &doctor.Flame{Name: "all", Category: doctor.Weights, Bytes: 9}},
			Replay: &doctor.Replay{Setting: "expandable_segments:True", Fits: new(bool)}, More: true}},
	} {
		b, err := EncodeReply(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeReply(b)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("reply\n got %+v (%v)\nwant %+v", got, err, want)
		}
		for n := range b {
			if _, err := DecodeReply(b[:n]); err == nil {
				t.Fatalf("%d of %d bytes of a reply: got no error", n, len(b))
			}
		}
	}
}

func TestRequestRoundTrip(t *testing.T) {
	setting := Setting{Network: Network{Preset: "resnet101-b32"}, Device: engine.Device{Name: "V100", ToHost: 12e9, ToDev: 12e9, Duplex: engine.FullDuplex}, Transfers: engine.Streamed}
	method := Method{Strategy: "rotor", Args: engine.Args{"slots": "500"}}
	for _, want := range []*Request{
		{Op: OpOpen, Open: &Open{File: "a.csv", Bytes: []byte{0, 1, 255}}},
		{Op: OpOpen, Open: &Open{Preset: "vgg16-b64", Bytes: []byte{}}},
		{Op: OpSolve, Solve: &Solve{Setting: setting, Method: method, Budget: choice.Budget{Share: 60 * choice.Percent}, Limit: time.Second}},
		{Op: OpSweep, Sweep: &Sweep{Setting: setting, Methods: []Method{method}, Budgets: []choice.Budget{{Bytes: 7}, {Share: 1}}}},
		{Op: OpDoctor, Doctor: &Doctor{File: Open{File: "a.pickle", Bytes: []byte{0x80, 4}, Keep: 7, Device: new(int)}, Part: PartAlive, At: 11}},
		{Op: OpExport, Export: &Export{Setting: setting, Method: method, Budget: 7, Form: FormPython, Schedule: randomSchedule(rand.New(rand.NewPCG(5, 6)))}},
	} {
		b, err := EncodeRequest(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeRequest(b)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("request\n got %+v (%v)\nwant %+v", got, err, want)
		}
	}
}

// The profile of a network goes beside the JSON of every request that has one, byte
// for byte, and what has no network refuses one.
func TestProfileRoundTrip(t *testing.T) {
	native := json.RawMessage(`{"format":"memtide/1",  "name":"<é>"}` + "\n")
	setting := Setting{Network: Network{Profile: native, Graph: true}}
	schedule := randomSchedule(rand.New(rand.NewPCG(8, 9)))
	for _, want := range []*Request{
		{Op: OpSolve, Solve: &Solve{Setting: setting}},
		{Op: OpSweep, Sweep: &Sweep{Setting: setting, Budgets: []choice.Budget{{Bytes: 7}}}},
		{Op: OpPlace, Place: &Place{Setting: setting, Allocator: "caching", Schedule: schedule}},
		{Op: OpQuestion, Question: &Question{Setting: setting, Name: "help"}},
		{Op: OpExport, Export: &Export{Setting: setting, Schedule: schedule}},
	} {
		b, err := EncodeRequest(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeRequest(b)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v (%v)\nwant %+v", want.Op, got, err, want)
		}
		for _, n := range []int{len(b) - 1, len(b) - len(native)} {
			if _, err := DecodeRequest(b[:n]); err == nil {
				t.Errorf("%d of %d bytes of %s: got no error", n, len(b), want.Op)
			}
		}
	}
	b, err := encode(&Request{Op: OpOpen, Open: &Open{Preset: "x"}}, &native, [][]byte{nil})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := DecodeRequest(b); err == nil {
		t.Errorf("a profile with a request to open: got %+v, want an error", r)
	}
}

func FuzzDecodeReply(f *testing.F) {
	rng := rand.New(rand.NewPCG(5, 6))
	b, err := EncodeReply(&Reply{Kind: KindResult, Solved: &Solved{Schedule: randomSchedule(rng), Trace: randomTrace(rng)}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeReply(b)
		if err != nil {
			return
		}
		again, err := EncodeReply(r)
		if err != nil {
			t.Fatalf("%+v was read but cannot be written: %v", r, err)
		}
		if r2, err := DecodeReply(again); err != nil || !reflect.DeepEqual(r, r2) {
			t.Fatalf("got %+v (%v), want %+v", r2, err, r)
		}
	})
}
