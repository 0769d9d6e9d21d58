package check_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"memtide/engine"
	"memtide/engine/check"
)

func TestTmp(t *testing.T) {
	kinds := map[string]int{}
	best := map[string]*played{}
	for _, tr := range []engine.Transfers{engine.Whole, engine.Streamed} {
		for _, d := range []engine.Duplex{engine.HalfDuplex, engine.FullDuplex} {
			for seed := range uint64(20000) {
				c := randomPlayed(t, rand.New(rand.NewPCG(seed, 1)), tr, d)
				if c == nil {
					continue
				}
				kinds["all"]++
				var ref *check.Refutation
				if err := check.Trace(c.p, c.s, c.t); errors.As(err, &ref) {
					k := fmt.Sprint(tr, d, ref.Reason)
					kinds[k]++
					if best[k] == nil || len(best[k].s) > len(c.s) {
						best[k] = c
					}
				}
			}
		}
	}
	fmt.Println(kinds)
	for k, c := range best {
		fmt.Println("=====", k, check.Trace(c.p, c.s, c.t))
		fmt.Println(c)
	}
}
