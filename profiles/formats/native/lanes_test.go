package native

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
)

// TestGatheredAgain checks that only operations of the network may make the same value again. Weights that a step
// replaces are on the device when it begins, unless the file says otherwise.
func TestGatheredAgain(t *testing.T) {
	const text = `{"format":"memtide/1","kind":"graph","name":"x","values":[
 {"id":0,"name":"shard","bytes":4,"role":"state"},{"id":1,"name":"whole","bytes":8,"role":"state"},{"id":2,"name":"moments","bytes":8,"role":"state","at":"host"}],
 "ops":[{"name":"gather","lane":"network","time_s":1,"in":[0],"out":[1]},{"name":"again","lane":"LANE","pass":"backward","time_s":1,"in":[0],"out":[1]}]}`
	p, err := profiles.Decode("", profiles.Bytes([]byte(strings.Replace(text, "LANE", "network", 1))), nil)
	if err != nil {
		t.Fatal(err)
	}
	v := p.Graph.Values
	if v[0].Kind != engine.KindState || v[0].Initial != engine.OnDevice || v[1].Initial != 0 ||
		v[2].Initial != engine.OnHost {
		t.Errorf("read as %+v; want states on the device, nowhere and on the host", v)
	}
	if _, err := profiles.Decode("", profiles.Bytes([]byte(strings.Replace(text, "LANE", "compute", 1))),
		nil); err == nil || !strings.Contains(err.Error(), "writes this value already") {
		t.Errorf("made by the device a second time: %v; want a refusal", err)
	}
}
