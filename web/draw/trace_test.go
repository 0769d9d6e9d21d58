package draw

import (
	"time"

	"memtide/web/lookup/tracetest"
)

const ms = time.Millisecond

func smallModel() *Model { return NewModel(tracetest.Small()) }

func randomModel(n int, seed uint64) *Model { return NewModel(tracetest.Random(n, seed)) }

func emptyModel() *Model { return NewModel(tracetest.Empty()) }
