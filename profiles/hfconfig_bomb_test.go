package profiles

import "testing"

// TestBombs: see formattest.Bombs.
func TestBombs_hfconfig(t *testing.T) {
	runBombs(t, "hfconfig", 1, []bomb{
		{"10^9 layers", content(hfHead, `"n_layer":1000000000}`), "There are 1000000000 layers. At most 1000 are read."},
		{"a width of 10^15", content(`{"model_type":"gpt2","n_embd":1000000000000000,"n_head":1,"vocab_size":50257,"n_layer":3}`), "A size is 1000000000000000"},
		{"3 MB of labels", content(hfHead, `"n_layer":1e99,"id2label":{`, manyKeys(200_000), `"z":1}}`), "n_layer is 1e99"},
		{"a path of 3 MB", content(hfHead, `"n_layer":2,"_name_or_path":"`, rep("x", 3<<20), `"}`), "bytes long"},
	})
}

const hfHead = `{"model_type":"gpt2","n_embd":768,"n_head":12,"vocab_size":50257,`
