package lookup

import (
	"time"

	"memtide/web/lookup/tracetest"
)

const ms = time.Millisecond

func smallModel() *Model { return New(tracetest.Small()) }

func randomModel(n int, seed uint64) *Model { return New(tracetest.Random(n, seed)) }
