package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"memtide/profiles/llm/ask"
)

// fields are those of a config.json of Hugging Face that say what a decoder is.
type fields struct {
	Type      string `json:"model_type"`
	Name      string `json:"_name_or_path"`
	Layers    int64  `json:"num_hidden_layers"`
	Hidden    int64  `json:"hidden_size"`
	Heads     int64  `json:"num_attention_heads"`
	Keys      int64  `json:"num_key_value_heads"`
	Head      int64  `json:"head_dim"`
	Wide      int64  `json:"intermediate_size"`
	Words     int64  `json:"vocab_size"`
	Positions int64  `json:"max_position_embeddings"`
	Tied      *bool  `json:"tie_word_embeddings"`
	QKVBias   bool   `json:"attention_bias"`
	MLPBias   bool   `json:"mlp_bias"`

	NewDecoder bool  `json:"new_decoder_architecture"`
	MultiQuery *bool `json:"multi_query"`
	FalconKeys int64 `json:"num_kv_heads"`
	FalconBias bool  `json:"bias"`

	Experts      int64 `json:"num_experts"`
	LocalExperts int64 `json:"num_local_experts"`
	Routed       int64 `json:"n_routed_experts"`
	TopK         int64 `json:"num_experts_per_tok"`
	ExpertWide   int64 `json:"moe_intermediate_size"`
	SharedCount  int64 `json:"n_shared_experts"`
	Dense        int64 `json:"first_k_dense_replace"`

	QRank  int64 `json:"q_lora_rank"`
	KVRank int64 `json:"kv_lora_rank"`
	Nope   int64 `json:"qk_nope_head_dim"`
	Rope   int64 `json:"qk_rope_head_dim"`
	Value  int64 `json:"v_head_dim"`

	Window      int64    `json:"sliding_window"`
	UseWindow   *bool    `json:"use_sliding_window"`
	LayerTypes  []string `json:"layer_types"`
	SparseStep  *int64   `json:"decoder_sparse_step"`
	DenseLayers []int64  `json:"mlp_only_layers"`
	LayerFreq   *int64   `json:"moe_layer_freq"`
	Residual    *bool    `json:"use_parallel_residual"`
	Parallel    *bool    `json:"parallel_attn"`
	HeadNorm    bool     `json:"qk_layernorm"`
	Cross       bool     `json:"add_cross_attention"`

	Vision   json.RawMessage `json:"vision_config"`
	Text     json.RawMessage `json:"text_config"`
	Encoder  bool            `json:"is_encoder_decoder"`
	Quantize json.RawMessage `json:"quantization_config"`
}

// olderFields are the names that GPT-2 has for some.
type olderFields struct {
	Layers    int64 `json:"n_layer"`
	Hidden    int64 `json:"n_embd"`
	Heads     int64 `json:"n_head"`
	Wide      int64 `json:"n_inner"`
	Positions int64 `json:"n_positions"`
}

// mptFields are those of MPT.
type mptFields struct {
	Layers    int64 `json:"n_layers"`
	Hidden    int64 `json:"d_model"`
	Heads     int64 `json:"n_heads"`
	Ratio     int64 `json:"expansion_ratio"`
	Positions int64 `json:"max_seq_len"`
	NoBias    *bool `json:"no_bias"`
	Attention struct {
		ALiBi bool  `json:"alibi"`
		Keys  int64 `json:"kv_n_heads"`
		Norm  bool  `json:"qk_ln"`
	} `json:"attn_config"`
}

// readMPT is an MPT, which has learned positions where attention has no slopes. What was
// never published of the family is refused.
func readMPT(data []byte, f *fields) (*Model, error) {
	var p mptFields
	if err := decode(data, &p); err != nil {
		return nil, err
	}
	if p.Attention.Norm || p.Attention.Keys != 0 && p.Attention.Keys != p.Heads || p.NoBias != nil && !*p.NoBias {
		return nil, fmt.Errorf("config: an MPT with biases, qk_ln or shared keys is not understood")
	}
	if p.Heads == 0 || p.Hidden == 0 || p.Hidden%p.Heads != 0 {
		return nil, fmt.Errorf("config: d_model is %d and n_heads %d; want a width that divides among heads: correct them in the config.json", p.Hidden, p.Heads)
	}
	p.Ratio = cmp.Or(p.Ratio, 4)
	m := mpt(f.Type, p.Layers, p.Hidden, p.Heads)
	m.Wide, m.Words = p.Ratio*p.Hidden, f.Words
	if f.Name != "" {
		m.Name = f.Name
	}
	if !p.Attention.ALiBi {
		m.Positions = p.Positions
	}
	return m, m.check()
}

