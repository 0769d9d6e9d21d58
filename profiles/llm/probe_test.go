package llm

import (
	"encoding/json"
	"fmt"
	"memtide/engine"
	"os"
	"testing"
)

func TestProbe(t *testing.T) {
	data, err := os.ReadFile("../../../../shared/data/peaks/peaks_public.json")
	if err != nil {
		t.Skip(err)
	}
	var f struct{ Rows []Row }
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	for _, r := range f.Rows {
		if r.Kind != "step" {
			continue
		}
		if os.Getenv("ALLROWS") == "" && !r.Complete {
			continue
		}
		var c rowConfig
		if err := strict(r.Config, &c); err != nil {
			t.Errorf("%s: %v", r.ID, err)
			continue
		}
		s, err := c.setup()
		if err != nil {
			t.Errorf("%s: %v", r.ID, err)
			continue
		}
		if os.Getenv("EAGER") != "" {
			s.Compiled = false
		}
		res, err := Run(s, engine.NoLimit)
		if err != nil {
			t.Errorf("%s: %v", r.ID, err)
			continue
		}
		g := func(b engine.Bytes) float64 { return float64(b) / float64(1<<30) }
		want := float64(r.Measured.Peak) / float64(1<<30)
		id := r.ID
		if len(id) > 60 {
			id = id[:60]
		}
		comp := "eager"
		if c.Compile {
			comp = "COMP "
		}
		mid := (g(res.Reserved) + g(res.Expandable)) / 2
		fmt.Printf("%-60s %-9s %s meas %7.2f al %7.2f pools %7.2f (%+6.1f) rep %7.2f (%+6.1f) exp %7.2f (%+6.2f) mid (%+6.1f) %s\n", id, r.Measured.Metric[:min(9, len(r.Measured.Metric))], comp, want, g(res.Allocated), g(res.Pools), 100*(g(res.Pools)/want-1), g(res.Reserved), 100*(g(res.Reserved)/want-1), g(res.Expandable), 100*(g(res.Expandable)/want-1), 100*(mid/want-1), res.Phase)
		if os.Getenv("PARTS") != "" {
			for _, p := range res.Parts {
				fmt.Printf("      %-28s %8.3f\n", p.Class, g(p.Bytes))
			}
			for i, p := range res.Phases {
				fmt.Printf("      * %-26s %8.3f\n", Phase(i), g(p))
			}
		}
	}
}
