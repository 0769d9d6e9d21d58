//go:build !js

package pagetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/jobs"
	"memtide/web/state"
)

// skipFile returns a graph of n operations with weights and their backward, as a file:
// every other operation also reads what was made two operations before.
func skipFile(n int) []byte {
	var values, ops []string
	value := func(name, role string, mib int) int {
		values = append(values, fmt.Sprintf(`{"id":%d,"name":"%s","bytes":%d,"role":"%s"}`, len(values), name,
			mib<<20, role))
		return len(values) - 1
	}
	op := func(name, pass string, in, out []int) {
		list := func(ids []int) string { return strings.Join(strings.Fields(fmt.Sprint(ids)), ",") }
		ops = append(ops, fmt.Sprintf(`{"name":"%s","pass":"%s","time_s":0.01,"in":%s,"out":%s}`, name, pass,
			list(in), list(out)))
	}
	made := []int{value("x0", "input", 64)}
	var weights []int
	reads := func(k int) []int {
		in := []int{made[k-1], weights[k-1]}
		if k > 2 && k%2 == 0 {
			in = append(in, made[k-3])
		}
		return in
	}
	for k := 1; k <= n; k++ {
		weights = append(weights, value(fmt.Sprint("w", k), "weight", 16))
		in := reads(k)
		made = append(made, value(fmt.Sprint("x", k), "activation", 64))
		op(fmt.Sprint("conv", k), "forward", in, made[k:])
	}
	last := made[n]
	for k := n; k >= 1; k-- {
		grad := value(fmt.Sprint("g", k), "gradient", 64)
		op(fmt.Sprint("conv", k, ".back"), "backward", append(reads(k), last), []int{grad})
		last = grad
	}
	return []byte(`{"format":"memtide/1","kind":"graph","name":"skips","batch":8,"values":[` + strings.Join(values,
		",") + `],"ops":[` + strings.Join(ops, ",") + `]}`)
}

// Graph returns a page that shows a graph of operations from a file.
func Graph(t *testing.T, change func(*state.Choice)) *state.State {
	t.Helper()
	c := choice.Default()
	c.Source, c.Budget = state.Source{File: "skips.json", Profile: skipFile(12)}, share
	if change != nil {
		change(&c)
	}
	return open(t, c)
}

// Ask asks what would help and answers it with the engine itself.
func Ask(t *testing.T, s *state.State) {
	t.Helper()
	for _, e := range s.Update(state.StartQuestion{}) {
		if e, ok := e.(state.Question); ok {
			var heard []state.Message
			end := jobs.Question(context.Background(), new(serve.Local), e,
				func(m state.Message) { heard = append(heard, m) })
			for _, m := range append(heard, end) {
				s.Update(m)
			}
		}
	}
	if a := s.Answers(); a == nil || !a.Complete() || len(a.List) == 0 {
		t.Fatalf("got %+v; want all answers", a)
	}
}

// Small returns the page of a network that is solved at once.
func Small(t *testing.T) *state.State {
	t.Helper()
	c := choice.Default()
	c.Source.Preset, c.Budget = "alexnet-b16", choice.Budget{Bytes: 751 * engine.MiB}
	return open(t, c)
}

// Preset returns the state of a page that shows a preset that keeps everything.
func Preset(t *testing.T, ref string) *state.State {
	t.Helper()
	c := choice.Default()
	c.Source.Preset, c.Strategy, c.Budget = ref, "keepall", choice.Budget{Share: 100 * choice.Percent}
	return open(t, c)
}
