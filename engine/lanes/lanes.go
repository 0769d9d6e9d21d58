// Package lanes makes a program know operations of the network and of the host's CPU
// (engine.Op.Lane): import it for that effect. Without it they are neither played nor
// proven nor planned, and the program that every visit loads has no need to hold what
// does that. Strategies for graphs that know none plan the device alone, and the
// operations of other lanes are put in.
package lanes

import (
	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/remat"
	"memtide/engine/sim"
)

func init() {
	engine.LinkLanes(plan)
	sim.LinkLanes()
	check.LinkLanes()
	remat.LinkLanes(keep)
}
