package check_test

import (
	"math/rand/v2"
	"testing"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/sim"
)

// Random operations that rewrite several values in place are played and checked. All old copies leave at once.
func TestRewriteInPlace(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		g := &engine.Graph{Done: engine.NoValue}
		var ids []engine.ValueID
		for i := range 2 + r.IntN(4) {
			g.Values = append(g.Values, engine.Value{Size: engine.Bytes(r.IntN(20)), PartOf: engine.NoValue})
			ids = append(ids, engine.ValueID(i))
		}
		g.Ops = []engine.Op{{Time: 3, Temp: engine.Bytes(r.IntN(10)), Out: ids}}
		schedule := engine.Schedule{engine.Run(0)}
		for range 1 + r.IntN(4) {
			r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			some := append([]engine.ValueID(nil), ids[:1+r.IntN(len(ids))]...)
			schedule = append(schedule, engine.Run(engine.OpID(len(g.Ops))))
			g.Ops = append(g.Ops, engine.Op{Time: 2, Temp: engine.Bytes(r.IntN(10)), In: some, Out: some})
		}
		for _, v := range ids {
			schedule = append(schedule, engine.Free(v))
		}
		p := &engine.Problem{Graph: g, Budget: engine.NoLimit}
		trace, err := sim.Play(p, schedule)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := check.Trace(p, schedule, trace); err != nil {
			t.Errorf("seed %d: %+v\n%v: refuted: %v", seed, g, schedule, err)
		}
	}
}
