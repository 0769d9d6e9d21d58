//go:build !js

package browsertest

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

// How long solvers take in a worker of the page and natively: the same
// requests, answered by the same code, the first time and again.
func TestMeasureSolvers(t *testing.T) {
	measuring(t)
	p := ready(t)
	var native serve.Local
	for _, n := range []int{40, 100, 339} {
		c := enginetest.RandomChain(enginetest.Rand(uint64(n)), enginetest.Shape{MinStages: n, MaxStages: n, MaxSize: 1 << 20, MaxTime: 1e7})
		profile := profiles.Profile{Name: fmt.Sprintf("random%d", n), Format: "memtide", Chain: c}
		var text bytes.Buffer
		if err := profile.EncodeNative(&text); err != nil {
			t.Fatal(err)
		}
		for _, strategy := range []string{"rotor", "revolve", "dynprog", "pofo"} {
			if strategy == "pofo" && n > 100 {
				continue
			}
			for _, percent := range []int{30, 50, 75} {
				req := solveRequest("", strategy, percent*100, "")
				req.Solve.Network = proto.Network{Profile: text.Bytes()}
				req.Solve.Device = engine.Device{ToHost: 1e9, ToDev: 1e9}
				req.Solve.Limit = 20 * time.Second
				var here, there [2]time.Duration
				for i := range here {
					start := time.Now()
					_, _ = native.Do(context.Background(), req, nil) // infeasible is an answer, too
					here[i] = time.Since(start)
					name := fmt.Sprintf("%s%d-%d-%d", strategy, n, percent, i)
					start = time.Now()
					send(p, name, req)
					settled(p, name, time.Minute)
					there[i] = time.Since(start)
				}
				t.Logf("%-8s L=%-3d %d %%: native %8v, Chromium first %8v, again %8v: %.1f times native", strategy, n, percent,
					here[1].Round(100*time.Microsecond), there[0].Round(time.Millisecond), there[1].Round(time.Millisecond), float64(there[1])/float64(here[1]))
			}
		}
	}
}
