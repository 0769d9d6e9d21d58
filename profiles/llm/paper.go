package llm

import "strings"

// Formula is the memory of activations that arXiv:2205.05198 computes for a network
// whose blocks keep what its equations 1 to 5 say. It is exact for that program alone.
type Formula struct {
	S          int64  `json:"s"`
	B          int64  `json:"b"`
	H          int64  `json:"h"`
	Layers     int64  `json:"L"`
	Heads      int64  `json:"a"`
	Tensor     int64  `json:"t"`
	Stages     int64  `json:"p"`
	Interleave int64  `json:"interleave"`
	Mode       string `json:"mode"` // none, seq, sel, seqsel, full
}

// named is a number of a row by the name of its field.
type named struct {
	field string
	n     int64
}

// checkSizes ends with the first number that is no size.
func checkSizes(list []named) {
	for _, v := range list {
		if v.n <= 0 || v.n > 1<<24 {
			refuse("%s is %d; want 1 to 2^24", v.field, v.n)
		}
	}
}

// perToken returns what a block keeps for each of its sbh numbers, in bytes.
func (f *Formula) perToken() float64 {
	t := float64(f.Tensor)
	scores := 5 * float64(f.Heads) * float64(f.S) / float64(f.H)
	switch f.Mode {
	case "none": // equation 2
		return 10 + 24/t + scores/t
	case "seq": // equation 4
		return (34 + scores) / t
	case "sel": // equation 2 without what selective recomputation drops
		return 10 + 24/t
	case "seqsel": // equation 6
		return 34 / t
	case "full": // table 2: the input of each block
		return 2
	}
	refuse("mode %q of the formula is not known", f.Mode)
	return 0
}

// bytes returns what the first stage keeps: L blocks of it, more by the share of the
// interleaved schedule that is not yet used up (section 4.2.3).
func (f *Formula) bytes() float64 {
	checkSizes([]named{{"s", f.S}, {"b", f.B}, {"h", f.H}, {"L", f.Layers}, {"a", f.Heads}, {"t", f.Tensor},
		{"p", f.Stages}, {"interleave", f.Interleave + 1}})
	layers := float64(f.Layers)
	if f.Interleave > 1 {
		layers *= 1 + float64(f.Stages-1)/float64(f.Stages*f.Interleave)
	}
	return f.perToken() * float64(f.S) * float64(f.B) * float64(f.H) * layers
}

// percent is bytes in per cent of what the same network keeps without recomputation.
func (f *Formula) percent() float64 {
	plain := *f
	plain.Mode = "none"
	return 100 * f.bytes() / plain.bytes()
}

// LossKernel is a benchmark of one loss [Liger-Kernel, benchmark/scripts]: forward and
// backward, repeated, so that gradients of the run before are there.
type LossKernel struct {
	Kind   string `json:"kind"`
	Tokens int64  `json:"tokens"`
	Words  int64  `json:"V"`
	Hidden int64  `json:"h"`
}

// aside are bytes of a token beside the logits, at most 0.2 % of any figure: the target
// and a copy of it, a mask, the loss in fp32. That there are two targets is inferred.
const aside = 8 + 8 + 1 + 4

// bytes returns the peak of allocated memory.
func (k *LossKernel) bytes() int64 {
	n := k.Tokens * k.Words
	head, x := k.Words*k.Hidden*2, k.Tokens*k.Hidden*2
	blas := 2 * int64(workspaceAmpere) // of the forward's thread and of autograd's
	list := []named{{"tokens", k.Tokens}, {"V", k.Words}}
	if strings.HasPrefix(k.Kind, "flce") { // with the head
		list = append(list, named{"h", k.Hidden})
	}
	checkSizes(list)
	switch k.Kind {
	case "ce_liger": // fp32 logits; the gradient is written over them
		return 4*n + aside*k.Tokens
	case "ce_torch": // logits, their gradient of the run before, log_softmax, its two gradients
		return 20*n + aside*k.Tokens
	case "flce_torch": // weights and gradient, x and gradient; log_softmax and its two gradients in bf16
		return 2*head + 2*x + 6*n + aside*k.Tokens + blas
	case "flce_liger":
		// The head's weight, its gradient of the run before, the sum of this run and a
		// chunk's product; x, its gradient of the run before and that of this run; a
		// chunk of logits in bf16, in fp32, and its gradient in bf16. Releases differ in
		// this: it is how those with the upcast and without an accumulation type do it.
		chunk := fusedChunk(k.Tokens, k.Hidden, k.Words)
		return 4*head + 3*x + 8*chunk*k.Words + aside*k.Tokens + blas
	}
	refuse("loss kernel %q is not known", k.Kind)
	return 0
}
