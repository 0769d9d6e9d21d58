package sim_test

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// twoStages returns a chain whose first stage may go to the host while the second runs.
func twoStages() *engine.Problem {
	const ms, kib = time.Millisecond, engine.KiB
	c := &engine.Chain{Name: "example", Stages: []engine.Stage{
		{Name: "conv", Forward: 2 * ms, Back: 4 * ms, Out: 4 * kib, Saved: 8 * kib, Grad: 4 * kib},
		{Name: "fc", Forward: 3 * ms, Back: 6 * ms, Out: kib, Saved: 4 * kib},
	}}
	link := engine.Rate(8 * kib * 1000) // 1 KiB takes an eighth of a millisecond
	return engine.NewChainProblem(c, engine.Device{ToHost: link, ToDev: link}, engine.Whole, engine.NoLimit)
}

// Play says when each step of a schedule starts and ends, why it did not start earlier, and how much memory is in use.
func ExamplePlay() {
	p := twoStages()
	g := p.Chain
	schedule := engine.Schedule{
		engine.Run(g.Fwd(1)), engine.Offload(g.Saved(1)), engine.Run(g.Fwd(2)), engine.Free(g.Saved(1)),
		engine.Fetch(g.Saved(1), 0), engine.Run(g.Bwd(2)), engine.Run(g.Bwd(1)),
	}
	t, err := sim.Play(p, schedule)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range t.Spans {
		fmt.Println(s.Start, s.End, schedule[s.Step].Describe(p.Graph), "-", s.Why)
	}
	fmt.Println(t.Makespan, t.Peak.Text(), t.HostPeak.Text())
	// Output:
	// 0s 2ms run F1 - none
	// 2ms 5ms run F2 - dependency
	// 2ms 3ms offload s1 - dependency
	// 5ms 6ms fetch s1 - dependency
	// 6ms 12ms run B2 - needs data
	// 12ms 16ms run B1 - dependency
	// 16ms 16384 bytes 8192 bytes
}

// A schedule that cannot go on is refused with the step that stopped it and the reason.
func ExamplePlay_refused() {
	p := twoStages()
	_, err := sim.Play(p, engine.Schedule{engine.Run(p.Chain.Fwd(2))})
	fmt.Println(err)
	_, err = sim.Play(p.WithBudget(4*engine.KiB), engine.Schedule{engine.Run(p.Chain.Fwd(1))})
	fmt.Println(err)
	// Output:
	// step 0 (run F2): its input a1 is not on the device
	// step 0 (run F1) can never start: it needs memory, 8192 bytes where 4096 are free
}
