package draw

import (
	"time"

	"memtide/web/lookup/tracetest"
)

const msTold = time.Millisecond

func smallTold() *tellModel { return newTellModel(tracetest.Small()) }

func randomTold(n int, seed uint64) *tellModel { return newTellModel(tracetest.Random(n, seed)) }
