package hf

import (
	"fmt"
	"testing"

	"memtide/profiles"
)

// TestOptions checks that a profile gives the options with which memtide plan computes the same step. A card that the
// file names is one of them, also the one that is taken where a file names none.
func TestOptions(t *testing.T) {
	for added, want := range map[string]string{
		``: "map[seq:1024]",
		`"memtide":{"batch":4,"seq":512,"attention":"eager"},`: "map[attention:eager batch:4 seq:512]",
		`"memtide":{"device":"h100","compile":true},`:          "map[compile:yes device:h100 seq:1024]",
	} {
		p, err := profiles.Decode("config.json",
			profiles.Bytes([]byte("{"+added+`"model_type":"gpt2","n_embd":768,"n_head":12,"n_layer":2,"vocab_size":50257,"n_positions":1024}`)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.Step); got != want {
			t.Errorf("%s: the options are %s; want %s", added, got, want)
		}
	}
}
