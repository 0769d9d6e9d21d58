package remat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// benchChains are the synthetic chains of the shared data; their arrays have
// the loss as the last entry. Where the data is absent, random chains of the
// same lengths take their place.
var benchChains = []string{"resnet_L20", "lognormal_L20", "resnet_L50", "lognormal_L50", "resnet_L100",
	"lognormal_L100", "resnet_L200", "lognormal_L200", "resnet_L339", "lognormal_L339"}

func benchChain(name string) (*engine.Chain, error) {
	data, err := os.ReadFile("../../../shared/data/chains/" + name + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		var n int
		if _, err := fmt.Sscanf(name[len(name)-4:], "L%d", &n); err != nil {
			fmt.Sscanf(name[len(name)-3:], "L%d", &n)
		}
		shape := enginetest.Shape{MinStages: n + 1, MaxStages: n + 1, MaxSize: 1 << 20, MaxTime: 1e7}
		return enginetest.RandomChain(enginetest.Rand(uint64(n)), shape), nil
	}
	if err != nil {
		return nil, err
	}
	var f struct {
		UF, UB                         []int64
		Wa, Wabar, Wdelta              []engine.Bytes
		Of, Ob                         []engine.Bytes
		StoreallPeak, MinMemory, Total int64
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	c := &engine.Chain{Name: name, Input: f.Wa[0], InputGrad: f.Wdelta[0]}
	for k := range f.UF {
		st := engine.Stage{
			Forward: time.Duration(f.UF[k]) * time.Microsecond, Back: time.Duration(f.UB[k]) * time.Microsecond,
			Saved: f.Wabar[k], Grad: f.Wdelta[k+1], FwdTemp: f.Of[k], BwdTemp: f.Ob[k],
		}
		if k+1 < len(f.Wa) {
			st.Out = f.Wa[k+1]
		}
		c.Stages = append(c.Stages, st)
	}
	return c, c.Validate()
}

func BenchmarkRotor(b *testing.B) {
	benchTerms(b, newTerms)
}

func BenchmarkRevolve(b *testing.B) {
	benchTerms(b, outputOnlyTerms)
}

// BenchmarkSlots measures the solver with memory counted in 500 slots, as published.
func BenchmarkSlots(b *testing.B) {
	benchTerms(b, func(c *engine.Chain, budget engine.Bytes) *terms { return slotTerms(c, budget, 500) })
}

func benchTerms(b *testing.B, terms func(*engine.Chain, engine.Bytes) *terms) {
	for _, name := range benchChains {
		c, err := benchChain(name)
		if err != nil {
			b.Fatal(err)
		}
		for _, percent := range []engine.Bytes{25, 50, 75} {
			b.Run(fmt.Sprintf("chain=%s/budget=%d", name, percent), func(b *testing.B) {
				budget := c.KeepAllPeak() / 100 * percent
				b.ReportAllocs()
				for b.Loop() {
					o, err := solve(terms(c, budget), allTricks, nil, nil)
					if err != nil {
						b.Skip("the chain does not fit")
					}
					b.ReportMetric(float64(o.extra), "extra")
				}
			})
		}
	}
}
