package state

import (
	"testing"

	"memtide/wasm/proto"
)

// TestSavePlan checks that SavePlan asks for a plan if the network has operators, from a file or from a link, and
// does nothing for other networks.
func TestSavePlan(t *testing.T) {
	for packed, has := range map[string]bool{"1.operators": true, "": false} {
		p := shown(t)
		p.play(PickFile{Name: "gpt.json", Bytes: []byte("{operators}")})
		m := opened(last[Open](t, p).ID, chain("gpt"))
		m.Reply.Packed = packed
		p.play(m)
		p.play(SavePlan{Class: "nested"})
		if p.HasOperators() != has || (len(p.effects) > 0) != has {
			t.Errorf("%q: operators %v, effects %s; want %v", packed, p.HasOperators(), names(p.effects), has)
		}
		if !has {
			continue
		}
		e := last[Export](t, p)
		q := e.Request
		if e.Kind != PlanFile || string(q.Network.Profile) != "memtide-operators/1.operators" ||
			q.Network.Preset != "" || q.Form != proto.FormPlan || q.Class != "nested" || q.Budget != p.Budget() ||
			q.Device.ToHost != p.Choice.ToHost {
			t.Errorf("asked for %q, %+v", e.Kind, q)
		}
		p.play(PickPreset{ID: "net-b8"})
		if p.play(opened(last[Open](t, p).ID, chain("net"))); p.HasOperators() {
			t.Error("a preset is opened, and the operators are there still")
		}
	}
	p := shown(t)
	c := p.Choice.Moved(Source{File: "gpt", Profile: []byte("{chain}"), Ops: "1.link"})
	p.play(Start{Choice: c})
	if p.play(opened(last[Open](t, p).ID, chain("gpt"))); !p.HasOperators() || p.Network.Source.Ops != "1.link" {
		t.Errorf("of a link with operators the page has %q, want 1.link", p.Network.Source.Ops)
	}
}
