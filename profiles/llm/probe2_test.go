package llm

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
)

func TestProbe2(t *testing.T) {
	want := os.Getenv("ROW")
	if want == "" {
		t.Skip()
	}
	data, _ := os.ReadFile("../../../../shared/data/peaks/peaks_public.json")
	var f struct{ Rows []Row }
	json.Unmarshal(data, &f)
	for _, r := range f.Rows {
		if !strings.Contains(r.ID, want) || r.Kind != "step" {
			continue
		}
		fmt.Println(r.ID)
		var c rowConfig
		strict(r.Config, &c)
		s, _ := c.setup()
		s, _ = s.normal()
		p := newProgram(&s, true, true)
		var marks []int
		var phases []Phase
		p.phase = Load
		for _, u := range p.all() {
			p.load(u)
		}
		mark := func() { marks = append(marks, len(p.events)); phases = append(phases, p.phase) }
		mark()
		for range 3 {
			p.step()
			mark()
		}
		var caches [numPools]*alloc.Cache
		for i := range caches {
			caches[i] = alloc.NewCache(engine.NoLimit)
		}
		addr := make([]engine.Bytes, len(p.storages))
		k := 0
		grown := map[string]engine.Bytes{}
		var order []string
		for i, e := range p.events {
			if e < 0 {
				caches[p.storages[-e-1].pool].Free(addr[-e-1])
			} else {
				s := p.storages[e-1]
				before := caches[s.pool].Reserved()
				a, _, _ := caches[s.pool].Alloc(s.bytes)
				addr[e-1] = a
				if d := caches[s.pool].Reserved() - before; d > 0 {
					key := fmt.Sprintf("pool%d %-24s %8.1f MiB", s.pool, s.class, float64(s.bytes)/(1<<20))
					if grown[key] == 0 {
						order = append(order, key)
					}
					grown[key] += d
				}
			}
			for k < len(marks) && i+1 == marks[k] {
				fmt.Printf("== mark %d: pools %.2f %.2f %.2f GiB\n", k, float64(caches[0].Reserved())/(1<<30), float64(caches[1].Reserved())/(1<<30), float64(caches[2].Reserved())/(1<<30))
				for _, o := range order {
					if grown[o] > 60<<20 {
						fmt.Printf("   %s grew %.3f GiB\n", o, float64(grown[o])/(1<<30))
					}
				}
				grown = map[string]engine.Bytes{}
				order = nil
				k++
			}
		}
	}
}
