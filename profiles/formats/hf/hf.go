// Package hf makes the network of a Hugging Face config.json: sizes by formulas, times
// by a stated model.
package hf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/chainify"
	"memtide/profiles/formats/native"
	"memtide/profiles/jsonfile"
	"memtide/profiles/llm/ask"
	"memtide/profiles/parse"
)

const hfName = "hfconfig"

func init() {
	profiles.Register(&profiles.Format{
		Name:  hfName,
		Title: "Hugging Face config.json",
		Doc: `A transformer from its config.json: sizes and times by formulas.

The families of GPT-2, Llama, Mistral, Qwen2, Qwen3, Gemma, BERT and RoBERTa are known by
their model_type; another one is read as a decoder, with a warning, if the file has
the sizes of one. What a config does not say can be added to it:

	"memtide": {"batch":1, "seq":1024, "precision":"bf16", "flash":true, "tp":1,
	            "mfu":40, "tflops":112, "bytes_per_sbh":34}

batch is sequences per step (1), seq their length (as many positions as the network
has, at most 8192), precision bf16, f16 or f32 (bf16), flash whether attention is
fused (for gated decoders), tp over how many devices each layer is split (1), mfu
the percent of the device's peak that products reach (40), tflops that peak (a
V100's). bytes_per_sbh replaces what a layer keeps by so many bytes for each of its
seq x batch x hidden numbers: real layers keep up to twice the ideal. The defaults
are in brackets.`,
		Extensions: []string{".json"},
		MaxSize:    maxConfig,
		Match:      matchHFConfig,
		Decode:     decodeHFConfig,
	})
}

// maxConfig is far above the longest list of labels in a config.
const maxConfig = 4 << 20

// matchHFConfig claims an object that has a model_type, or the sizes of a
// transformer, and is neither a profile nor a trace.
func matchHFConfig(head []byte) bool {
	// Reading a head as JSON takes milliseconds in a browser; most others do not
	// even contain these words.
	contains := func(any ...string) bool {
		return slices.ContainsFunc(any, func(key string) bool { return bytes.Contains(head, []byte(key)) })
	}
	if !contains("model_type") && !(contains(hidden...) && contains(layers...)) {
		return false
	}
	var keys []string
	for key := range jsonfile.Outer(head) {
		keys = append(keys, key)
	}
	has := func(any ...string) bool {
		return slices.ContainsFunc(any, func(key string) bool { return slices.Contains(keys, key) })
	}
	if has("traceEvents") || native.Claims(head) {
		return false
	}
	return has("model_type") || has(hidden...) && has(layers...)
}

// Names that configs have for one size.
var (
	hidden    = []string{"hidden_size", "n_embd", "d_model"}
	layers    = []string{"num_hidden_layers", "n_layer", "num_layers", "n_layers"}
	hfHeads   = []string{"num_attention_heads", "n_head", "num_heads", "n_heads"}
	hfWide    = []string{"intermediate_size", "n_inner", "ffn_dim"}
	positions = []string{"max_position_embeddings", "n_positions", "n_ctx"}
	experts   = []string{"num_local_experts", "num_experts", "n_routed_experts"}
)

// Quantities of configs.
var (
	modelSizes = parse.Quantity{Plural: "Sizes of a network", Unit: "units", Whole: true}
	thousandth = parse.Quantity{Plural: "Such numbers", Unit: "one", Shift: 3}
)

// config is a transformer, and what is chosen about a step [in brackets the
// letters of Korthikanti et al., arXiv:2205.05198].
type config struct {
	family hfFamily

	layers    int64 // [L]
	hidden    int64 // [h]
	heads     int64 // [a]
	keyHeads  int64 // heads of keys and of values
	headSize  int64 // numbers of a head
	wide      int64 // width of the feed-forward net
	words     int64 // [v] the vocabulary
	positions int64 // 0: not limited

	batch     int64 // [b]
	tokens    int64 // [s]
	precision string
	flash     bool
	split     int64   // [t] devices that share a layer
	mfu       float64 // share of the peak
	peak      float64 // operations/s; 0: of a V100
	perSBH    int64   // thousandths of a byte; 0: by the operators
	dropout   dropout
	tied      bool // the output layer has the weights of the embedding
}

