package llm

// Model is the architecture of a decoder.
type Model struct {
	Name   string
	Layers int64
	Hidden int64 // h
	Heads  int64 // a
	Keys   int64 // k: heads of keys and values
	Head   int64 // d
	Wide   int64 // f
	Words  int64 // V, with the padding that the program gives it
	Tied   bool  // the head has the weights of the embedding

	Gated     bool  // two products in, an activation, one out
	Layer     bool  // LayerNorm with biases; otherwise RMS normalisation
	NoBias    bool  // LayerNorm without biases (MPT)
	QKNorm    bool  // queries and keys are normalised by head
	QKVBias   bool  // biases of queries, keys and values
	OutBias   bool  // a bias of the product behind attention
	Window    int64 // how far attention looks back; 0: to the beginning
	Bias      bool  // biases of all products of a block
	HeadBias  bool  // a bias of the head
	Parallel  bool  // attention and feed-forward net read the same input
	OneNorm   bool  // and the same normalised input
	Positions int64 // learned positions; 0: rotated ones

	MoE *MoE
	MLA *MLA
}

// MoE is a feed-forward net of experts.
type MoE struct {
	Experts int64
	TopK    int64
	Wide    int64 // of one expert
	Shared  int64 // width of what every token goes through
	Dense   int64 // first layers without experts
	Bias    bool  // the router's correction bias, which is no trained weight
}

// MLA is DeepSeek's attention with compressed keys and values.
type MLA struct {
	QRank  int64 // 0: queries are not compressed
	KVRank int64
	Nope   int64 // numbers of a head without positions
	Rope   int64 // with
	Value  int64
}

// normParams are the weights of one normalisation over n numbers.
func (m *Model) normParams(n int64) int64 {
	if m.Layer && !m.NoBias {
		return 2 * n
	}
	return n
}

// attentionParams are the weights of the attention of one block.
func (m *Model) attentionParams() int64 {
	h := m.Hidden
	if l := m.MLA; l != nil {
		q := h * m.Heads * (l.Nope + l.Rope)
		if l.QRank > 0 {
			q = h*l.QRank + l.QRank + l.QRank*m.Heads*(l.Nope+l.Rope)
		}
		return q + h*(l.KVRank+l.Rope) + l.KVRank + l.KVRank*m.Heads*(l.Nope+l.Value) + m.Heads*l.Value*h
	}
	wide, keys := m.Heads*m.Head, m.Keys*m.Head
	n := 2*h*wide + 2*h*keys
	if m.QKVBias || m.Bias {
		n += wide + 2*keys
	}
	if m.Bias || m.OutBias {
		n += h
	}
	if m.QKNorm {
		n += 2 * m.Head
	}
	return n
}

// feedForward are the weights of a feed-forward net of a width.
func (m *Model) feedForward(wide int64) int64 {
	n := 2 * m.Hidden * wide
	if m.Gated {
		n = 3 * m.Hidden * wide
	}
	if m.Bias {
		n += wide + m.Hidden
		if m.Gated {
			n += wide
		}
	}
	return n
}

// hasExperts says whether a layer, counted from 0, has experts.
func (m *Model) hasExperts(layer int64) bool { return m.MoE != nil && layer >= m.MoE.Dense }

// expertParams are the weights of all experts of one layer.
func (m *Model) expertParams() int64 { return m.MoE.Experts * 3 * m.Hidden * m.MoE.Wide }

// blockDense are the weights of a layer that every token uses: without its experts.
func (m *Model) blockDense(layer int64) int64 {
	norms := int64(2)
	if m.OneNorm {
		norms = 1
	}
	n := m.attentionParams() + norms*m.normParams(m.Hidden)
	if !m.hasExperts(layer) {
		return n + m.feedForward(m.Wide)
	}
	n += m.Hidden * m.MoE.Experts
	if m.MoE.Bias {
		n += m.MoE.Experts
	}
	return n + 3*m.Hidden*m.MoE.Shared
}

// block are all weights of a layer.
func (m *Model) block(layer int64) int64 {
	n := m.blockDense(layer)
	if m.hasExperts(layer) {
		n += m.expertParams()
	}
	return n
}

// embedding are the weights of the words and the positions.
func (m *Model) embedding() int64 { return (m.Words + m.Positions) * m.Hidden }

// head are the weights behind the last block: the norm and what is not tied.
func (m *Model) head() int64 {
	n := m.normParams(m.Hidden)
	if !m.Tied {
		n += m.Words * m.Hidden
	}
	if m.HeadBias {
		n += m.Words
	}
	return n
}

// Params is how many numbers the model has.
func (m *Model) Params() int64 {
	n := m.embedding() + m.head()
	for l := range m.Layers {
		n += m.block(l)
	}
	return n
}
