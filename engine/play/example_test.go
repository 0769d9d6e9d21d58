package play_test

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/play"
	"memtide/engine/remat"
)

// Nested converts the schedule of a chain to parts that run again. Parts that are dropped again lie within them.
func ExampleNested() {
	c := &engine.Chain{}
	for range 6 {
		c.Stages = append(c.Stages, engine.Stage{Forward: time.Millisecond, Back: 2 * time.Millisecond,
			Out: engine.KiB, Saved: 4 * engine.KiB, Grad: engine.KiB})
	}
	p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, 9*engine.KiB)
	sol, err := remat.Rotor.Solve(p, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, err := play.Nested(p, sol.Schedule)
	for _, part := range parts {
		fmt.Println(part.First, part.Last, part.Within)
	}
	fmt.Println(err)
	// Output:
	// 1 1 []
	// 2 3 [{2 2 [] false false}]
	// 4 5 [{4 4 [] false false}]
	// <nil>
}
