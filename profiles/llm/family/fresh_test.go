package family_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
)

// TestOtherFiles checks totals of config.json files that differ from those of their relatives: by the keys of the first
// files of LFM2, by one norm where Falcon 180B has two, by norms of queries and keys, and by what a file leaves out.
// The totals are those of model cards, GLM-4.5V's without the buffers of its routers, and those of Falcon 2 and Llama 4
// Scout's text as worked out by hand.
func TestOtherFiles(t *testing.T) {
	const text = `"hidden_size":3584,"intermediate_size":18944,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,"vocab_size":152064`
	for _, c := range []struct {
		config string
		want   int64
	}{
		{`{"model_type":"lfm2","hidden_size":1024,"block_ff_dim":6656,"num_hidden_layers":16,"num_attention_heads":16,"num_key_value_heads":8,"vocab_size":65536,"full_attn_idxs":[2,5,8,10,12,14]}`,
			354_483_968},
		{`{"model_type":"falcon","hidden_size":4096,"num_hidden_layers":60,"num_attention_heads":32,"num_kv_heads":8,"vocab_size":65024,"new_decoder_architecture":true,"num_ln_in_parallel_attn":1,"tie_word_embeddings":false}`,
			2*65024*4096 + 2*4096 + 60*(4096*(32+2*8)*128+4096*4096+8*4096*4096+2*4096)},
		{`{"model_type":"cohere","hidden_size":12288,"intermediate_size":33792,"num_hidden_layers":64,"num_attention_heads":96,"num_key_value_heads":8,"vocab_size":256000,"use_qk_norm":true}`,
			103_810_674_688},
		{`{"model_type":"stablelm","hidden_size":5120,"intermediate_size":13824,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":100352,"qk_layernorm":true,"use_parallel_residual":true}`,
			12_143_185_920},
		{`{"model_type":"vaultgemma","hidden_size":1152,"intermediate_size":6912,"num_hidden_layers":26,"num_attention_heads":4,"num_key_value_heads":4,"head_dim":256,"vocab_size":256000,"sliding_window":512}`,
			1_038_741_120},
		{`{"model_type":"gemma3_text","use_bidirectional_attention":true,"hidden_size":768,"intermediate_size":1152,"num_hidden_layers":24,"num_attention_heads":3,"num_key_value_heads":1,"head_dim":256,"vocab_size":262144,"sliding_window":512}`,
			302_863_104},
		{`{"model_type":"internlm3","hidden_size":4096,"intermediate_size":10240,"num_hidden_layers":48,"num_attention_heads":32,"num_key_value_heads":2,"head_dim":128,"vocab_size":128512,"bias":false,"qkv_bias":false}`,
			8_804_241_408},
		{`{"model_type":"falcon_mamba","hidden_size":4096,"intermediate_size":8192,"num_hidden_layers":64,"vocab_size":65024,"state_size":16,"time_step_rank":256,"tie_word_embeddings":false}`,
			7_272_665_088},
		{`{"model_type":"glm4v_moe","text_config":{"model_type":"glm4v_moe_text","hidden_size":4096,"intermediate_size":10944,"moe_intermediate_size":1408,"num_hidden_layers":46,"num_attention_heads":96,"num_key_value_heads":8,"head_dim":128,"vocab_size":151552,"n_routed_experts":128,"n_shared_experts":1,"num_experts_per_tok":8,"first_k_dense_replace":1},"vision_config":{"model_type":"glm4v_moe","depth":24,"hidden_size":1536,"intermediate_size":10944,"image_size":336,"patch_size":14,"out_hidden_size":4096}}`,
			107_710_933_120 - 45*128},
		{`{"model_type":"llama4_text","hidden_size":5120,"intermediate_size":8192,"intermediate_size_mlp":16384,"num_hidden_layers":48,"num_attention_heads":40,"num_key_value_heads":8,"head_dim":128,"vocab_size":202048,"num_local_experts":16,"no_rope_layers":[]}`,
			2*202048*5120 + 5120 + 48*(2*5120*(40+8)*128+2*5120+5120*16+17*3*5120*8192)},
		{`{"model_type":"qwen2_5_omni","thinker_config":{"model_type":"qwen2_5_omni_thinker","text_config":{"model_type":"qwen2_5_omni_text",` + text + `},"vision_config":{"model_type":"qwen2_5_omni_vision_encoder","hidden_size":1280},"audio_config":{"model_type":"qwen2_5_omni_audio_encoder"}}}`,
			8_931_813_888},
		{`{"model_type":"mllama","text_config":{"model_type":"mllama_text_model","hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":128256,"cross_attention_layers":[3,8,13,18,23,28,33,38]},"vision_config":{"model_type":"mllama_vision_model","image_size":560,"supported_aspect_ratios":[[1,1],[1,2],[1,3],[1,4],[2,1],[2,2],[3,1],[4,1]]}}`,
			10_670_220_835},
		{`{"model_type":"hunyuan_v1_moe","hidden_size":4096,"intermediate_size":3072,"num_hidden_layers":2,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"vocab_size":128167,"num_experts":64,"moe_topk":[8,8],"tie_word_embeddings":true}`,
			128167*4096 + 4096 + 2*(2*4096*(32+8)*128+2*128+2*4096+64*4096+65*3*4096*3072)},
		{`{"model_type":"youtu","hidden_size":2048,"intermediate_size":6144,"num_hidden_layers":2,"num_attention_heads":16,"vocab_size":128256,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128}`,
			128256*2048 + 2048 + 2*(2048*1536+1536+1536*16*192+2048*(512+64)+512+512*16*256+16*128*2048+3*2048*6144+2*2048)},
		{`{"model_type":"deberta-v2",` + distances + `,"hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,"num_attention_heads":12,"vocab_size":128100,"position_biased_input":false,"type_vocab_size":0}`,
			183_831_552 + 768*768 + 3*768 + 128100},
		{`{"model_type":"llama"}`, 6_738_415_616},
		{`{"model_type":"mistral"}`, 7_241_732_096},
		{`{"model_type":"gemma2"}`, 2_614_341_888},
		{`{"model_type":"gpt2"}`, 124_439_808},
		{`{"model_type":"bert"}`, 109_514_298},
		{`{"model_type":"qwen3","hidden_size":1024,"intermediate_size":3072,"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":8,"vocab_size":151936,"tie_word_embeddings":true}`,
			596_049_920},
	} {
		checkParams(t, fmt.Sprintf("%.60s", c.config), []byte(c.config), c.want)
	}
}