// dropout says where numbers are dropped, each with a mask of a byte.
type dropout struct{ embedding, attention, residual bool }

// hfFamily is what networks of a kind have in common.
type hfFamily struct {
	gated    bool // Llama's: RMS normalisation, rotated positions, gated feed-forward net
	encoder  bool // BERT's: normalised behind the sums, attention in both directions
	biases   bool // of queries, keys and values in a gated network
	normedQK bool // queries and keys are normalised
	tied     bool // the output layer has the weights of the embedding, unless the file says otherwise
	offset   int64
	segments int64
}

var families = map[string]hfFamily{
	"gpt2":    {},
	"llama":   {gated: true},
	"mistral": {gated: true},
	"qwen2":   {gated: true, biases: true},
	"qwen3":   {gated: true, normedQK: true},
	"gemma":   {gated: true, tied: true},
	"bert":    {encoder: true, segments: 2},
	"roberta": {encoder: true, segments: 1, offset: 2}, "xlm-roberta": {encoder: true, segments: 1, offset: 2},
	"camembert": {encoder: true, segments: 1, offset: 2},
}

// Limits of a config.
const (
	mostLayers = 300     // more than any model has; what is read takes about 60 KiB for each
	mostSize   = 1 << 26 // of what is chosen about a step; sizes of the network are limited by package ask
	mostTokens = 8192    // when the file does not choose
)

func decodeHFConfig(name string, data []byte, poll *engine.Poll) *profiles.Profile {
	profiles.End(poll.Err())
	errs := parse.NewErrors(hfName, len(data))
	top := jsonfile.Open(data, errs)
	r := &reader{o: top, top: top}
	c := r.read()
	b := newHFNet(c)
	b.build()
	if b.overflow {
		errs.Fail(&profiles.FormatError{Found: "A layer would keep more than 2^53 bytes",
			Expected: "Sizes of a network that a device could hold a part of are expected.", Remedy: "Check the sizes, the batch and the sequence length."})
	}
	l, err := chainify.Linearize(b.ops, poll)
	profiles.End(err)
	if text := top.Text("_name_or_path"); text != "" && !strings.Contains(text, "..") {
		name = profiles.Clip(strings.TrimSuffix(text[strings.LastIndex(text, "/")+1:], "/"))
	}
	return b.profile(name, l, r)
}

// reader reads a config.
type reader struct {
	top, o   *jsonfile.Object // the file, and the object in it that has the sizes
	model    string
	warnings []string
}

// read fills a config in; what is missing or impossible ends it.
func (r *reader) read() *config {
	if text := r.top.Object("text_config"); text.Fields != nil && r.size(hidden) == 0 {
		r.o = text
		r.warnings = append(r.warnings, "Only the language part of this network, its text_config, is read.")
	}
	r.model = r.o.Text("model_type")
	r.refuse()
	r.top.Errs.End()
	c := &config{layers: r.need(layers), hidden: r.need(hidden), heads: r.need(hfHeads), words: r.need([]string{"vocab_size"}),
		wide: r.size(hfWide), positions: r.size(positions), headSize: r.size([]string{"head_dim"}), keyHeads: r.size([]string{"num_key_value_heads"})}
	r.top.Errs.End()
	r.chooseFamily(c)
	r.fill(c)
	r.choices(c)
	r.check(c)
	r.top.Errs.End()
	return c
}

// otherInputs are keys of networks that do not read texts.
var otherInputs = []struct{ key, what string }{
	{"num_mel_bins", "a network for speech"}, {"feat_extract_norm", "a network for speech"}, {"conv_kernel", "a network for speech"},
	{"patch_size", "a network for images"}, {"depths", "a network for images"}, {"num_channels", "a network for images"},
}

