//go:build !js

package browsertest

import (
	"os"
	"testing"
)

// How long after it is dropped the snapshot MEMTIDE_MEASURE_FILE is told of and drawn,
// and its last setting replayed, and the most memory that a tab took. The replays are not
// waited for beyond what Wait allows.
func TestMeasureSnapshot(t *testing.T) {
	measuring(t)
	name := os.Getenv("MEMTIDE_MEASURE_FILE")
	if name == "" {
		t.Skip("MEMTIDE_MEASURE_FILE names no snapshot")
	}
	p := settledPage(t, resnet)
	Eval[bool](p, makeSnapshot)
	before := tabMemory()
	start := Eval[float64](p, `performance.now()`)
	dropPath(p, name)
	since := func() float64 { return Eval[float64](p, `performance.now()`) - start }
	p.Wait(`byID("doctor-say")?.textContent`)
	t.Logf("told after %.0f ms: %s; tab memory %d MiB, %d before", since(), result(p, "doctor-say"), tabMemory()>>20, before>>20)
	p.Wait(`!!document.querySelector("[data-testid=remedy-line]")?.textContent`)
	p.Done()
	t.Logf("replayed after %.0f ms; tab memory %d MiB", since(), tabMemory()>>20)
}
