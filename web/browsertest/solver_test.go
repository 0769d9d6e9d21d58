//go:build !js

package browsertest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/choice"
)

// TestMeasureSolvers measures how long solvers take natively and in a worker of the page. Both answer the same
// request with the same code. A sweep of one point returns the time that the solver took by the worker's own
// clock, including playing and checking the schedule, without messages. The log gives the first time, when the
// browser has just compiled the code, and the least time of some repetitions, which depends least on other work
// of the machine. The round trip is the time of a request for a schedule from sending it in a script to reading
// the answer there.
func TestMeasureSolvers(t *testing.T) {
	measuring(t)
	for _, n := range []int{40, 100, 339} {
		c := enginetest.RandomChain(enginetest.Rand(uint64(n)),
			enginetest.Shape{MinStages: n, MaxStages: n, MaxSize: 1 << 20, MaxTime: 1e7})
		profile := profiles.Profile{Name: fmt.Sprintf("random%d", n), Format: "memtide", Chain: c}
		var text bytes.Buffer
		if err := native.Encode(&text, &profile); err != nil {
			t.Fatal(err)
		}
		for _, m := range measuredMethods {
			if m.Strategy == "pofo" && n > 100 {
				continue
			}
			p := ready(t) // a new page, whose workers have not used this strategy yet
			for _, percent := range []int{30, 50, 75} {
				req := solveRequest("", m.Strategy, percent*100)
				req.Method = m
				req.Network = proto.Network{Profile: text.Bytes()}
				req.Device = engine.Device{ToHost: 1e9, ToDev: 1e9}
				req.Limit = 20 * time.Second
				measureSolver(t, p, fmt.Sprintf("%s%s L=%d %d %%", m.Strategy, given(m.Args), n, percent), req)
			}
		}
	}
}

// measuredMethods are the solvers that take long. Rotor is measured a second time with sizes rounded up to slots,
// as it was published.
var measuredMethods = []proto.Method{
	{Strategy: "rotor"}, {Strategy: "rotor", Args: engine.Args{"slots": "500"}},
	{Strategy: "revolve"}, {Strategy: "dynprog"}, {Strategy: "offloadsearch"}, {Strategy: "pofo"},
}

// given formats the arguments of a strategy that are set.
func given(args engine.Args) (text string) {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		text += " " + name + "=" + args[name]
	}
	return text
}

// measureSolver logs the times of one request.
func measureSolver(t *testing.T, p *Page, name string, q *proto.Solve) {
	t.Helper()
	point := &proto.Sweep{Setting: q.Setting, Methods: []proto.Method{q.Method}, Budgets: []choice.Budget{q.Budget},
		Limit: q.Limit}
	var local serve.Local
	native := repeatedly(func(int) time.Duration {
		took := time.Duration(0)
		_, err := proto.Do(context.Background(), local.Do, point, func(p *proto.Point) { took = p.Took })
		if err != nil {
			t.Fatal(err)
		}
		return took
	})
	worker := repeatedly(func(i int) time.Duration {
		id := fmt.Sprintf("%s point %d", name, i)
		send(p, id, point)
		settled(p, id, time.Minute)
		return time.Duration(Eval[float64](p,
			fmt.Sprintf(`got[%q].progress.reduce((took, p) => p.took ?? took, 0)`, id)))
	})
	trip := repeatedly(func(i int) time.Duration {
		id := fmt.Sprintf("%s %d", name, i)
		send(p, id, q)
		settled(p, id, time.Minute)
		return time.Duration(1e6 * Eval[float64](p, fmt.Sprintf(`got[%q].ms`, id)))
	})
	round := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	t.Logf("%-26s native first %9v, warm %9v; worker first %9v, warm %9v: %4.1f times native; round trip %9v", name,
		round(native.first), round(native.least), round(worker.first), round(worker.least),
		float64(worker.least)/float64(native.least), round(trip.least))
}

// repeated holds the times of an action that was done several times.
type repeated struct{ first, least time.Duration }

// repeatedly calls do at least 5 times, and up to 30 times within two seconds.
func repeatedly(do func(i int) time.Duration) repeated {
	first := do(0)
	r := repeated{first, first}
	for i, start := 1, time.Now(); i < 5 || i < 30 && time.Since(start) < 2*time.Second; i++ {
		r.least = min(r.least, do(i))
	}
	return r
}