// TestClassIsTold checks that a note says which sizes are those of a class.
func TestClassIsTold(t *testing.T) {
	config := smallConfig("mistral").with(object{"num_key_value_heads": nil, "num_attention_heads": 16})
	for range 2 { // the second time from what the first passes on
		m, err := family.Read(config)
		if err != nil || m.Keys != 16 || len(m.Notes) > 0 {
			t.Fatalf("%s: null is read as %d heads of keys with notes %v (%v); want as many as heads, without notes",
				config, m.Keys, m.Notes, err)
		}
		config = []byte(m.Config)
	}
	c := smallConfig("mistral")
	delete(c, "num_key_value_heads")
	m, err := family.Read(c.with(object{"num_attention_heads": 16}))
	const told = `The file leaves out num_key_value_heads: they are those of the class of "mistral".`
	if err != nil || m.Keys != 8 || !slices.Contains(m.Notes, told) {
		t.Errorf("read with %d heads of keys and notes %v (%v); want 8, and %q", m.Keys, m.Notes, err, told)
	}
}

// TestMoreKept checks what keys of a config.json add to what a block keeps of S tokens, worked out by hand from the
// code of Transformers. A LayerNorm for each head of queries and keys keeps its input and two statistics of a row.
// Cohere's is written out: the centred input twice and the result in 4 bytes, a statistic, and its weight in 4 bytes.
// Falcon Mamba's norms keep the widened input and a statistic; the product before them is kept no more, and the next
// one keeps what it reads. EmbeddingGemma's masks have torch choose a kernel for which keys and values are repeated,
// and which widens the mask.
func TestMoreKept(t *testing.T) {
	const a, k, d, S, N, rank = 4, 2, 8, 64, 8, 2
	for _, c := range []struct {
		kind string
		more object
		from string // family to compare with
		want int64
	}{
		{"stablelm", object{"qk_layernorm": true}, "stablelm", S * (2*(a+k)*d + 8*(a+k))},
		{"cohere", object{"use_qk_norm": true}, "cohere", S*(12*(a+k)*d+4*(a+k)) + 4*(a+k)*d},
		{"falcon_mamba", nil, "mamba", S * (4*(rank+2*N) + 12 - 2*N)},
		{"gemma3_text", object{"use_bidirectional_attention": true, "sliding_window": 512, "head_dim": d}, "gemma3_text",
			S*2*2*(a-k)*d + 2*S*S},
	} {
		last := func(kind string, more object) int64 {
			m, err := family.Read(smallConfig(kind).with(more))
			if err != nil {
				t.Fatal(err)
			}
			s := llm.Setup{Model: m.Model, Work: llm.Work{Batch: 1, Seq: S}}
			llm.FindProgram("hf").Apply(&s)
			s.Weight, s.Grad, s.Attention = 2, 2, llm.AttentionSDPA
			kept, err := s.Kept()
			if err != nil {
				t.Fatal(err)
			}
			return int64(kept.Blocks[len(kept.Blocks)-1][1])
		}
		plain := object{"head_dim": d, "sliding_window": 512}
		if strings.Contains(c.from, "mamba") {
			plain = nil
		}
		if got := last(c.kind, c.more) - last(c.from, plain); got != c.want {
			t.Errorf("%s: a block keeps %d bytes more, want %d", c.kind, got, c.want)
		}
	}
}

// distances are the keys of DeBERTa 3's scores of distances.
const distances = `"relative_attention":true,"share_att_key":true,"norm_rel_ebd":"layer_norm","max_relative_positions":-1,"position_buckets":256,"pos_att_type":"p2c|c2p"`

// TestDistances checks what a block of DeBERTa keeps of B sequences of S tokens for scores of n distances: the table with
// a dropout and its mask, the vectors of keys and of queries for each sample, keys that are scaled in addition, and for
// each of two the scores of all distances, of which gather keeps its input, and the number of the distance of each pair
// of tokens. Transformers' code on PyTorch's meta device keeps as many.
func TestDistances(t *testing.T) {
	const h, n, B, S = 64, 512, 2, 48
	kept := func(more string) int64 {
		m, err := family.Read([]byte(`{"model_type":"deberta-v2","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":500` + more + `}`))
		if err != nil {
			t.Fatal(err)
		}
		s := llm.Setup{Model: m.Model, Work: llm.Work{Batch: B, Seq: S}}
		llm.FindProgram("hf").Apply(&s)
		s.Weight, s.Grad, s.Attention = 2, 2, llm.AttentionEager
		k, err := s.Kept()
		if err != nil {
			t.Fatal(err)
		}
		return int64(k.Blocks[len(k.Blocks)-1][1])
	}
	const want = 3*n*h + 2*2*B*n*h + 2*B*S*h + 2*2*4*B*S*n + 2*8*S*S
	if got := kept(","+distances) - kept(""); got != want {
		t.Errorf("a block keeps %d bytes more, want %d (%+d)", got, want, got-want)
	}
}
