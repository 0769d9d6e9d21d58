package family

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memtide/profiles/llm"
)

// Reading is a model, and what else its file says.
type Reading struct {
	*llm.Model
	Longest int64  // tokens of a sequence by the file; 0: it does not say
	Config  string // what was read of the file, as JSON without spaces: what people pass on
}

// builder says what the blocks of a family are made of. The sizes that all decoders have are
// in the model already.
type builder func(*config, *llm.Model)

// families are all that are known, by model_type.
var families = map[string]builder{}

// classic are families whose blocks other programs than Transformers run too.
var classic = map[string]bool{}

const wayOut = "Record its step on PyTorch's meta device instead (python -m memtide my.module:factory), and open what that writes."

// known is what is expected of a model_type.
const known = "A family that is known is expected; memtide help models lists them."

// notOfType is what is expected of a file by its model_type.
const notOfType = "The blocks of its model_type are expected."

// Names returns the families that are known, in order.
func Names() []string {
	return slices.Sorted(maps.Keys(families))
}

// Read returns the model of a Hugging Face config.json. Families whose blocks are not known are
// refused by their name, and so are keys that make blocks unlike the family's.
func Read(data []byte) (*Reading, error) {
	c, err := open(data)
	if err != nil {
		return nil, err
	}
	c.language()
	named := c.named("model_type", "_class_name") // that of diffusers
	kind := c.text(named, "")
	if kind == "" {
		c.fail("model_type", "model_type is missing", "The config.json of a model is expected.",
			"Give that file of the model.")
	}
	build := families[kind]
	if build == nil {
		c.fail(named, fmt.Sprintf("%s %q is not understood", named, kind), known, wayOut)
	}
	if c.err != nil {
		return nil, c.err
	}
	c.heads()
	m := c.decoder(kind)
	m.Written = !classic[kind]
	if c.err == nil {
		build(c, m)
	}
	if c.err == nil {
		if !ownSizes[kind] {
			c.towers(m)
		}
		c.otherActs()
		c.unlike(kind)
		c.dropped(m)
	}
	longest := c.size("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len")
	if m.OwnIDs && m.Types > 0 { // the first ones are of padding
		longest -= 2
	}
	if c.err != nil {
		return nil, c.err
	}
	if err := m.Check(); err != nil {
		c.fail("", fmt.Sprintf("This cannot be a model: %v", err), "Sizes that fit together are expected.", correct)
		return nil, c.err
	}
	m.Notes = c.notes
	return &Reading{Model: m, Longest: longest, Config: c.understood()}, nil
}

// heads refuses what is no language model but a part that guesses words for one.
func (c *config) heads() {
	architectures, _ := c.all["architectures"].([]any)
	for _, a := range architectures {
		for _, part := range []string{"eagle", "dflash", "dspark", "domino", "medusa", "mlpspeculator"} {
			if strings.Contains(strings.ToLower(fmt.Sprint(a)), part) {
				c.fail("architectures", fmt.Sprintf("architectures has %q, a draft head, which guesses words for a larger model", a), notOfType, wayOut)
			}
		}
	}
	if c.all["draft_vocab_size"] != nil {
		c.fail("draft_vocab_size", "draft_vocab_size makes this a draft head, which guesses words for a larger model",
			notOfType, wayOut)
	}
	if kind, _ := c.all["model_type"].(string); c.flag("is_encoder_decoder", false) && !ownSizes[kind] {
		c.fail("is_encoder_decoder",
			"is_encoder_decoder is true: networks of an encoder and a decoder are not understood",
			"One row of blocks is expected.", wayOut)
	}
	if c.has("quantization_config") {
		c.note("quantization_config is read as this: training takes the weights in 16 bits; adapters on the quantised ones are the option -lora with -base nf4.")
	}
}

// rounded are families whose heads are as wide as the width divided by their number, rounded
// down, or have widths of other keys.
var rounded = map[string]bool{"glm4_moe": true, "glm4_moe_lite": true, "mistral4": true, "deepseek_v2": true,
	"deepseek_v3": true, "kimi_k2": true,
	"deepseek_v32": true, "glm_moe_dsa": true}

// headless are families without attention and without a feed-forward net.
var headless = map[string]bool{"mamba": true, "mamba2": true}

// ownSizes are families that say all their sizes themselves: networks of two parts, and those
// that read pictures.
var ownSizes = map[string]bool{"t5": true, "mt5": true, "umt5": true, "whisper": true, "vit": true,
	"dinov2": true, "clip": true, "siglip": true}

// tied are families whose head has the weights of the embedding where the file does not say so.
var tied = []string{"bert", "bloom", "camembert", "clip", "cohere", "cohere2", "deberta-v2", "dinov2", "distilbert",
	"ernie4_5", "ernie4_5_moe", "falcon", "gemma", "gemma2", "gemma3", "gemma3_text", "gemma3n_text", "gemma4_text",
	"gpt2", "gpt_bigcode", "gpt_neo", "mamba", "minicpm", "modernbert", "mt5", "opt", "recurrent_gemma", "roberta",
	"siglip", "smollm3", "starcoder2", "t5", "umt5", "vit", "whisper", "xlm-roberta", "zamba2"}

