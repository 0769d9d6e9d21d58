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

// Reading is a model, with what else its file says.
type Reading struct {
	*llm.Model
	Longest int64  // longest sequence by the file, in tokens; 0 if the file does not say
	Config  string // the part of the file that was read, as JSON without spaces, for links
}

// builder describes the blocks of a family in a model that already has the sizes of all decoders.
type builder func(*config, *llm.Model)

// families are the known families, by model_type.
var families = map[string]builder{}

// classic are families whose blocks programs other than Transformers run, too.
var classic = map[string]bool{}

const wayOut = "Record its step on PyTorch's meta device instead (python -m memtide my.module:factory), and open what that writes."

// known is the expectation for a model_type.
const known = "A family that is known is expected; memtide help models lists them."

// notOfType is the expectation for a file with a model_type that does not describe it.
const notOfType = "The blocks of its model_type are expected."

func init() {
	llm.ReadConfigs(func(text string) (*llm.Model, error) {
		if m := configured(text); m != nil {
			return m, nil
		}
		r, err := Read([]byte(text))
		if err != nil {
			return nil, err
		}
		return r.Model, nil
	})
}

// Names returns the known families, sorted.
func Names() []string { return slices.Sorted(maps.Keys(families)) }

// Read returns the model of a Hugging Face config.json. It refuses families whose blocks are not known by name,
// and keys that make blocks unlike the family's.
func Read(data []byte) (*Reading, error) {
	c, err := open(data)
	if err != nil {
		return nil, err
	}
	c.language()
	named := c.named("model_type", "_class_name") // diffusers has _class_name
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
	if ownSizes[kind] {
		c.complete("The file", kind)
	}
	c.heads()
	c.ofClass(kind)
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
		c.unlike(kind, m)
		c.dropped(m)
	}
	longest := c.size("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len")
	c.classifies(m)
	if m.Patches > 0 {
		longest = m.Patches
	}
	if m.OwnIDs && m.Types > 0 { // the first positions are for padding
		longest -= 2
	}
	if c.err != nil {
		return nil, c.err
	}
	if err := m.Check(); err != nil {
		told := strings.TrimPrefix(err.Error(), "model "+m.Name+": ")
		found, remedy, _ := strings.Cut(told, ": correct ") // as all errors of Check end
		c.fail("", "This cannot be a model: "+found, "Sizes that fit together are expected.", "Correct "+remedy+".")
		return nil, c.err
	}
	m.Notes = c.notes
	return &Reading{Model: m, Longest: longest, Config: c.understood()}, nil
}

// classifies gives a model whose architecture is for sequence classification a head of labels. Reward models have one
// label.
func (c *config) classifies(m *llm.Model) {
	named, _ := c.all["architectures"].([]any)
	if m.Ends != nil || !slices.ContainsFunc(named, func(a any) bool {
		return strings.HasSuffix(fmt.Sprint(a), "ForSequenceClassification")
	}) {
		return
	}
	c.value("architectures") // which links then contain
	m.Labels, m.Tied, m.HeadBias, m.LogitCap, m.LogitMul = c.labels(), false, m.Masked, false, false
	c.note("The architecture is for sequence classification: a head of as many outputs as labels, %d, takes the place of that of words.", m.Labels)
}

// heads refuses files that describe a draft head or a network of encoder and decoder instead of a language model.
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

// headless are families without attention and without a feed-forward net.
var headless = map[string]bool{"mamba": true, "mamba2": true, "falcon_mamba": true}

// ownSizes are families that read all their sizes themselves: networks of two parts, and networks that read pictures.
var ownSizes = map[string]bool{"t5": true, "mt5": true, "umt5": true, "whisper": true, "vit": true, "deit": true,
	"dinov2": true, "dinov2_with_registers": true, "clip": true, "siglip": true}

// tied are families whose head shares the weights of the embedding if the file does not say.
var tied = []string{"bert", "bloom", "camembert", "clip", "cohere", "cohere2", "deberta-v2", "dinov2", "distilbert",
	"ernie4_5", "ernie4_5_moe", "falcon", "falcon_mamba", "gemma", "gemma2", "gemma3", "gemma3_text", "gemma3n_text",
	"gemma4_text", "gpt2", "gpt_bigcode", "gpt_neo", "mamba", "minicpm", "modernbert", "mt5", "opt", "recurrent_gemma",
	"roberta", "siglip", "smollm3", "starcoder2", "t5", "umt5", "vaultgemma", "vit", "whisper", "xlm-roberta", "youtu",
	"zamba2"}

// decoder returns a model with the sizes of all decoders.
func (c *config) decoder(kind string) *llm.Model {
	if list, ok := c.all["layers_block_type"].([]any); ok && c.all["num_hidden_layers"] == nil {
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
	if _, each := c.all["intermediate_size"].([]any); !each || kind != "gemma3n_text" { // gemma3n reads the list itself
		m.Wide = c.or(4*m.Hidden, "intermediate_size", "n_inner", "ffn_dim", "hidden_dim", "ffn_hidden_size")
	}
	m.Head = c.size("head_dim")
	if m.Head == 0 && m.Heads > 0 {
		// Latent heads have widths of other keys, and GLM rounds down.
		if m.Hidden%m.Heads != 0 && c.all["kv_lora_rank"] == nil && kind != "glm4_moe" {
			width, heads := c.named("hidden_size", "n_embd", "d_model"),
				c.named("num_attention_heads", "n_head", "n_heads")
			c.fail(width, fmt.Sprintf("%s is %d, which does not divide among the %d of %s", width, m.Hidden, m.Heads,
				heads), "Heads of one width are expected.", "Correct one of them in the config.json, or add head_dim.")
		}
		m.Head = m.Hidden / m.Heads
	}
	return m
}

// changing are keys that make blocks unlike those of most families, with the values that change nothing.
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
	"no_rope_layers": nil, "conv_kernel": nil, "moe_latent_size": nil,
	"alibi": {"false"}, "lm_head_bias": {"false"}, "layer_types": nil, "per_layer_config": nil, "is_causal": {"true"},
	"use_bidirectional_attention": {"false"},
}

// dropped gives the scores of attention a dropout if the file has a rate that the family does not read.
func (c *config) dropped(m *llm.Model) {
	if !c.read["attention_dropout"] && c.above(0, "attention_dropout") {
		pattern(m, func(_ int64, b *llm.Block) { b.DropAttn = true })
	}
}

// unlike refuses keys that change blocks and that the family did not read, and notes layers for more tokens that
// are not counted. Norms of queries and keys that a family always has may be said, too.
func (c *config) unlike(kind string, m *llm.Model) {
	for _, key := range slices.Sorted(maps.Keys(changing)) {
		v := c.all[key]
		if v == nil || c.read[key] || slices.Contains(changing[key], told(v)) {
			continue
		}
		if m.QKNorm && strings.Contains(key, "qk_") && told(v) == "true" {
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
