package llm

import "cmp"

// Model is the architecture of a network of blocks in a row, usually the decoder of a language model.
type Model struct {
	Name   string
	Family string // model_type of Transformers; empty for most built-in models
	Layers int64
	Hidden int64 // h
	Words  int64 // V, including the program's padding
	Labels int64 // that a head of a text's classifier or a reward model tells instead of words, or 0
	Tied   bool  // the head shares the weights of the embedding

	HeadBias  bool  // the head has a bias
	Positions int64 // learned positions; 0: positions are rotated, or there are none
	Patches   int64 // of a picture of the usual size; 0: the model reads texts
	LogitCap  bool  // a tanh caps the logits
	LogitMul  bool  // the logits are multiplied by a number
	Types     int64 // types of sentences, each with an embedding
	OwnIDs    bool  // position ids are computed for each input
	FirstNorm bool  // the embedding is normalised
	EmbedMask bool  // the embedding is multiplied by a mask of tokens
	Dropped   bool  // a dropout follows the embedding
	LastNorm  bool  // a norm of its own comes before BERT's head
	Pooler    bool  // beside BERT's head is a product of the first token, with a head of two labels
	Fp32Loss  bool  // the loss of BERT's head is in fp32
	Masked    bool  // BERT's head: a product, an activation, a norm, the words; its loss is in the compute type
	// until March 2025 the loss was of a copy of the logits without the last token, in the compute type [transformers
	// 4.45 to 4.49: models/gpt2/modeling_gpt2.py and others; transformers#35875]
	OwnLoss bool
	Shorter bool // the loss leaves out the last token of each sequence

	Ends       *Ends    // what is before and after the blocks of a network that is not a plain decoder, else nil
	Latents    *Latents // what a token of a diffusion model is; nil for other models
	NarrowLoss bool     // the loss is in the compute type, and labels are not shifted
	NextOnce   bool     // all later tokens are predicted by one layer, which runs for each

	Notes  []string // notes for people on how the model was read
	Beside []Tower  // parts that are not blocks of the model: towers for pictures and sound
	// Block describes every layer. If Pattern is set, it has the block of each layer, and the fields of
	// Block are for code that needs one value for the whole model.
	Block
	Pattern []*Block

	// OnlyEager means that only attention by products and a softmax is known.
	OnlyEager bool
	// Written means that the blocks are known only as Transformers' own code has them.
	Written  bool
	Megatron bool // they are known as Megatron-LM has them, too
	Litgpt   bool // they are known as litgpt has them, too
	Titan    bool // they are known as torchtitan has them, too
}

// Tower is a part of a model beside its blocks, with blocks of its own. A step on text alone, which is what is
// played, does not run it.
type Tower struct {
	Name   string
	Blocks int64
	Params int64 // parameters of one block
	Beside int64 // parameters outside the blocks
}

