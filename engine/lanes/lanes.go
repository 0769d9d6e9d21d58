// Package lanes adds operations of the network and of the host's CPU (engine.Op.Lane) to a program that imports it.
// Programs without it neither play nor check nor plan such operations, which keeps the page's first program small.
//
// A strategy for graphs that does not support these lanes plans the device alone. The package then inserts the
// operations of the other lanes into the plan.
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