// other is what a network without a vocabulary and a width is for; empty if it has them
// or if nothing tells.
func (r *reader) other() string {
	if r.size([]string{"vocab_size"}) > 0 && r.size(layers) > 0 {
		return ""
	}
	for _, k := range otherInputs {
		if r.o.Fields[k.key] != nil {
			return k.what
		}
	}
	return ""
}

// refuse reports networks whose layers are not those of the formulas.
func (r *reader) refuse() {
	add := func(found, expected string) {
		r.top.Errs.Add(&profiles.FormatError{Path: "model_type", Found: found, Expected: expected, Remedy: "Measure the network with the collector."})
	}
	if what := r.other(); what != "" {
		add("This is the config of "+what, "Transformers of texts are expected: their layers, heads and vocabulary give the sizes.")
		return
	}
	if r.size(experts) > 1 {
		add("The layers of this network choose among experts", "Layers that do the same work for every token are expected.")
	}
	if r.model == "falcon" {
		add("The blocks of Falcon share one head of keys and values and one normalisation", "Blocks like those of GPT-2 or of Llama are expected.")
	}
	if r.top.Value("vision_config") != nil {
		add("This network has a tower for pictures, its vision_config", "One row of layers is expected.")
	}
	if r.o.Flag("is_encoder_decoder") {
		add("This network has an encoder and a decoder", "One row of layers is expected.")
	}
}

// size is the first of some keys that the file has; 0 if none.
func (r *reader) size(keys []string) int64 {
	for _, key := range keys {
		if r.o.Value(key) != nil {
			return r.o.Count(key, modelSizes)
		}
	}
	return 0
}

// need is size, of at least 1.
func (r *reader) need(keys []string) int64 {
	v := r.size(keys)
	if v == 0 {
		r.top.Errs.Add(&profiles.FormatError{Path: keys[0], Found: keys[0] + " is missing or 0",
			Expected: "The config of a transformer has the number and the width of its layers, its heads and its vocabulary.",
			Remedy:   fmt.Sprintf("Add %q, or use a preset.", keys[0])})
	}
	return v
}

// chooseFamily goes by the model_type, or by what a decoder usually says.
func (r *reader) chooseFamily(c *config) {
	family, known := families[r.model]
	if c.family = family; known {
		return
	}
	act := r.o.Text("hidden_act")
	c.family.gated = r.o.Value("rms_norm_eps") != nil || act == "silu" || act == "swish"
	kind := "GPT-2"
	if c.family.gated {
		kind = "Llama"
	}
	r.warnings = append(r.warnings, fmt.Sprintf("model_type is %q, which is not known: the sizes are read as those of a decoder like %s.", profiles.Clip(r.model), kind))
}

// fill sets what follows from other sizes, or is usual.
func (r *reader) fill(c *config) {
	c.keyHeads = cmp.Or(c.keyHeads, c.heads)
	if c.headSize == 0 {
		if c.hidden%c.heads != 0 {
			r.top.Errs.Add(&profiles.FormatError{Path: "hidden_size", Found: fmt.Sprintf("A width of %d does not divide among %d heads", c.hidden, c.heads),
				Expected: "Every head has the same number of numbers.", Remedy: "Correct the width or the heads, or add head_dim."})
		}
		c.headSize = c.hidden / c.heads
	}
	c.wide = cmp.Or(c.wide, 4*c.hidden)
	if r.o.Value("type_vocab_size") != nil {
		c.family.segments = r.o.Count("type_vocab_size", modelSizes)
	}
	if r.o.Flag("attention_bias") {
		c.family.biases = true
	}
	gpt := !c.family.gated
	c.dropout = dropout{r.drops(gpt, "embd_pdrop", "hidden_dropout_prob"), r.drops(gpt, "attn_pdrop", "attention_probs_dropout_prob", "attention_dropout"),
		r.drops(gpt, "resid_pdrop", "hidden_dropout_prob")}
	c.tied = !c.family.gated || c.family.tied
	if r.o.Value("tie_word_embeddings") != nil {
		c.tied = r.o.Flag("tie_word_embeddings")
	}
}

