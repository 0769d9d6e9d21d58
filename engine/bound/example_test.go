package bound_test

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
)

// Of returns a step time that no schedule of a class can beat within the budget, and the argument that proves it.
func ExampleOf() {
	c := &engine.Chain{Stages: []engine.Stage{
		{Name: "conv", Forward: 2 * time.Millisecond, Back: 4 * time.Millisecond, Out: 4 * engine.KiB,
			Saved: 8 * engine.KiB, Grad: 4 * engine.KiB},
		{Name: "fc", Forward: time.Millisecond, Back: 2 * time.Millisecond, Out: engine.KiB, Saved: 8 * engine.KiB},
	}}
	p := engine.NewChainProblem(c, engine.Device{ToHost: 1 << 20, ToDev: 1 << 20}, engine.Whole, 14*engine.KiB)
	fmt.Println(bound.Of(p, engine.MayOffload))
	fmt.Println(bound.Of(p, engine.MayRecompute))
	// Output:
	// 11.71875ms transfer volume (Beaumont et al. 2020, Prop. 3)
	// 9ms compute time
}
