package draw

import (
	"testing"
	"time"

	"memtide/engine"
	"memtide/web/lookup/tracetest"
)

const ms = time.Millisecond

func smallModel() *Model { return NewModel(tracetest.Small()) }

func randomModel(n int, seed uint64) *Model { return NewModel(tracetest.Random(n, seed)) }

func emptyModel() *Model { return NewModel(tracetest.Empty()) }

func played(t *testing.T, p *engine.Problem, away bool) *Model {
	return NewModel(tracetest.Played(t, p, away))
}
