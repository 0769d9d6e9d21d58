//go:build !js

package browsertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestMeasureSnapshot measures how long after the drop of the snapshot in MEMTIDE_MEASURE_FILE it is open,
// diagnosed, and replayed with all settings. It also logs the most memory that a tab has used by then, and the
// processor time of all tabs.
func TestMeasureSnapshot(t *testing.T) {
	measuring(t)
	name := os.Getenv("MEMTIDE_MEASURE_FILE")
	if name == "" {
		t.Skip("MEMTIDE_MEASURE_FILE names no snapshot")
	}
	p := settledPage(t, resnet)
	Eval[bool](p, makeSnapshot)
	start, spent := Eval[float64](p, `performance.now()`), tabSeconds()
	report := func(what string) {
		t.Logf("%s after %.1f s, %.1f s of the processor; tab memory %d MiB", what,
			(Eval[float64](p, `performance.now()`)-start)/1000, tabSeconds()-spent, tabMemory()>>20)
	}
	report("dropped")
	dropPath(p, name)
	p.Wait(`document.querySelector("#app").dataset.kind === "memory"`)
	report("open")
	p.Wait(`(byID("doctor-say")?.textContent ?? "") !== "" && !byID("doctor-say").textContent.includes("…")`)
	report("told of: " + result(p, "doctor-say"))
	p.Wait(`byID("replays")?.querySelectorAll(".gain").length === 11`)
	p.Done()
	report("replayed")
}

// tabSeconds returns the processor time of all renderers of this test's browser in seconds, or 0 where the system
// has no /proc.
func tabSeconds() (sum float64) {
	const perSecond = 100 // clock ticks of Linux
	own := strconv.Itoa(os.Getpid())
	parent := map[string]string{}
	ticks := map[string]float64{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		pid := filepath.Base(filepath.Dir(file))
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // the fields from the state on
		parent[pid] = f[1]
		cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if bytes.Contains(cmd, []byte("--type=renderer")) {
			user, _ := strconv.ParseFloat(f[11], 64)
			system, _ := strconv.ParseFloat(f[12], 64)
			ticks[pid] = user + system
		}
	}
	for pid, n := range ticks {
		for up := pid; up != "" && up != "0"; up = parent[up] {
			if up == own {
				sum += n / perSecond
			}
		}
	}
	return sum
}