// Block describes a layer.
type Block struct {
	Heads int64 // a
	Keys  int64 // k, heads of keys and values
	Head  int64 // d
	Wide  int64 // f

	Gated    bool  // the feed-forward net is gated: two products, an activation, one product
	GELU     bool  // with Gated: the activation is GELU in its tanh form, for which Megatron has no fused kernel
	Layer    bool  // norms are LayerNorms with biases; otherwise RMS norms
	NoBias   bool  // LayerNorms have no biases (MPT)
	QKNorm   bool  // queries and keys are normalised by head
	QKVBias  bool  // the products of queries, keys and values have biases
	OutBias  bool  // the product after attention has a bias
	Bias     bool  // all products have biases
	Parallel bool  // attention and feed-forward net read the same input
	OneNorm  bool  // with Parallel: both read the same normalised input
	Window   int64 // tokens that a token sees; 0: all before it

	MoE   *MoE
	MLA   *MLA
	Index *Index // with MLA: chooses the keys that each token sees
	Delta *Delta // instead of attention
	SSM   *SSM
	Scan  *Scan
	LRU   *LRU
	Conv  *ShortConv
	Twin  bool // SSM and attention run side by side

	PerLayer   *PerLayer
	Dit        *Dit
	Unet       *Unet
	Hybrid     *Hybrid
	Hyper      *Hyper
	Compressed *Compressed
	AltUp      *AltUp

	Alone   bool // the block has a mixer of tokens and no feed-forward net
	NoMixer bool // the block has a feed-forward net and no mixer of tokens

	// Form and the fields below say how Transformers writes the block.
	Form     NormForm
	Around   Around
	WholeQK  bool // queries and keys are normalised over all heads at once
	VNorm    bool // values are normalised too, without a weight
	Bare     bool // norms of queries and keys have no weights
	EachHead bool // these norms have weights for each head, and no biases [transformers: modeling_cohere.py]

	NoRope   bool   // positions are not rotated
	Rope     int64  // numbers of a head that are rotated [all]
	RopeWide bool   // the tables of rotation are in 4 bytes
	RopeOwn  bool   // each layer makes tables of its own
	RopeEach bool   // with RopeOwn: separate tables for queries and for keys
	RopeHalf bool   // tables have half as many numbers
	Axes     int64  // axes of positions, each with tables [1]
	Each     bool   // tables are made for each sequence of the batch
	Apart    bool   // queries are concatenated from two parts
	NoTables bool   // the model passes no tables to the block
	RopeName string // blocks with equal names share tables

	Joined bool // one product makes queries, keys and values, which are parts of its result
	OneQKV bool // one product makes queries, keys and values, which are copied out of its result
	GateUp bool // one product makes both inputs of the gate
	// attention gets a single head of keys without a copy, for which scaled_dot_product_attention has no kernel
	Single   bool
	QGate    bool // the product of queries also makes a gate of attention's result
	Sinks    bool // the softmax of each head includes a learned number
	ScoreCap bool // a tanh caps the scores
	Narrow   bool // the softmax of eager attention is in the compute type
	Upcast   bool // queries and keys of eager attention are in 4 bytes

	Act       Act
	MLPBias   bool
	Dropout   bool  // a dropout follows attention and the feed-forward net
	DropAttn  bool  // scores have a dropout
	NoIDs     bool  // the model passes no position ids to the block
	Scale     int64 // bytes of the number per position that scales queries; 0: queries are not scaled
	HeadLast  bool  // queries and keys are normalised after their rotation
	NoFirst   bool  // no norm before attention
	Both      bool  // attention looks both ways
	WideIn    bool  // the input of the block is in 4 bytes
	WideSum   bool  // the output of the block is in 4 bytes
	MaskAll   bool  // blocks without attention get a mask too
	SameKV    bool  // the block uses the keys and values of an earlier block
	KeyValue  bool  // values are the keys before their norm
	Sparse    bool  // the gate of the net keeps only its largest numbers
	Besides   bool  // a dense net runs beside the experts
	Own       Own   // width and tokens that differ from the model's
	Cross     bool  // the block also attends to an encoder
	Buckets   int64 // buckets of positions, whose biases are added to the scores; 0: no such biases
	FirstBias bool  // these biases are made in this block
	BareKeys  bool  // the product of keys has no bias
	Clip      bool  // queries, keys and values are clipped
	NetDrops  bool  // with Dropout: only the feed-forward net has one
	DropNet   bool  // the input of the net's last product has a dropout
	Scales    bool  // a learned number per channel scales what is added to the stream
	Original  bool  // the block gets the input of the model, too
	OwnMask   bool  // the layer keeps a mask of its scores
	Distances int64 // with OwnMask: distances whose learned vectors are scored, too (DeBERTa); 0: none are
	Masks     bool  // kernels that take a mask get one, also if no token is hidden [transformers: modeling_gemma3.py]
	Repeat    bool  // keys and values are repeated for all heads, whatever the kernel
}

// MoE is a feed-forward net of experts.
type MoE struct {
	Experts int64
	TopK    int64
	Wide    int64 // width of one expert
	Shared  int64 // width of the shared experts, which every token goes through
	Dense   int64 // how many of the first layers have no experts
	Counted bool  // the router's correction bias counts as a parameter

	Router    Router
	Gate      bool // the shared experts have a gate
	Biases    bool // experts have biases, whose rows are gathered
	Clipped   bool // the activation clips its inputs, also in shared experts [transformers: modeling_deepseek_v4.py]
	Clamped   bool // the activation clamps its inputs [transformers: modeling_gpt_oss.py]
	All       bool // every expert computes every token [transformers: modeling_llama4.py]
	WideScore bool // the scores by which experts are weighted stay in 4 bytes
}

// Router is how Transformers writes the choice of experts.
type Router struct {
	Wide  bool // reads its input and its weight in 4 bytes
	Own   bool // with Wide: the weight is stored in 4 bytes and needs no copy
	First bool // chooses experts before the softmax
	// chooses one expert after the other, by a softmax of those near the best [transformers: modeling_phimoe.py]
	Mixer  bool
	Noise  int64 // how often the input is multiplied by noise first
	Bias   bool  // the product has a bias
	Narrow bool  // scores stay in the compute type
	Groups int64 // groups of experts, some of which are chosen first; 0: no groups
	Best   int64 // scores per group by which groups are chosen
	Top    int64 // groups that are chosen
	Norm   bool  // weights of the chosen experts are divided by their sum
	Sums   int64 // with Norm: how often [1]
	Sqrt   bool  // scores are roots of a softplus in the compute type
	Scaled bool  // a norm and a scale come before the router, and experts have scales
}

