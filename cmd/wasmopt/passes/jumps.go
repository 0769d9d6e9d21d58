package passes

import (
	"fmt"
	"slices"

	"memtide/cmd/wasmopt/flow"
	"memtide/cmd/wasmopt/module"
)

// jumps gives functions direct jumps (package flow). Of the tables it relies on where
// functions go on after panics: at their call of runtime.deferreturn.
func (p *program) jumps() (string, error) {
	afterPanic := make([]int, len(p.bodies))
	known := 0
	for i := range afterPanic {
		afterPanic[i] = p.tables.word(p.tables.function(i) + funcDeferReturn)
		if p.parsed[i] != nil {
			known++
		}
	}
	bodies := slices.Clone(p.bodies)
	flow.Direct(bodies, p.parsed, p.imported, afterPanic)
	p.bodies = bodies
	p.setSection(module.Code, module.WriteFunctions(bodies))
	return fmt.Sprintf("%d of %d functions", known, len(bodies)), nil
}
