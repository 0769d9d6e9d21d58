package state

import (
	"testing"

	"memtide/wasm/proto"
)

// A plan is asked for with the file of operators that is open, as it was opened; of
// anything else there is none.
func TestSavePlan(t *testing.T) {
	for format, has := range map[string]bool{operatorsFormat: true, "csv": false} {
		p := shown(t)
		p.play(PickFile{Name: "gpt.json", Bytes: []byte("{operators}")})
		m := opened(last[Open](t, p).ID, chain("gpt"))
		m.Reply.Format = format
		p.play(m)
		p.play(SavePlan{Class: "nested"})
		if p.HasOperators() != has || (len(p.effects) > 0) != has {
			t.Errorf("%s: operators %v, effects %s; want %v", format, p.HasOperators(), names(p.effects), has)
		}
		if !has {
			continue
		}
		e := last[Export](t, p)
		q := e.Request
		if e.Kind != PlanFile || string(q.Network.Profile) != "{operators}" || q.Network.Preset != "" || q.Form != proto.FormPlan || q.Class != "nested" || q.Budget != p.Budget() || q.Device.ToHost != p.Choice.ToHost {
			t.Errorf("asked for %q, %+v", e.Kind, q)
		}
		p.play(PickPreset{ID: "net-b8"})
		if p.play(opened(last[Open](t, p).ID, chain("net"))); p.HasOperators() {
			t.Error("a preset is opened, and the operators are there still")
		}
	}
	p := shown(t)
	p.play(PickFile{Name: "gpt.json", Bytes: make([]byte, longestOperators+1)})
	m := opened(last[Open](t, p).ID, chain("gpt"))
	m.Reply.Format = operatorsFormat
	if p.play(m); p.HasOperators() {
		t.Errorf("a file of more than %d bytes is kept", longestOperators)
	}
}