// MLA is DeepSeek's attention with compressed keys and values.
type MLA struct {
	QRank  int64 // width of compressed queries; 0: queries are not compressed
	KVRank int64 // width of compressed keys and values
	Nope   int64 // numbers of a head that are not rotated
	Rope   int64 // numbers of a head that are rotated
	Value  int64 // numbers of a head of values
}

// At returns the block of a layer, counted from 0. The block must not be changed.
func (m *Model) At(layer int64) *Block {
	if m.Pattern != nil {
		return m.Pattern[layer]
	}
	if m.MoE == nil || layer >= m.MoE.Dense {
		return &m.Block
	}
	dense := m.Block
	dense.MoE = nil
	return &dense
}

// has reports whether is returns true for the block of a layer.
func (m *Model) has(is func(*Block) bool) bool {
	for l := range m.Layers {
		if is(m.At(l)) {
			return true
		}
	}
	return false
}

// normParams returns the number of weights of a norm over n numbers.
func (b *Block) normParams(n int64) int64 {
	switch {
	case b.Form == FormBare:
		return 0
	case b.Layer && !b.NoBias:
		return 2 * n
	}
	return n
}

// block returns the number of weights of a layer, as its operators read them.
func (m *Model) block(layer int64) (n int64) {
	s := Setup{Model: m, Work: Work{Batch: 1, Seq: 1}, Code: Code{Norm: NormFused}}
	s.defaults()
	for _, o := range newBlock(&s, layer, true, nil).ops {
		for _, w := range o.weights {
			n += w.n
		}
	}
	return n
}

// embedding returns the number of weights before the blocks: of words, positions and types.
func (m *Model) embedding() int64 {
	if m.Ends.pictures() {
		return m.Ends.Params
	}
	n := (m.Words+m.Positions+m.Types)*m.Hidden + m.embedded()
	if m.Ends != nil {
		n += m.Ends.Params
	}
	if m.FirstNorm {
		n += m.normParams(m.Hidden)
	}
	if m.Distances > 0 {
		n += m.Distances*m.Hidden + m.normParams(m.Hidden)
	}
	return n
}

// finalParams returns the number of weights between the last block and the words.
func (m *Model) finalParams() int64 {
	if m.Ends.contrasts() {
		return 0
	}
	n := given(!m.pools(), m.normParams(m.Hidden))
	if m.Masked {
		n += m.Hidden*m.Hidden + given(m.Bias, m.Hidden)
	}
	if m.LastNorm {
		n += m.normParams(m.Hidden)
	}
	n += m.pooler()
	if m.AltUp != nil {
		n += (m.AltUp.Streams - 1) * m.Hidden * m.Hidden
	}
	if y := m.Hyper; y != nil {
		n += y.Streams*y.Streams*m.Hidden + y.Streams + 1
	}
	return n
}

// pooler returns the number of weights of a pooler and its head.
func (m *Model) pooler() int64 { return given(m.Pooler, m.Hidden*m.Hidden+3*m.Hidden+2) }

// pools reports whether a product of the first token takes the place of BERT's head.
func (m *Model) pools() bool { return m.Labels > 0 && m.Masked && !m.LastNorm }

// head returns the number of weights after the last block, without weights tied to the embedding.
func (m *Model) head() int64 {
	if m.Ends.contrasts() {
		return 0
	}
	told := cmp.Or(m.Labels, m.Words)
	return m.finalParams() + given(!m.Tied, told*m.Hidden) + given(m.HeadBias, told)
}

// Params returns the number of parameters, towers included.
func (m *Model) Params() int64 {
	n := m.embedding() + m.head() + m.towers()
	for _, g := range m.BlockParams() {
		n += g[0] * g[1]
	}
	return n
}

// towers returns the number of parameters of all towers.
func (m *Model) towers() (n int64) {
	for _, t := range m.Beside {
		n += t.Blocks*t.Params + t.Beside
	}
	return n
}

// BlockParams returns the parameters of the blocks, in order and without towers, as runs of equal blocks: how
// many blocks, and the parameters of each.
func (m *Model) BlockParams() (out [][2]int64) {
	known := map[Block]int64{}
	for l := range m.Layers {
		k := *m.At(l)
		if _, ok := known[k]; !ok {
			known[k] = m.block(l)
		}
		out = appendRun(out, known[k])
	}
	return out
}

// appendRun appends v to runs of equal values: it increments the count of the last run if that run has the value v.
func appendRun(runs [][2]int64, v int64) [][2]int64 {
	if n := len(runs); n > 0 && runs[n-1][1] == v {
		runs[n-1][0]++
		return runs
	}
	return append(runs, [2]int64{1, v})
}
