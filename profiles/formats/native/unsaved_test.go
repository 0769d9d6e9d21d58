package native

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
)

const unsavedCSV = `name,forward_s,backward_s,output_bytes,saved_bytes,output_unsaved
conv,0.001,0.002,1000000,1000000,
bn,0.001,0.002,1000000,512,true
relu,0.001,0.002,1000000,1000000,false
`

// TestUnsavedFormats checks that an output that no backward reads can be given in a table, and that it survives a
// round trip through the native format.
func TestUnsavedFormats(t *testing.T) {
	p, err := profiles.Decode("net", profiles.Bytes(unsavedCSV), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Stage{Name: "bn", Forward: 1e6, Back: 2e6, Out: 1000000, Saved: 512, Grad: 1000000, Unsaved: true}
	if got := p.Chain.Stages[1]; got != want {
		t.Errorf("from the table: got %+v, want %+v", got, want)
	}
	if !p.Chain.HasUnsaved() || p.Chain.Unsaved(1) || !p.Chain.Unsaved(2) || p.Chain.Unsaved(3) {
		t.Error("want the output of the second stage alone unsaved")
	}
	if w := strings.Join(p.Warnings, "\n"); strings.Contains(w, "saved") {
		t.Errorf("warnings about saved sets: %s", w)
	}
	var data bytes.Buffer
	if err := Encode(&data, p); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"as written": data.String(),
		"with a space": strings.Replace(data.String(), `"stages":`, `"stages": `, 1)} {
		again, err := profiles.Decode("net", profiles.Bytes(text), nil)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if !reflect.DeepEqual(again.Chain, p.Chain) {
			t.Errorf("%s: got %+v, want %+v", what, again.Chain, p.Chain)
		}
	}
}

// TestUnsavedRefusals checks that values other than true and false are refused, and a last stage with an unsaved
// output.
func TestUnsavedRefusals(t *testing.T) {
	for _, tc := range []struct{ what, text, want string }{
		{"a word", strings.Replace(unsavedCSV, "512,true", "512,perhaps", 1), `output_unsaved is "perhaps"`},
		{"a number in JSON", `{"format":"memtide/1","stages":[{"forward_s":1,"backward_s":1,"output_bytes":1,"output_unsaved":1}]}`, "true or false is expected"},
		{"a loss", `{"format":"memtide/1","stages":[{"forward_s":1,"backward_s":1,"output_bytes":1}],"loss":{"output_unsaved":true}}`, "the output of the last stage is marked as unsaved"},
	} {
		if _, err := profiles.Decode("net", profiles.Bytes(tc.text), nil); err == nil ||
			!strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want an error that says %s", tc.what, err, tc.want)
		}
	}
	p, err := profiles.Decode("net",
		profiles.Bytes(`{"format":"memtide/1","stages":[{"forward_s":1,"backward_s":1,"output_bytes":7,"output_unsaved":true},{"forward_s":1,"backward_s":1,"output_bytes":7,"saved_bytes":7}]}`), nil)
	if err != nil || p.Chain.Stages[0].Saved != 0 {
		t.Errorf("without saved_bytes: got %+v, %v; want nothing saved", p, err)
	}
}
