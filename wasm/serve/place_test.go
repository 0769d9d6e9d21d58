package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// four returns four buffers whose lives overlap in pairs. At the peak 8 bytes are alive.
func four() *proto.Buffers {
	const a, b, c, d = 3, 1, 2, 6
	list := []alloc.Buffer{
		{Name: "w", Bytes: a, Start: 0, End: 2}, {Name: "x", Bytes: b, Start: 1, End: 4},
		{Name: "y", Bytes: c, Start: 3, End: 6}, {Name: "z", Bytes: d, Start: 5, End: 7, Kind: sim.Gradient},
	}
	return &proto.Buffers{List: list, Tick: time.Microsecond}
}

func placed(t *testing.T, q *proto.Place) (*proto.Placed, error) {
	t.Helper()
	return placedIn(t.Context(), q)
}

func placedIn(ctx context.Context, q *proto.Place) (*proto.Placed, error) {
	return proto.Do(ctx, new(Local).Do, q, nil)
}

func TestPlaceBuffers(t *testing.T) {
	for _, a := range alloc.Allocators() {
		p, err := placed(t, &proto.Place{Buffers: four(), Allocator: a.Name})
		if err != nil {
			t.Errorf("%s: %v", a.Name, err)
			continue
		}
		if p.Allocator != a.Name || p.Fixed || p.Failed != nil || p.Peak != 8 || p.PeakAt != 5*time.Microsecond ||
			p.Pool < p.Peak {
			t.Errorf("%s: got %+v, want all 4 buffers in a pool of at least 8", a.Name, p)
		}
		if !p.Verdict.Verified || p.Unchecked {
			t.Errorf("%s: not verified: %q", a.Name, p.Verdict.Problem)
		}
		if n := len(p.Moments); n != 8 || p.Moments[n-1].Used != 0 || p.Moments[n-1].At != 7*time.Microsecond {
			t.Errorf("%s: %d moments that end with %+v; want 8, the last empty", a.Name, n, p.Moments[n-1])
		}
	}
}

// TestPlaceFails checks the answer for a pool that is too small for best fit: the request that fails, the largest
// hole, which is too small for it, and a size of the pool that would be enough.
func TestPlaceFails(t *testing.T) {
	// The first two buffers are placed at 0 and 3. When the first is freed, holes of 3 and 4 bytes are left, and
	// 5 are asked for.
	b := &proto.Buffers{Tick: 1, List: []alloc.Buffer{
		{Bytes: 3, Start: 0, End: 2}, {Bytes: 1, Start: 1, End: 9}, {Bytes: 5, Start: 3, End: 9},
	}}
	p, err := placed(t, &proto.Place{Buffers: b, Pool: 8, Allocator: "best-fit"})
	if err != nil {
		t.Fatal(err)
	}
	f := p.Failed
	if f == nil || f.Bytes != 5 || f.Largest != 4 || f.Free != 7 || p.FailAt != 3 {
		t.Fatalf("got %+v, want 5 bytes to fail for a largest hole of 4 of 7", f)
	}
	if want := (proto.Hole{Addr: 4, Bytes: 4}); p.Largest != want {
		t.Errorf("the largest hole is %+v, want %+v", p.Largest, want)
	}
	if p.Needs != 9 || p.Pool != 8 {
		t.Errorf("a pool of %d would do instead of %d, want 9 instead of 8", p.Needs, p.Pool)
	}
	if len(p.Pieces) != 2 || !p.Verdict.Verified {
		t.Errorf("%d pieces, %+v; want the 2 before the failure, verified", len(p.Pieces), p.Verdict)
	}
	// In 8 bytes an optimal placement exists. The smallest one needs 6, so in 5 none exists. This is proven, and
	// the one in 6 is returned.
	if p, err = placed(t, &proto.Place{Buffers: b, Pool: 8, Allocator: "optimal"}); err != nil || p.NoneFits ||
		p.Failed != nil {
		t.Errorf("optimal in 8: got %+v, %v; want a placement", p, err)
	}
	if p, err = placed(t, &proto.Place{Buffers: b, Pool: 5, Allocator: "optimal"}); err != nil || !p.NoneFits ||
		p.Top != 6 || p.Pool != 5 {
		t.Errorf("optimal in 5: got %+v, %v; want the proof, and a placement in 6", p, err)
	}
}

