package llm

// Model is the architecture of a network of blocks in a row: a decoder of a language model,
// mostly.
type Model struct {
	Name   string
	Family string // model_type of Transformers; empty: one of those built in
	Layers int64
	Hidden int64 // h
	Words  int64 // V, with the padding that the program gives it
	Tied   bool  // the head has the weights of the embedding

	HeadBias  bool  // a bias of the head
	Positions int64 // learned positions; 0: rotated ones, or none
	LogitCap  bool  // the logits go through a tanh
	Types     int64 // of sentences, each with an embedding of its own
	OwnIDs    bool  // positions are computed for each input
	FirstNorm bool  // the embedding is normalised
	EmbedMask bool  // the embedding is multiplied by a mask of tokens
	Dropped   bool  // the embedding goes through a dropout
	LastNorm  bool  // and a norm before that head
	Fp32Loss  bool  // of that head too
	Masked    bool  // BERT's head: a product, an activation and a norm before the words, and a loss in the compute type
	Shorter   bool  // the loss leaves the last token of each sequence out

	Ends       *Ends    // of a network that is no decoder alone
	Latents    *Latents // of a diffusion transformer, whose tokens are of pictures; nil of others
	NarrowLoss bool     // the loss is in the compute type, of labels as they are

	Notes  []string // what is to be said about how the model was read
	Beside []Tower  // what no block of Pattern has: towers, layers for more tokens
	// Block is what every layer is made of, or the ones that matter most where Pattern says
	// it of each.
	Block
	Pattern []*Block

	// OnlyEager says that attention by products and a softmax alone is known.
	OnlyEager bool
	// Written says that only Transformers' own code of the blocks is known, no other program's.
	Written bool
}

// Tower is something that a model has beside its blocks, in blocks of its own. What is played
// is a step on text alone, which does not run it.
type Tower struct {
	Name   string
	Blocks int64
	Params int64 // of one of them
	Beside int64 // of all that is in none
}

// Block is what a layer is made of.
type Block struct {
	Heads int64 // a
	Keys  int64 // k: heads of keys and values
	Head  int64 // d
	Wide  int64 // f

	Gated    bool // two products in, an activation, one out
	Layer    bool // LayerNorm with biases; otherwise RMS normalisation
	NoBias   bool // LayerNorm without biases (MPT)
	QKNorm   bool // queries and keys are normalised by head
	QKVBias  bool // biases of queries, keys and values
	OutBias  bool // a bias of the product behind attention
	Bias     bool // biases of all products of a block
	Parallel bool // attention and feed-forward net read the same input
	OneNorm  bool // and the same normalised input
	Window   int64

	MoE   *MoE
	MLA   *MLA
	Index *Index // beside MLA: chooses the keys that each token sees
	Delta *Delta // instead of attention
	SSM   *SSM
	Scan  *Scan
	LRU   *LRU
	Conv  *ShortConv
	Twin  bool // SSM stands beside attention

	PerLayer   *PerLayer
	Dit        *Dit
	Unet       *Unet
	Hybrid     *Hybrid
	Hyper      *Hyper
	Compressed *Compressed
	AltUp      *AltUp

	Alone   bool // nothing stands behind what mixes tokens
	NoMixer bool // nothing mixes tokens: the feed-forward net alone

	// Form and what follows say how Transformers writes the block.
	Form    NormForm
	Around  Around
	WholeQK bool // queries and keys are normalised over all heads at once
	VNorm   bool // values are normalised too, without a weight
	Bare    bool // norms of queries and keys have no weight

	NoRope   bool  // positions are not rotated
	Rope     int64 // numbers of a head that are rotated [all]
	RopeWide bool  // the tables are in 4 bytes
	RopeOwn  bool  // and each layer makes its own
	RopeEach bool  // of queries and of keys
	RopeHalf bool  // tables are of half the numbers
	Axes     int64 // of positions, each with tables [1]
	Each     bool  // tables are made for each sequence
	Apart    bool  // queries are put together of two parts
	NoTables bool  // tables are not handed to the block
	RopeName string

	Joined bool // one product makes queries, keys and values; values stay a part of it
	OneQKV bool // one product makes them, and each is copied
	GateUp bool // one product makes the gate and what it is multiplied with
	// one head of keys is handed to attention as it is, for which scaled_dot_product_attention has no kernel
	Single   bool
	QGate    bool // queries come with a gate of attention's result
	Sinks    bool // a learned number of each head joins the scores
	ScoreCap bool // scores go through a tanh
	Narrow   bool // the softmax of eager attention is in the compute type
	Upcast   bool // and its queries and keys are in 4 bytes

	Act       Act
	MLPBias   bool
	Dropout   bool  // behind attention and feed-forward net
	DropAttn  bool  // and of the scores
	NoIDs     bool  // position ids are not handed to blocks
	Scale     int64 // bytes of a number of each position that scales queries; 0: there is none
	HeadLast  bool  // queries and keys are normalised behind their rotation
	NoFirst   bool  // no norm before attention
	Both      bool  // attention looks both ways
	WideIn    bool  // what comes into the block is in 4 bytes
	WideSum   bool  // and what leaves it
	MaskAll   bool  // a mask is handed to blocks without attention too
	SameKV    bool  // keys and values are those of an earlier block
	KeyValue  bool  // values are the keys before their norm
	Sparse    bool  // the gate of the net keeps its largest numbers alone
	Besides   bool  // the net stands beside the experts
	Own       Own   // width and tokens that are not the model's
	Cross     bool  // attends to an encoder, too
	Buckets   int64 // of positions whose biases join the scores; 0: there are none
	FirstBias bool  // and are made in the block
	BareKeys  bool  // the product of keys has no bias
	NetDrops  bool  // Dropout is behind the feed-forward net alone
	DropNet   bool  // what the last product of the net reads is dropped out
	Scales    bool  // a learned number of each channel scales what joins the stream
	Original  bool  // the model's input is handed to the block
	OwnMask   bool  // each layer keeps a mask of its scores
	Repeat    bool  // keys and values are repeated for all heads before any kernel
}