// decoder has the sizes of all decoders.
func (c *config) decoder(kind string) *llm.Model {
	if list, ok := c.all["layers_block_type"].([]any); ok && c.all["num_hidden_layers"] == nil { // as long as it
		c.all["num_hidden_layers"] = json.Number(fmt.Sprint(len(list)))
	}
	m := &llm.Model{Name: cmp.Or(c.text("_name_or_path", ""), kind), Family: kind,
		Tied: c.flag("tie_word_embeddings", slices.Contains(tied, kind))}
	if ownSizes[kind] {
		return m
	}
	m.Layers, m.Hidden = c.need("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
		c.need("hidden_size", "n_embd", "d_model", "n_embed", "dim")
	m.Words = c.need("vocab_size", "padded_vocab_size")
	if headless[kind] {
		m.Heads, m.Keys, m.Head, m.Wide = 1, 1, m.Hidden, m.Hidden // no block reads them
		return m
	}
	m.Heads = c.need("num_attention_heads", "n_head", "n_heads", "num_heads")
	m.Keys = c.or(m.Heads, "num_key_value_heads")
	if _, each := c.all["intermediate_size"].([]any); !each || kind != "gemma3n_text" { // which reads it itself
		m.Wide = c.or(4*m.Hidden, "intermediate_size", "n_inner", "ffn_dim", "hidden_dim", "ffn_hidden_size")
	}
	m.Head = c.size("head_dim")
	if m.Head == 0 && m.Heads > 0 {
		if m.Hidden%m.Heads != 0 && !rounded[kind] {
			width, heads := c.named("hidden_size", "n_embd", "d_model"),
				c.named("num_attention_heads", "n_head", "n_heads")
			c.fail(width, fmt.Sprintf("%s is %d, which does not divide among the %d of %s", width, m.Hidden, m.Heads,
				heads), "Heads of one width are expected.", "Correct one of them in the config.json, or add head_dim.")
		}
		m.Head = m.Hidden / m.Heads
	}
	return m
}

// changing are keys that make blocks other than those of most families, with the values that
// change nothing.
var changing = map[string][]string{
	"block_configs": nil, "hybrid_override_pattern": nil, "attn_config": nil, "layers_block_type": nil,
	"linear_attn_config": nil, "index_topk": nil,
	"num_experts": {"0", "1"}, "num_local_experts": {"0", "1"}, "n_routed_experts": {"0"},
	"num_routed_experts": {"0"}, "moe_num_experts": {"0"},
	"kv_lora_rank": {"0"}, "mlp_bias": {"false"}, "attention_bias": {"false"}, "use_bias": {"false"},
	"qk_layernorm": {"false"}, "use_qk_norm": {"false"},
	"qk_norm": {"false"}, "use_parallel_residual": nil, "parallel_attn": nil, "add_cross_attention": {"false"},
	"moe_layer_freq": {"1"}, "decoder_sparse_step": {"1"},
	"mlp_only_layers": {"[]"}, "attn_output_gate": {"false"}, "clip_qkv": nil, "sliding_window_pattern": nil,
	"no_rope_layers": nil, "conv_kernel": nil,
	"alibi": {"false"}, "lm_head_bias": {"false"}, "layer_types": nil, "per_layer_config": nil, "is_causal": {"true"},
	"use_bidirectional_attention": {"false"},
}

// dropped has the scores of attention dropped out where the family reads no rate of its own.
func (c *config) dropped(m *llm.Model) {
	if c.read["attention_dropout"] || !c.above(0, "attention_dropout") {
		return
	}
	pattern(m, func(_ int64, b *llm.Block) { b.DropAttn = true })
}

// unlike refuses keys that change blocks and that the family did not ask for, and says of
// layers for more tokens that they are not there.
func (c *config) unlike(kind string) {
	for _, key := range slices.Sorted(maps.Keys(changing)) {
		v := c.all[key]
		if v == nil || c.read[key] || slices.Contains(changing[key], told(v)) {
			continue
		}
		if types, ok := v.([]any); ok && key == "layer_types" &&
			!slices.ContainsFunc(types, func(t any) bool { return t != "full_attention" }) {
			continue
		}
		c.unknown(key, fmt.Sprintf("a %q whose blocks are not understood", kind))
	}
	if c.flag("output_router_logits", false) && c.has("num_experts_per_tok", "num_local_experts", "num_experts") {
		c.note("output_router_logits is true: what the auxiliary loss keeps of all routers is not counted.")
	}
	for _, key := range []string{"num_nextn_predict_layers", "mtp_num_hidden_layers"} {
		if n := c.number(key, 0); n > 0 {
			c.note("%s is %g: these layers for more tokens are not built by Transformers and not counted.", key, n)
		}
	}
}