// modelTypes say what a model_type means beside its sizes.
var modelTypes = map[string]func(*Model, *fields){
	"llama":   func(m *Model, f *fields) { m.Gated, m.QKVBias, m.OutBias = true, f.QKVBias, f.QKVBias },
	"mistral": func(m *Model, _ *fields) { m.Gated = true },
	"phi3":    func(m *Model, _ *fields) { m.Gated = true },
	"smollm3": func(m *Model, f *fields) {
		m.Gated, m.QKVBias, m.OutBias, m.Tied = true, f.QKVBias, f.QKVBias, f.Tied == nil || *f.Tied
	},
	"qwen2": func(m *Model, _ *fields) { m.Gated, m.QKVBias = true, true },
	"qwen3": func(m *Model, f *fields) {
		m.Gated, m.QKNorm, m.QKVBias, m.OutBias = true, true, f.QKVBias, f.QKVBias
	},
	"gemma": func(m *Model, f *fields) { m.Gated, m.Tied = true, f.Tied == nil || *f.Tied },
	"mixtral": func(m *Model, f *fields) {
		m.Gated = true
		m.MoE = &MoE{Experts: f.LocalExperts, TopK: f.TopK, Wide: f.Wide}
	},
	"qwen3_moe": func(m *Model, f *fields) {
		m.Gated, m.QKNorm, m.QKVBias, m.OutBias = true, true, f.QKVBias, f.QKVBias
		m.MoE = &MoE{Experts: f.Experts, TopK: f.TopK, Wide: f.ExpertWide}
	},
	"deepseek_v3": deepseekFields,
	"deepseek_v2": deepseekFields,
	"phi": func(m *Model, _ *fields) {
		m.Layer, m.Bias, m.HeadBias, m.Parallel, m.OneNorm = true, true, true, true, true
	},
	"gpt2": func(m *Model, f *fields) {
		m.Layer, m.Bias, m.Tied = true, true, f.Tied == nil || *f.Tied
		m.Positions = f.Positions
	},
	"gpt_neox": func(m *Model, _ *fields) { m.Layer, m.Bias, m.Parallel = true, true, true },
	"falcon":   falconFields,
}

// deepseekFields are DeepSeek's attention and experts; the third version has a router
// with a correction bias.
func deepseekFields(m *Model, f *fields) {
	m.Gated = true
	m.MLA = &MLA{QRank: f.QRank, KVRank: f.KVRank, Nope: f.Nope, Rope: f.Rope, Value: f.Value}
	if f.Routed > 0 {
		m.MoE = &MoE{Experts: f.Routed, TopK: f.TopK, Wide: f.ExpertWide, Shared: f.SharedCount * f.ExpertWide, Dense: f.Dense, Bias: f.Type == "deepseek_v3"}
	}
}

// falconFields: the first Falcons share one head of keys and one norm, the later ones
// have groups and two norms.
func falconFields(m *Model, f *fields) {
	m.Layer, m.Parallel, m.OneNorm = true, true, true
	m.Tied, m.Bias = f.Tied == nil || *f.Tied, f.FalconBias
	switch {
	case f.NewDecoder:
		m.Keys, m.OneNorm = f.FalconKeys, false
	case f.MultiQuery == nil || *f.MultiQuery:
		m.Keys = 1
	}
}

// ReadConfig is the decoder of a Hugging Face config.json. Families whose blocks are not
// known are refused by their name, as are towers for pictures, encoders and quantised
// weights.
func ReadConfig(data []byte) (*Model, error) {
	var f fields
	var old olderFields
	if err := cmp.Or(decode(data, &f), decode(data, &old)); err != nil {
		return nil, err
	}
	for _, v := range []struct {
		to   *int64
		from int64
	}{{&f.Layers, old.Layers}, {&f.Hidden, old.Hidden}, {&f.Heads, old.Heads}, {&f.Wide, old.Wide}, {&f.Positions, old.Positions}} {
		*v.to = cmp.Or(*v.to, v.from)
	}
	if f.Type == "mpt" {
		return readMPT(data, &f)
	}
	return f.model()
}

// decode reads the fields that into, a pointer to a struct, has of a config.json. It refuses
// numbers that are none, or out of the ranges of package ask, by their keys.
func decode(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return fmt.Errorf("config: %s is a %s, which is none of its values: correct it in the config.json", wrong.Field, wrong.Value)
	}
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	for f, v := range reflect.ValueOf(into).Elem().Fields() {
		if f.Type.Kind() == reflect.Int64 {
			if err := ask.CheckSize(f.Tag.Get("json"), v.Int(), 0); err != nil {
				return fmt.Errorf("config: %w", err)
			}
		}
	}
	return nil
}

