package lookup

import (
	"time"

	"memtide/web/lookup/tracetest"
)

const ms = time.Millisecond

func smallModel() *Index { return New(tracetest.Small()) }

func randomModel(n int, seed uint64) *Index { return New(tracetest.Random(n, seed)) }