// drops tells whether a probability is above 0, the usual one if it is not given.
func (r *reader) drops(otherwise bool, keys ...string) bool {
	for _, key := range keys {
		if text, ok := r.o.Number(key); ok {
			mantissa, _, _, ok := parse.SplitDecimal(text)
			return ok && mantissa != ""
		}
	}
	return otherwise
}

// choices reads what is added for memtide.
func (r *reader) choices(c *config) {
	m := r.top.Object("memtide")
	or := func(key string, q parse.Quantity, otherwise int64) int64 {
		if m.Value(key) == nil {
			return otherwise
		}
		v := m.Count(key, q)
		if v == 0 && r.top.Errs.Err() == nil {
			m.Wrong(key, json.Number("0"), "A number above 0 is expected.")
		}
		return v
	}
	c.batch, c.split = or("batch", parse.Samples, 1), or("tp", modelSizes, 1)
	limit := c.positions - c.family.offset
	usual := int64(mostTokens)
	if limit > 0 {
		usual = min(limit, usual)
	}
	c.tokens = or("seq", modelSizes, usual)
	c.mfu = float64(or("mfu", thousandth, 40_000)) / 100_000
	c.peak = float64(or("tflops", thousandth, 0)) * 1e9
	c.perSBH = or("bytes_per_sbh", thousandth, 0)
	if c.precision = m.Text("precision"); c.precision == "" {
		c.precision = "bf16"
	}
	if !slices.Contains([]string{"bf16", "f16", "f32"}, c.precision) {
		m.Wrong("precision", c.precision, "bf16, f16 or f32 is expected.")
	}
	if c.flash = c.family.gated; m.Value("flash") != nil {
		c.flash = m.Flag("flash")
	}
	m.NoteOthers()
	r.warnings = append(r.warnings, m.Known.Warning("in memtide")...)
}

// check reports what cannot be.
func (r *reader) check(c *config) {
	add := func(found, expected, remedy string) {
		r.top.Errs.Add(&profiles.FormatError{Found: found, Expected: expected, Remedy: remedy})
	}
	if c.layers > mostLayers {
		add(fmt.Sprintf("There are %d layers", c.layers), fmt.Sprintf("At most %d are read.", mostLayers), "Check the number of layers.")
	}
	for _, v := range []struct {
		keys []string
		n    int64
	}{{hidden, c.hidden}, {hfHeads, c.heads}, {[]string{"num_key_value_heads"}, c.keyHeads}, {[]string{"head_dim"}, c.headSize}, {hfWide, c.wide},
		{[]string{"vocab_size"}, c.words}, {positions, c.positions}} {
		if most := ask.SizeOf(v.keys[0]).Most; v.n > most {
			add(fmt.Sprintf("%s is %d", v.keys[0], v.n), fmt.Sprintf("At most %d is expected.", most), "Correct it in the config.json.")
			return
		}
	}
	for _, v := range []int64{c.batch, c.tokens, c.split, c.family.segments} {
		if v > mostSize {
			add(fmt.Sprintf("A size is %d", v), fmt.Sprintf("Sizes of a network are at most %d.", mostSize), "Check the sizes of the config.")
			return
		}
	}
	limit := c.positions - c.family.offset
	if !c.family.gated && c.positions > 0 && c.tokens > limit {
		add(fmt.Sprintf("The sequence length is %d", c.tokens), fmt.Sprintf("This network learns %d positions.", limit),
			`Set "seq" in "memtide" to no more than that.`)
	}
	if c.split > 1 && c.heads%c.split != 0 {
		add(fmt.Sprintf("%d heads cannot be split over %d devices", c.heads, c.split), "Every device has the same number of heads.",
			`Set "tp" in "memtide" to a divisor of the heads.`)
	}
	if c.mfu > 1 {
		add(fmt.Sprintf("mfu is %g %%", 100*c.mfu), "No product is faster than the peak.", "Set it between 1 and 100, in percent.")
	}
}
