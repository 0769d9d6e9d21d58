package llm

import "memtide/engine"

// momentBytes returns the bytes of all moments of a number of a weight.
func (s *Setup) momentBytes(w weight) int64 {
	if w.adapter {
		return max(0, s.LoRA.Moments)
	}
	return s.Moments
}

// moments returns a rank's share of the moments of a weight that trains, in two parts: usually its first and
// second moments. Muon has one moment of a matrix, and leaves other weights to AdamW.
func (s *Setup) moments(w weight) [2]engine.Bytes {
	n := s.momentBytes(w)
	switch {
	case s.Paged: // no allocator of the card counts them
		return [2]engine.Bytes{}
	case s.orthogonal(w):
		return [2]engine.Bytes{s.at(w, 1, n/2), 0}
	case s.Optimizer == StepAdafactor:
		return [2]engine.Bytes{size(w.factored(), 4), 0}
	case s.projected(w):
		return s.galoreStates(w)
	}
	first := (n + 1) / 2
	return [2]engine.Bytes{s.at(w, 1, first), s.at(w, 1, n-first)}
}

// stays returns the part of n bytes of an optimizer that is not in host memory.
func (s *Setup) stays(n engine.Bytes) engine.Bytes {
	return n - n*engine.Bytes(given(s.HostStep, s.HostPart))/100
}

// hostBytes returns what the host has of a weight: what it steps on, moments and gradients, and weights that wait there
// beside a master copy or without training.
func (s *Setup) hostBytes(w weight) (n engine.Bytes) {
	if s.NVMe > 0 {
		return 0
	}
	if w.trained && s.Paged {
		n = s.at(w, 1, s.momentBytes(w))
	}
	if w.trained && s.HostStep {
		stored := s.storedBytes(w, max(s.Master, s.Weight))
		n = s.at(w, 1, stored+s.momentBytes(w)+s.storedBytes(w, s.Grad))
		n -= s.stays(n)
	}
	if s.HostWeights && (!w.trained || s.Master > 0) {
		n += s.weightBytes(w)
	}
	return n
}

// DeepSpeed's buffers in host memory beside drives, in numbers, by its defaults [zero/offload_config.py].
const (
	driveWeights  = 5*100_000_000 + 1_000_000_000 // buffers, and weights that stay
	driveStates   = 4                             // buffers of the largest group, for a weight and its states
	driveSubGroup = 1_000_000_000                 // numbers of a group at most
)

// driveBuffers returns the bytes of host memory through which drives are read and written.
func (p *program) driveBuffers() (n engine.Bytes) {
	if p.s.NVMe == 0 {
		return 0
	}
	var trained, all int64
	for w := range p.weights() {
		own := int64(p.s.at(w, 1, 1))
		if all += own; w.trained {
			trained += own
		}
	}
	n = size(driveStates*min(trained, driveSubGroup), 4)
	if p.s.HostWeights {
		n += size(min(all, driveWeights), p.s.Compute)
	}
	return n
}

// stateBytes returns a rank's share of a weight's master copy and moments.
func (s *Setup) stateBytes(w weight) engine.Bytes {
	m := s.moments(w)
	return s.at(w, 1, s.Master) + m[0] + m[1]
}

// stepTemps returns the optimizer's temporaries while it steps on a weight, and whether those of all weights
// exist together. Foreach has one number for every weight. The loop over weights has two numbers for one weight
// at a time [torch/optim/adamw.py].
func (s *Setup) stepTemps(w weight) (temps []engine.Bytes, together bool) {
	n := s.at(w, 1, (s.momentBytes(w)+1)/2)
	switch {
	case s.orthogonal(w):
		return s.muonTemps(w), false
	case s.Optimizer == StepAdafactor:
		return s.adafactorTemps(w), false
	case s.projected(w):
		return s.galoreTemps(w), false
	case s.Optimizer == StepForeach, s.Optimizer == StepMuon:
		return []engine.Bytes{n}, true
	case s.Optimizer == StepForLoop, s.Optimizer == StepGaLore && s.Moments > 2:
		return []engine.Bytes{n, n}, false
	}
	return nil, false
}

