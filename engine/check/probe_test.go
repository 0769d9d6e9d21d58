package check_test

import (
	"fmt"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

func TestProbe(t *testing.T) {
	ch := &engine.Chain{Input: 4, InputGrad: 2, Stages: []engine.Stage{{Forward: time.Second, Back: time.Second, Out: 2, Saved: 4, Grad: 1}, {Forward: time.Second, Back: time.Second, Out: 2, Saved: 4, Grad: 1}}}
	p := engine.NewChainProblem(ch, engine.Device{ToHost: 1, ToDev: 1}, engine.Whole, engine.NoLimit)
	g := p.Chain
	F, B := g.Fwd, g.Bwd
	show := func(name string, s engine.Schedule) {
		tr, err := sim.Play(p, s)
		if err != nil {
			fmt.Println(name, "ERR", err)
			return
		}
		fmt.Println(name, "\n", played{p, s, tr})
	}
	R := engine.Run
	x := g.Saved(1)
	tail := engine.Schedule{R(B(2)), engine.Wait(x), R(B(1))}
	cat := func(a engine.Schedule, b ...engine.Step) engine.Schedule {
		return append(append(engine.Schedule{}, append(a, b...)...), tail...)
	}
	base := engine.Schedule{R(F(1)), R(F(2)), engine.Offload(x), engine.Free(x), engine.Fetch(x, 0)}
	show("offload again later", cat(base, engine.Wait(x), R(F(2)), engine.Offload(x), engine.Free(x), engine.Fetch(x, 0)))
	show("offload again later whole", cat(engine.Schedule{R(F(1)), R(F(2)), engine.Offload(x), engine.Wait(x), R(F(2)), engine.Offload(x), engine.Free(x)}, engine.Fetch(x, 0)))
	p.Transfers = engine.Streamed
	show("streamed", cat(base))
	g.Values[g.Act(0)].Initial = engine.OnHost
	show("initial on host", cat(append(engine.Schedule{engine.Fetch(g.Act(0), 0)}, base...)))
	show("initial on host again", cat(append(engine.Schedule{engine.Fetch(g.Act(0), 0), engine.Wait(g.Act(0)), engine.Offload(g.Act(0))}, base...)))
	g.Values[g.Act(0)].Initial = engine.OnHost + engine.OnDevice
	show("initial on host and dev", cat(append(engine.Schedule{engine.Offload(g.Act(0))}, base...)))
	g.Values[g.Act(0)].Initial = engine.OnDevice
	show("run over arriving", cat(base, R(F(1))))
}
