package all

import (
	"strings"
)

func init() {
	owns["hfconfig"] = &own{
		bombs: func() []bomb {
			return []bomb{
				{name: "10^9 layers", content: content(hfHead, `"n_layer":1000000000}`),
					want: "n_layer is 1000000000. A number of 0 to 1024 is expected."},
				{name: "a width of 10^15",
					content: content(`{"model_type":"gpt2","n_embd":1000000000000000,"n_head":1,"vocab_size":50257,"n_layer":3}`), want: "n_embd is 1000000000000000"},
				{name: "3 MB of labels", content: content(hfHead, `"n_layer":1e99,"id2label":{`,
					manyKeys(200_000), `"z":1}}`), want: "n_layer is 1e99"},
				{name: "a path of 3 MB", content: content(hfHead, `"n_layer":2,"_name_or_path":"`,
					strings.Repeat("x", 3<<20), `"}`), want: "bytes long"},
			}
		},
		samples: []string{"gpt.config.json", "qwen.config.json"},
		mutate:  mutateHf,
	}
}

const hfHead = `{"model_type":"gpt2","n_embd":768,"n_head":12,"vocab_size":50257,`

// mutateHf mutates samples.
func mutateHf(sample []byte, s *script) []byte {
	keys := []string{"hidden_size", "n_embd", "d_model", "num_hidden_layers", "n_layer", "num_layers", "n_layers", "num_attention_heads", "n_head", "intermediate_size", "n_inner", "n_positions", "num_local_experts",
		"model_type", "vocab_size", "head_dim", "num_key_value_heads", "text_config", "memtide", "batch", "seq",
		"states", "attention", "tp", "gpus", "device", "hidden_act", "rms_norm_eps", "attn_pdrop",
		"type_vocab_size", "tie_word_embeddings", "is_encoder_decoder", "_name_or_path"}
	texts := []string{"gpt2", "llama", "qwen3", "bert", "roberta", "fp32", "eager", "bf16", "silu", "other", "../x"}

	return mutateJSON(sample, s, keys, texts)
}
