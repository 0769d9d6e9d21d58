package serve

import (
	"testing"
	"time"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// TestCounterexamples checks the claims of the counterexamples: with the suggested budget and link, the
// strategies that a claim is about give exactly these step times, in milliseconds.
func TestCounterexamples(t *testing.T) {
	known := map[string]map[string]time.Duration{
		"lemma3":        {"dynprog": 30, "offloadexact": 27},
		"lemma3-mirror": {"dynprog": 30, "offloadexact": 27},
		"nonpersistent": {"rotor": 15, "nonpersistent": 12},
	}
	for _, p := range preset.Presets() {
		if p.Suggest == nil {
			continue
		}
		if known[p.ID][p.Suggest.Strategy] == 0 {
			t.Errorf("%s suggests %s; want one of %v", p.ID, p.Suggest.Strategy, known[p.ID])
		}
		link := p.Suggest.Link
		if link == 0 {
			link = card.Default().ToHost
		}
		for strategy, want := range known[p.ID] {
			solved, fail, _ := ask(t, new(Server), &proto.Solve{
				Setting: proto.Setting{Network: proto.Network{Preset: preset.Ref(p.ID, 1)},
					Device: engine.Device{ToHost: link, ToDev: link}},
				Method: proto.Method{Strategy: strategy}, Budget: choice.Budget{Bytes: p.Suggest.Budget},
			})
			if fail != nil || !solved.Verdict.Verified || solved.Trace.Makespan != want*time.Millisecond {
				t.Errorf("%s, %s within %d: got %+v, %v; want a verified schedule of %v", p.ID, strategy,
					p.Suggest.Budget, solved, fail, want*time.Millisecond)
			}
		}
	}
}
