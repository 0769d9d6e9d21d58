package draw

import (
	"time"

	"memtide/web/lookup/tracetest"
)

const msIndex = time.Millisecond

func smallIndex() *indexModel { return newIndexModel(tracetest.Small()) }

func randomIndex(n int, seed uint64) *indexModel { return newIndexModel(tracetest.Random(n, seed)) }