// Understood is what ReadConfig reads of a config.json, as JSON without spaces: what
// people pass on of it.
func Understood(data []byte) (string, error) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &all); err != nil {
		return "", fmt.Errorf("config: %w", err)
	}
	var known []string
	for _, t := range []reflect.Type{reflect.TypeFor[fields](), reflect.TypeFor[olderFields](), reflect.TypeFor[mptFields]()} {
		for f := range t.Fields() {
			known = append(known, f.Tag.Get("json"))
		}
	}
	maps.DeleteFunc(all, func(name string, value json.RawMessage) bool {
		return !slices.Contains(known, name) || string(value) == "null"
	})
	text, err := json.Marshal(all)
	return string(text), err
}

// model builds the decoder that the fields describe.
func (f *fields) model() (*Model, error) {
	switch {
	case present(f.Vision):
		return nil, fmt.Errorf("config: vision_config is not understood: the tower for pictures would be missing")
	case present(f.Text):
		return nil, fmt.Errorf("config: text_config is not understood: what stands beside the text would be missing")
	case f.Encoder:
		return nil, fmt.Errorf("config: is_encoder_decoder is not understood: one row of blocks is expected")
	case present(f.Quantize):
		return nil, fmt.Errorf("config: quantization_config is not understood: bytes of quantised weights are not counted")
	}
	if err := f.unlike(); err != nil {
		return nil, err
	}
	fill := modelTypes[f.Type]
	if fill == nil {
		return nil, fmt.Errorf("config: model_type %q is not understood; known are %s", f.Type, strings.Join(types(), ", "))
	}
	if f.Heads == 0 {
		return nil, fmt.Errorf("config: num_attention_heads is missing")
	}
	m := &Model{Name: f.Type, Layers: f.Layers, Hidden: f.Hidden, Heads: f.Heads, Keys: f.Keys, Head: f.Head, Wide: f.Wide, Words: f.Words}
	if f.Name != "" {
		m.Name = f.Name
	}
	m.Tied = f.Tied != nil && *f.Tied
	m.Keys = cmp.Or(m.Keys, m.Heads)
	if m.Head == 0 {
		if m.Hidden%m.Heads != 0 {
			return nil, fmt.Errorf("config: hidden_size is %d, which does not divide among the %d of num_attention_heads: correct one of them, or add head_dim", m.Hidden, m.Heads)
		}
		m.Head = m.Hidden / m.Heads
	}
	m.Wide = cmp.Or(m.Wide, 4*m.Hidden)
	fill(m, f)
	m.Window = f.window()
	if f.MLPBias {
		return nil, fmt.Errorf("config: mlp_bias is not understood")
	}
	if m.MoE != nil && (m.MoE.Experts <= 0 || m.MoE.TopK <= 0 || m.MoE.Wide <= 0) {
		return nil, fmt.Errorf("config: the experts of %q are not all there: %d of width %d, %d for a token", f.Type, m.MoE.Experts, m.MoE.Wide, m.MoE.TopK)
	}
	return m, m.check()
}

// unlike refuses what makes blocks unlike those of the family that are known.
func (f *fields) unlike() error {
	other := func(v *int64) bool { return v != nil && *v != 1 }
	not := func(v *bool) bool { return v != nil && !*v }
	for _, v := range []struct {
		field string
		is    bool
	}{
		{"layer_types", slices.ContainsFunc(f.LayerTypes, func(t string) bool { return t != "full_attention" })},
		{"decoder_sparse_step", other(f.SparseStep)}, {"mlp_only_layers", len(f.DenseLayers) > 0}, {"moe_layer_freq", other(f.LayerFreq)},
		{"use_parallel_residual", f.Type == "gpt_neox" && not(f.Residual)}, {"parallel_attn", f.Type == "falcon" && not(f.Parallel)},
		{"qk_layernorm", f.HeadNorm}, {"add_cross_attention", f.Cross}, {"attention_bias", f.QKVBias && strings.HasPrefix(f.Type, "deepseek")},
	} {
		if v.is {
			return fmt.Errorf("config: %s makes a %q whose blocks are not understood", v.field, f.Type)
		}
	}
	return nil
}

// window is how far attention looks back; 0: to the beginning. Some families have a window
// that is used only if they say so.
func (f *fields) window() int64 {
	switch used := strings.HasPrefix(f.Type, "mistral") || f.Type == "mixtral" || f.Type == "phi3"; {
	case f.UseWindow != nil && *f.UseWindow, used && f.UseWindow == nil:
		return f.Window
	}
	return 0
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// types are the model_types that are understood, in order.
func types() (out []string) {
	out = []string{"mpt"}
	for name := range modelTypes {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
