//go:build !js

package browsertest

import "testing"

// TestMeasureStep measures how long after its navigation the first visit to a training step paints, shows the
// verdict with the bar of the memory, shows ways to make the step fit, and is complete.
func TestMeasureStep(t *testing.T) {
	measuring(t)
	for name, hash := range map[string]string{"one card": "#v=1&step=llama3-8b&step.ckpt=budget&step.compile=yes&step.graph=model",
		"8 cards": "#v=1&step=llama3-8b&step.ckpt=full&step.gpus=8&step.pp=2"} {
		stages := map[string][]float64{}
		say := func(p *Page) {
			for _, s := range []struct{ what, is string }{
				{"verdict and bar", `document.querySelectorAll(".gauge .part").length > 1`},
				{"ways", `byID("step-changes").querySelectorAll("button").length > 3`},
				{"whole", `byID("step-policies").querySelectorAll("button").length > 10`},
			} {
				p.Wait(s.is)
				stages[s.what] = append(stages[s.what], Eval[float64](p, `performance.now()`))
			}
		}
		for range 3 {
			t.Run(name, func(t *testing.T) {
				p := Open(t, hash)
				Eval[bool](p, hands)
				p.Wait(`performance.getEntriesByName("first-contentful-paint").length > 0`)
				stages["first paint"] = append(stages["first paint"],
					Eval[float64](p, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
				say(p)
			})
		}
		for what, ms := range stages {
			t.Logf("%s: %s %s", name, what, quantiles(ms))
		}
	}
}
