package llm

import (
	"testing"

	"memtide/engine"
)

// TestDeepSpeed checks what a rank holds under DeepSpeed before and between steps, counted by hand: of n weights, shared
// from a stage on, 2 bytes each, 12 for their fp32 copy and the moments, and with ZeRO-3 2 for gradients and a bucket of
// the squared hidden size; ZeRO-2 has a bucket of 5e8 gradients, while a backward runs alone. Another size is said. Its
// step widens a rank's gradients, of ZeRO-3 at most 1e9 of them. In fp32 ZeRO has copies, too. Adapters have the type of
// the model. What the engine cannot do is refused.
func TestDeepSpeed(t *testing.T) {
	m := Lookup("llama2-7b")
	n, h := m.Params(), m.Hidden
	for _, c := range []struct {
		more                engine.Args
		want, step, buckets int64
	}{
		{engine.Args{"gpus": "1"}, 14 * n, 4 * n, 0},
		{engine.Args{"gpus": "2"}, 16*n/2 + 2*h*h, 4 * subGroup, 2 * h * h},
		{engine.Args{"gpus": "8", "shard": "zero1"}, 2*n + 12*n/8, 4 * n / 8, 2 * reduceBucket},
		{engine.Args{"gpus": "8", "shard": "zero2"}, 2*n + 12*n/8, 4 * n / 8, 2 * reduceBucket},
		{engine.Args{"gpus": "8", "shard": "zero2", "bucket": "2000"}, 2*n + 12*n/8, 4 * n / 8, 2 * 2e9},
		{engine.Args{"gpus": "8", "shard": "zero2", "host": "yes"}, 2*n + 2*m.Words*h, 0, 2 * (reduceBucket + m.Words*h)},
		{engine.Args{"gpus": "8", "bucket": "500"}, 16*n/8 + 2*5e8, 4 * n / 8, 2 * 5e8},
		{engine.Args{"gpus": "8"}, 2*n/8 + 12*n/8 + 2*n/8 + 2*h*h, 4 * n / 8, 2 * h * h},
		{engine.Args{"gpus": "8", "host": "yes"}, 2*n/8 + 2*h*h, 0, 2 * h * h},
		{engine.Args{"gpus": "1", "states": "fp32"}, 12 * n, 0, 0},
		{engine.Args{"gpus": "8", "shard": "zero2", "states": "fp32"}, 4*n + 12*n/8, 4 * n / 8, 4 * reduceBucket},
		{engine.Args{"gpus": "8", "states": "fp32"}, 4*n/8 + 12*n/8 + 4*n/8 + 4*h*h, 4 * n / 8, 4 * h * h},
		{engine.Args{"gpus": "8", "states": "bf16"}, 2*n/8 + 6*n/8 + 2*n/8 + 2*h*h, 2 * n / 8, 2 * h * h},
		{engine.Args{"gpus": "8", "states": "fp32", "lora": "256", "targets": "qv"},
			4*n/8 + (4+4+8+4)*32*2*2*256*h/8 + 4*h*h, 4 * 32 * 2 * 2 * 256 * h / 8, 4 * h * h},
		{engine.Args{"gpus": "1", "lora": "8", "targets": "qv"}, 2*n + 14*32*2*2*8*h, 4 * 32 * 2 * 2 * 8 * h, 0},
	} {
		c.more["program"] = "deepspeed"
		a, err := New(m, c.more)
		if err != nil {
			t.Fatalf("%v: %v", c.more, err)
		}
		if wide := a.Setup.Compute == 4; wide != (c.more["states"] == "fp32") {
			t.Errorf("%v: %d bytes of an activation", c.more, a.Setup.Compute)
		}
		p := playedOnce(&a.Setup)
		if off := float64(p.live)/float64(c.want) - 1; off < -0.001 || off > 0.001 {
			t.Errorf("%v: %d bytes between steps; want %d", c.more, p.live, c.want)
		}
		if got := p.phaseParts[LossBackward][Buffers]; got != engine.Bytes(c.buckets) {
			t.Errorf("%v: buckets of %d bytes in the backward; want %d", c.more, got, c.buckets)
		}
		if wide := p.phaseParts[Step][StepTemps]; wide < engine.Bytes(c.step) || wide > engine.Bytes(c.step)+1<<20 {
			t.Errorf("%v: %d bytes of temporaries in the step; want %d", c.more, wide, c.step)
		}
	}
	for _, args := range []engine.Args{{"gpus": "8", "shard": "fsdp1"}, {"gpus": "8", "pp": "2"}, {"states": "bf16"}} {
		args["program"] = "deepspeed"
		a, err := New(m, args)
		if err == nil {
			_, err = a.Estimate()
		}
		if err == nil {
			t.Errorf("%v is answered; want a refusal", args)
		}
	}
}

// TestGradientsToHost checks that ZeRO-2 with the optimizer on the host has no gradients on the card beside those that
// have just been made, at the end those of the embedding, whatever the number of ranks. ZeRO-1 has all of them.
func TestGradientsToHost(t *testing.T) {
	m := Lookup("llama2-7b")
	for _, c := range []struct {
		gpus, shard string
		want        int64
	}{{"1", "zero2", m.Words * m.Hidden}, {"8", "zero2", m.Words * m.Hidden}, {"8", "zero1", m.Params()}} {
		a, err := New(m, engine.Args{"program": "deepspeed", "gpus": c.gpus, "shard": c.shard, "host": "yes", "seq": "512"})
		if err != nil {
			t.Fatal(err)
		}
		p := playedOnce(&a.Setup)
		got := max(p.phaseParts[Backward][Gradients], p.phaseParts[Reduction][Gradients])
		if got != size(c.want, 2) {
			t.Errorf("%v: %d bytes of gradients; want %d", c, got, size(c.want, 2))
		}
	}
}

// TestBarring checks that an option that means nothing is refused with those options alone that stand in its way.
func TestBarring(t *testing.T) {
	for _, c := range []struct {
		args engine.Args
		want string
	}{
		{engine.Args{"states": "bf16", "program": "deepspeed"},
			"states is bf16, which means nothing while program is deepspeed and gpus is 1"},
		{engine.Args{"states": "fp32", "program": "deepspeed", "base": "nf4", "lora": "8"},
			"states is fp32, which means nothing while program is deepspeed and base is nf4"},
		{engine.Args{"group": "2"}, "group is 2, which means nothing while ckpt is none"},
		{engine.Args{"towers": "yes", "lora": "8"}, "towers is yes, which means nothing while lora is 8"},
		{engine.Args{"logits": "kept", "loss": "fused"}, "logits is kept, which means nothing while loss is fused"},
		{engine.Args{"ranks": "2"}, "ranks is 2, which means nothing beside the others"},
	} {
		if _, err := New(Lookup("llama2-7b"), c.args); err == nil || err.Error() != c.want {
			t.Errorf("%v: error %v; want %q", c.args, err, c.want)
		}
	}
}