// TestPlaceChunks checks that in physical chunks the adjacent chunks of one buffer form one piece.
func TestPlaceChunks(t *testing.T) {
	const mib = engine.MiB
	b := &proto.Buffers{Tick: 1, List: []alloc.Buffer{
		{Bytes: 2 * mib, Start: 0, End: 3}, {Bytes: 2 * mib, Start: 1, End: 9}, {Bytes: 2 * mib, Start: 2, End: 9},
		{Bytes: 6 * mib, Start: 4, End: 9},
	}}
	p, err := placed(t, &proto.Place{Buffers: b, Allocator: "va", Args: engine.Args{"chunk": "2"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []proto.Piece{
		{Buffer: 0, Addr: 0, Bytes: 2 * mib}, {Buffer: 1, Addr: 2 * mib, Bytes: 2 * mib},
		{Buffer: 2, Addr: 4 * mib, Bytes: 2 * mib},
		{Buffer: 3, Addr: 0, Bytes: 2 * mib}, {Buffer: 3, Addr: 6 * mib, Bytes: 4 * mib},
	}
	if len(p.Pieces) != len(want) {
		t.Fatalf("got %+v, want %+v", p.Pieces, want)
	}
	for i := range want {
		if p.Pieces[i] != want[i] {
			t.Errorf("piece %d: got %+v, want %+v", i, p.Pieces[i], want[i])
		}
	}
	if p.Pool != 10*mib || p.Chunk != 2*mib {
		t.Errorf("a pool of %d in chunks of %d, want 10 MiB in chunks of 2 MiB", p.Pool, p.Chunk)
	}
}

// TestPlaceSchedule places the buffers of a schedule. The pool is the budget less the resident memory, and the
// buffers are numbered like the lives of the trace.
func TestPlaceSchedule(t *testing.T) {
	r, err := proto.Do(context.Background(), new(Local).Do,
		solveWith("rotor", choice.Budget{Share: 70 * choice.Percent}), nil)
	if err != nil {
		t.Fatal(err)
	}
	q := &proto.Place{Setting: setting("resnet50-b8"), Budget: r.Budget, Schedule: r.Schedule, Allocator: "optimal"}
	p, err := placedIn(engine.LimitCalls(t.Context(), 100_000), q)
	if err != nil {
		t.Fatal(err)
	}
	if p.Resident+p.Peak != r.Trace.Peak || p.PeakAt != r.Trace.PeakAt {
		t.Errorf("%d bytes resident and %d at the peak at %v; want %d together at %v", p.Resident, p.Peak, p.PeakAt,
			r.Trace.Peak, r.Trace.PeakAt)
	}
	if p.Pool != r.Budget-p.Resident || p.Top > p.Pool || !p.Verdict.Verified {
		t.Errorf("a pool of %d of which %d are needed, %+v; want %d, verified", p.Pool, p.Top, p.Verdict,
			r.Budget-p.Resident)
	}
	for i, x := range p.Pieces {
		if want := r.Trace.Lives[x.Buffer].Bytes; x.Bytes != want {
			t.Errorf("piece %d of buffer %d has %d bytes, want %d", i, x.Buffer, x.Bytes, want)
		}
	}
}

// TestPlaceOrder checks that the order of requests, an argument of the allocator, has an effect.
func TestPlaceOrder(t *testing.T) {
	req := solveWith("greedy", choice.Budget{Bytes: 1120 * engine.MiB})
	req.Setting = setting("alexnet-b128")
	r, err := proto.Do(context.Background(), new(Local).Do, req, nil)
	if err != nil {
		t.Fatal(err)
	}
	pieces := map[string][]proto.Piece{}
	for _, order := range []string{"", "as-played", "derivative-first", "prefetch-first"} {
		q := &proto.Place{Setting: setting("alexnet-b128"), Budget: engine.NoLimit, Schedule: r.Schedule,
			Allocator: "high-end"}
		if order != "" {
			q.Args = engine.Args{"order": order}
		}
		p, err := placed(t, q)
		if err != nil || !p.Verdict.Verified {
			t.Fatalf("order %q: got %+v, %v; want a verified placement", order, p, err)
		}
		t.Logf("order %q: %d", order, p.Top)
		pieces[order] = p.Pieces
	}
	if !reflect.DeepEqual(pieces[""], pieces["as-played"]) ||
		reflect.DeepEqual(pieces["derivative-first"], pieces["prefetch-first"]) {
		t.Errorf("got the same addresses by default and as played: %v; prefetch-first and derivative-first: %v; want true, false",
			reflect.DeepEqual(pieces[""], pieces["as-played"]),
			reflect.DeepEqual(pieces["derivative-first"], pieces["prefetch-first"]))
	}
}

// TestPlaceDeadline checks that when the time limit is reached, the answer is the best placement so far and is
// not called optimal.
func TestPlaceDeadline(t *testing.T) {
	b := &proto.Buffers{Tick: 1}
	for i := range 3000 {
		b.List = append(b.List, alloc.Buffer{Bytes: engine.Bytes(1 + i*7919%1000), Start: i, End: i + 1 + i*104729%97})
	}
	synctest.Test(t, func(t *testing.T) {
		p, err := placedIn(ticking(t), &proto.Place{Buffers: b, Allocator: "optimal", Limit: time.Nanosecond})
		var f *proto.Failure
		if !errors.As(err, &f) || f.Kind != proto.Deadline {
			t.Fatalf("got %v, want a failure of kind deadline", err)
		}
		if p == nil || p.Optimal || p.NoneFits || len(p.Pieces) != len(b.List) || !p.Verdict.Verified {
			t.Errorf("got %+v; want a verified layout of all buffers that is not said to be optimal", p)
		}
	})
}

// TestPlaceTooMany checks that if there are too many buffers for the search, the failure comes with the best of
// the quick placements. The buffers are 600 copies of paper 003's sequence of a_ij and d_j, which needs 13 units
// at a peak of 12, and one buffer that lives throughout and so connects them.
func TestPlaceTooMany(t *testing.T) {
	list := []alloc.Entry{{Name: "throughout", Bytes: 1}}
	sequence := enginetest.LoadAs[struct{ Trace [][]any }]("alloc")[0].Trace
	for i := range 600 {
		live := map[string]bool{}
		for _, e := range sequence { // "a", name, size, at the high end; or "f", name
			entry := alloc.Entry{Name: fmt.Sprint(i, " ", e[1]), Free: e[0] == "f"}
			if !entry.Free {
				entry.Bytes = engine.Bytes(e[2].(float64))
			}
			list = append(list, entry)
			live[entry.Name] = !entry.Free
		}
		for _, name := range slices.Sorted(maps.Keys(live)) {
			if live[name] {
				list = append(list, alloc.Entry{Name: name, Free: true})
			}
		}
	}
	r, err := alloc.FromEvents(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, pool := range []engine.Bytes{0, 13} {
		p, err := placed(t, &proto.Place{Buffers: &proto.Buffers{Tick: 1, List: r.Buffers}, Pool: pool,
			Allocator: "optimal"})
		var f *proto.Failure
		if !errors.As(err, &f) || f.Kind != proto.Unsupported {
			t.Fatalf("in %d: got %v, want a failure of kind unsupported", pool, err)
		}
		if p == nil || p.Optimal || p.NoneFits || len(p.Pieces) != len(r.Buffers) || p.Top <= 13 {
			t.Errorf("in %d: got %+v; want a layout of all buffers that is not said to be optimal", pool, p)
		}
	}
}

func TestPlaceRefuses(t *testing.T) {
	for want, q := range map[string]*proto.Place{
		`there is no allocator "worst-fit"`: {Allocator: "worst-fit", Buffers: four()},
		"chunk":                             {Allocator: "va", Args: engine.Args{"chunk": "1"}, Buffers: four()},
		"an end after the start": {Allocator: "va",
			Buffers: &proto.Buffers{List: []alloc.Buffer{{Bytes: 1, Start: 2, End: 2}}}},
		"names no network": {Allocator: "va"},
	} {
		p, err := placed(t, q)
		if p != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %+v, %v; want an error with %q", q, p, err, want)
		}
	}
}
