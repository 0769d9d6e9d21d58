package hf

import (
	"testing"

	"memtide/profiles/formats/formattest"
)

// TestBombs: see formattest.Bombs.
func TestBombs(t *testing.T) {
	formattest.Bombs(t, "hfconfig", 1, []formattest.Bomb{
		{Name: "10^9 layers", Content: formattest.Content(hfHead, `"n_layer":1000000000}`),
			Want: "n_layer is 1000000000. A number of 0 to 1024 is expected."},
		{Name: "a width of 10^15",
			Content: formattest.Content(`{"model_type":"gpt2","n_embd":1000000000000000,"n_head":1,"vocab_size":50257,"n_layer":3}`), Want: "n_embd is 1000000000000000"},
		{Name: "3 MB of labels", Content: formattest.Content(hfHead, `"n_layer":1e99,"id2label":{`,
			formattest.ManyKeys(200_000), `"z":1}}`), Want: "n_layer is 1e99"},
		{Name: "a path of 3 MB", Content: formattest.Content(hfHead, `"n_layer":2,"_name_or_path":"`,
			formattest.Rep("x", 3<<20), `"}`), Want: "bytes long"},
	})
}

const hfHead = `{"model_type":"gpt2","n_embd":768,"n_head":12,"vocab_size":50257,`
