package llm

import (
	"cmp"

	"memtide/engine"
)

// DeepSpeed's engine runs Transformers' modules in bf16. Ranks share fp32 copies of the weights and moments, gradients
// go through a bucket of a fixed size, and the step widens a rank's share of the gradients. If neither bf16 nor fp16 is
// chosen, all of it is in fp32, and ZeRO copies the weights and a rank's gradients all the same; so it does in bf16
// with bf16_master_weights_and_grads and bf16_optimizer_states [deepspeed: runtime/engine.py,
// _configure_distributed_model; runtime/zero/stage_1_and_2.py; runtime/zero/stage3.py].
func deepspeed(s *Setup) {
	transformers(s)
	s.Autocast, s.DeepSpeed = false, true
	s.Weight, s.Grad, s.Master, s.Moments, s.Reduce = 2, 2, 4, 8, 2
}

// Sizes of DeepSpeed's buffers, in numbers.
const (
	// gradients of the bucket of ZeRO-1 and ZeRO-2 [runtime/zero/config.py: reduce_bucket_size]
	reduceBucket = 500_000_000
	// gradients that a step of ZeRO-3 widens at once [sub_group_size]
	subGroup = 1_000_000_000
)

// bucket allocates the buckets of gradients of DeepSpeed's ZeRO-1 and ZeRO-2, which are there while a backward runs. It
// returns 0 if the step has none [runtime/zero/stage_1_and_2.py: setup_buckets, _release_ipg_buffers].
func (p *program) bucket() handle {
	if s := p.s; s.DeepSpeed && (s.Zero == 1 || s.Zero == 2) {
		return p.take(size(cmp.Or(s.Bucket, reduceBucket), s.Grad), Buffers)
	}
	return 0
}

// loadBuckets allocates what DeepSpeed has of gradients throughout: under ZeRO-3 its bucket, by itself of the size that
// Transformers fills in for "auto", and a rank's share of all; and a buffer through which they leave for the host.
func (p *program) loadBuckets() {
	if s := p.s; s.DeepSpeed && s.Zero == 3 {
		p.take(size(cmp.Or(s.Bucket, s.Model.Hidden*s.Model.Hidden), s.Grad), Buffers)
		p.take(s.stays(p.trainedShare(s.Grad)), Gradients)
	}
	if p.s.bucketed() {
		var most int64
		for w := range p.weights() {
			most = max(most, given(w.trained, w.n))
		}
		p.take(size(most, p.s.Grad), Buffers)
	}
}

// bucketed reports whether gradients leave for the host as the bucket is reduced: those of ZeRO-2, whose optimizer is
// there, are on the card nowhere else [runtime/zero/stage_1_and_2.py, async_inplace_copy_grad_to_fp32_buffer_from_gpu].
func (s *Setup) bucketed() bool { return s.DeepSpeed && s.Zero == 2 && s.HostStep }

// trainedShare returns the size of n bytes per number for a rank's share of all weights that train.
func (p *program) trainedShare(n int64) (sum engine.Bytes) {
	for w := range p.weights() {
		if w.trained {
			sum += p.s.at(w, 1, n)
		}
	}
	return sum
}

// widenGradients allocates the gradients of DeepSpeed's step in the type of the copied weights, or the flat copy that
// ZeRO makes of them; and Megatron's in fp32 [Megatron-LM: core/optimizer/distrib_optimizer.py, main_grad.float()].
func (p *program) widenGradients() handle {
	if p.s.Static && p.s.Grad < p.s.Master && (!p.s.HostStep || p.s.KeepMasters) {
		return p.take(p.trainedShare(p.s.Master), StepTemps)
	}
	if !p.s.DeepSpeed || p.s.HostStep || p.s.Grad == 4 && p.s.Zero == 0 {
		return 0
	}
	bytes := max(p.s.Master, p.s.Grad)
	if p.s.Zero == 0 {
		bytes = 4
	}
	wide := p.trainedShare(bytes)
	if p.s.Zero == 3 {
		wide = min(wide, size(subGroup, bytes))
	}
	return p.take(wide, StepTemps)
}