// MoE is a feed-forward net of experts.
type MoE struct {
	Experts int64
	TopK    int64
	Wide    int64 // of one expert
	Shared  int64 // width of what every token goes through
	Dense   int64 // first layers without experts
	Counted bool  // the router's correction bias is a parameter: usually it is no trained weight

	Router    Router
	Gate      bool // what every token goes through has a gate
	Biases    bool // experts have biases, whose rows are gathered
	Clipped   bool // it clips its inputs, in what every token goes through too [transformers: modeling_deepseek_v4.py]
	Clamped   bool // the activation clamps its inputs [transformers: modeling_gpt_oss.py]
	All       bool // every expert computes every token [transformers: modeling_llama4.py]
	WideScore bool // the weights of experts stay in 4 bytes
}

// Router is how Transformers writes the choice of experts.
type Router struct {
	Wide  bool // reads its input and its weight in 4 bytes
	Own   bool // of which the weight is kept so, without a copy
	First bool // chooses before it scores
	// Phi's: one expert after the other, by a softmax of those near the best [transformers: modeling_phimoe.py]
	Mixer  bool
	Noise  int64 // how often the input is multiplied by noise before
	Bias   bool  // of the product
	Narrow bool  // scores stay in the compute type
	Groups int64 // of experts, of which some are chosen first; 0: none
	Best   int64 // of each group so many scores tell [2]
	Top    int64 // groups that are chosen
	Norm   bool  // weights of the chosen experts are divided by their sum
	Sums   int64 // how often [1]
	Sqrt   bool  // scores are roots of a softplus in the compute type
	Scaled bool  // a norm and a scale stand before it, and experts have scales
}

// MLA is DeepSeek's attention with compressed keys and values.
type MLA struct {
	QRank  int64 // 0: queries are not compressed
	KVRank int64
	Nope   int64 // numbers of a head without positions
	Rope   int64 // with
	Value  int64
}

// At returns what a layer, counted from 0, is made of. It is not changed.
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

// has reports whether a layer is of a kind.
func (m *Model) has(is func(*Block) bool) bool {
	for l := range m.Layers {
		if is(m.At(l)) {
			return true
		}
	}
	return false
}

// normParams returns the weights of one normalisation over n numbers.
func (b *Block) normParams(n int64) int64 {
	switch {
	case b.Form == FormBare:
		return 0
	case b.Layer && !b.NoBias:
		return 2 * n
	}
	return n
}

// block returns all weights of a layer, as its operators read them.
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

// embedding returns the weights of the words and the positions.
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
	return n
}

// finalParams returns the weights of what stands between the last block and the words.
func (m *Model) finalParams() int64 {
	if m.Ends.contrasts() {
		return 0
	}
	n := m.normParams(m.Hidden)
	if m.Masked {
		n += m.Hidden*m.Hidden + given(m.Bias, m.Hidden)
	}
	if m.LastNorm {
		n += m.normParams(m.Hidden)
	}
	if m.AltUp != nil {
		n += (m.AltUp.Streams - 1) * m.Hidden * m.Hidden
	}
	if y := m.Hyper; y != nil {
		n += y.Streams*y.Streams*m.Hidden + y.Streams + 1
	}
	return n
}

// head returns the weights behind the last block: the norm and what is not tied.
func (m *Model) head() int64 {
	if m.Ends.contrasts() {
		return 0
	}
	return m.finalParams() + given(!m.Tied, m.Words*m.Hidden) + given(m.HeadBias, m.Words)
}

// Params returns how many numbers the model trains, those beside its blocks included.
func (m *Model) Params() int64 {
	n := m.embedding() + m.head() + m.towers()
	for _, g := range m.BlockParams() {
		n += g[0] * g[1]
	}
	return n
}

// towers returns the parameters of all towers.
func (m *Model) towers() (n int64) {
	for _, t := range m.Beside {
		n += t.Blocks*t.Params + t.Beside
	}
	return n
}

// BlockParams returns the parameters of the blocks in order, without those of towers: how many in a row have how many.
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

// appendRun counts a value up if the last one is the same.
func appendRun(runs [][2]int64, v int64) [][2]int64 {
	if n := len(runs); n > 0 && runs[n-1][1] == v {
		runs[n-1][0]++
		return runs
	}
	return append(runs, [2]int64{1, v})
}