// factored returns how many numbers Adafactor's second moments of a weight have, in fp32: one for each row and
// each column of a matrix, and all numbers of a vector [transformers: optimization.py, Adafactor].
func (w weight) factored() int64 {
	if w.row > 0 {
		return w.n/w.row + w.row
	}
	k := w.matrices()
	return k*(w.rows+w.cols) + w.n - k*w.rows*w.cols
}

// adafactorTemps returns Adafactor's temporaries for one weight: fp32 copies of a narrow gradient and weight, and
// two of its update, which is at first the square of the gradient and at the end negated.
func (s *Setup) adafactorTemps(w weight) (temps []engine.Bytes) {
	wide := size(w.n, 4)
	for _, stored := range []int64{s.Grad, s.Weight} {
		if s.storedBytes(w, stored) < 4 {
			temps = append(temps, wide)
		}
	}
	return append(temps, wide, wide)
}

// projected reports whether GaLore projects the gradient of a weight.
func (s *Setup) projected(w weight) bool {
	return s.Optimizer == StepGaLore && w.rows > 0 && w.trained && !w.expert
}

// galoreStates returns the projection of a weight's gradient, and both moments of the projected gradient. For
// gradients in fp32 the projection is a view of a square matrix, which stays whole [galore_torch:
// galore_projector.py, get_orthogonal_matrix]. Moments have the type of the gradient, or 8 bits [adamw8bit.py].
func (s *Setup) galoreStates(w weight) [2]engine.Bytes {
	short, long := min(w.rows, w.cols), max(w.rows, w.cols)
	rank := min(s.GaLoreRank, short)
	projection := size(short*rank, s.Grad)
	if s.Grad == 4 {
		projection = size(short*short, 4)
	}
	return [2]engine.Bytes{projection, size(rank*long, min(2*s.Grad, s.Moments))}
}

// galoreTemps returns GaLore's temporaries for one weight when it decomposes the gradient, in the first step and
// every 200th: fp32 copies of a narrow gradient and of the decomposition's input, and both of its factors. The
// workspace of the decomposition is not known.
func (s *Setup) galoreTemps(w weight) (temps []engine.Bytes) {
	short := min(w.rows, w.cols)
	if s.Grad < 4 {
		temps = append(temps, size(w.n, 4))
	}
	return append(temps, size(w.n, 4), size(w.n, 4), size(short*short, 4))
}

// muonSteps is the number of Muon's iterations [torch/optim/_muon.py: DEFAULT_NS_STEPS].
const muonSteps = 5

// orthogonal reports whether Muon steps on a weight.
func (s *Setup) orthogonal(w weight) bool { return s.Optimizer == StepMuon && w.rows > 0 && w.trained }

// muonTemps returns Muon's temporaries for one weight: its update in the type of the gradient, and in bf16 the
// matrix of the iteration, its Gram matrix, the polynomial of the Gram matrix, and the next matrix
// [torch/optim/_muon.py]. A weight whose states are shared needs them whole, since ranks orthogonalise whole
// matrices [arXiv:2502.16982, algorithm 1].
func (s *Setup) muonTemps(w weight) []engine.Bytes {
	side := min(w.rows, w.cols)
	gram := size(w.matrices()*side*side, 2)
	return []engine.Bytes{size(w.n, s.Grad), size(w.n, 2), gram, gram, size(w.n, 2)}
}

// hybridClones returns the bytes of masters that Megatron's optimizer for card and host has of the card's part of all
// weights, until a second one is made of a rank's share [Megatron-LM: core/optimizer/distrib_optimizer.py, __init__].
func (p *program) hybridClones() (sum engine.Bytes) {
	for w := range p.weights() {
		if w.trained && p.s.TE && p.s.HostStep {
			sum += p.s.stays(size(w.n, p.s.Master))
		}
	}
	return sum
}

// hybridGradients allocates what this optimizer widens of narrow gradients for the card's part. They stay until newer
// ones replace them [Megatron-LM: core/optimizer/cpu_offloading/hybrid_optimizer.py, _set_sub_optimizer_grads].
func (p *program) hybridGradients() {
	if s := p.s; s.TE && s.HostStep && !s.KeepMasters && s.Grad < s.Master {
		p.take(s.stays(p.trainedShare(s.Master)), Gradients)
	}
}
