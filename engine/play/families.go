package play

import (
	"fmt"
	"slices"
	"strings"
)

// furtherFamilies are the families that keep single results, or send arguments to the host. They are a list of
// their own because joining lists in an init function would link them into every program.
var furtherFamilies = []family{
	{"torchtitan", func(l *layout) int { return min(2, len(l.layers)) }, noLayers,
		func(l *layout, n int) []*Segment { return l.titan(n == 1, titanSaves) },
		func(_ *layout, n int) string {
			return fmt.Sprintf("activation_checkpoint=%sAC.Config()", titanPolicies[n-1])
		},
		func(n int) string {
			return fmt.Sprintf("main since 15 June 2026 (class %sAC of torchtitan.distributed.activation_checkpoint), in Trainer.Config; as it is typed: activation-checkpoint:%s; there is no every n-th layer any more",
				titanPolicies[n-1], strings.ToLower(titanPolicies[n-1]))
		}},
	{"torchtitan up to 0.2.2", func(l *layout) int { return titanLast(l) }, noLayers,
		// Layers are counted from 1. The last number means the option "op".
		func(l *layout, n int) []*Segment {
			if n == titanLast(l) {
				return l.titan(false, titanSaved)
			}
			return every(l, func(i int) bool { return (i+1)%n == 0 })
		},
		func(l *layout, n int) string {
			switch n {
			case 1:
				return `mode = "full"`
			case titanLast(l):
				return `mode = "selective", selective_ac_option = "op"`
			}
			return fmt.Sprintf(`mode = "selective", selective_ac_option = "%d"`, n)
		},
		func(int) string {
			return "the released versions, the last of February 2026; in [activation_checkpoint] of the TOML file"
		}},
	{"JAX", func(l *layout) int { return policies + len(l.names()) }, noLayers, jaxPlan, jaxCode, nil},
	{"DeepSpeed", layers, noLayers,
		func(l *layout, n int) []*Segment { return runs(l.layers, n) },
		func(l *layout, n int) string {
			return fmt.Sprintf("deepspeed.checkpointing.configure(None, num_checkpoints=%d), and in the model deepspeed.checkpointing.checkpoint around every %s", parts(l, n), together(n))
		}, nil},
	{"DeepSpeed, cpu_checkpointing", layers, noLayers,
		func(l *layout, n int) []*Segment {
			out := runs(l.layers, n)
			for _, s := range out {
				s.Input = DoOffload
			}
			return out
		},
		func(l *layout, n int) string {
			return fmt.Sprintf("deepspeed.checkpointing.configure(None, num_checkpoints=%d, checkpoint_in_cpu=True), and in the model deepspeed.checkpointing.checkpoint around every %s", parts(l, n), together(n))
		}, nil},
}

// titanPolicies are torchtitan's classes of activation checkpointing, without the one that sets the memory budget
// of torch.compile.
var titanPolicies = []string{"Full", "Selective"}

// titanLast returns the number of settings of released versions of torchtitan: every number of layers, and the
// option "op".
func titanLast(l *layout) int {
	if len(l.layers) == 0 {
		return 0
	}
	return len(l.layers) + 1
}

// titan returns a plan in which every layer runs again. Unless full is set, it keeps the results of the operators
// for which saves returns true, and of every second matrix product without a bias
// [torchtitan/distributed/activation_checkpoint.py].
func (l *layout) titan(full bool, saves func(op string) bool) []*Segment {
	return l.saving(func(s Saved) bool {
		if s.Op == "aten.mm.default" {
			return !full && s.At%2 == 0
		}
		return !full && saves(s.Op)
	})
}

// titanSaved reports whether released versions of torchtitan keep the result of an operator.
func titanSaved(op string) bool {
	return strings.HasPrefix(op, "aten._scaled_dot_product") || op == "aten.max.default"
}

// titanSaves reports whether the main branch of torchtitan keeps the result of an operator, as of August 2026. This
// includes the operators that torch._functorch.partitioners calls compute-intensive.
func titanSaves(op string) bool {
	return titanSaved(op) ||
		slices.Contains([]string{"aten.convolution.default", "aten.bmm.default", "aten.addmm.default",
			"aten._flash_attention_forward.default", "aten._efficient_attention_forward.default",
			"aten.upsample_bilinear2d.default",
			"aten._scaled_mm.default", "aten.topk.default"}, op)
}

func parts(l *layout, n int) int { return (len(l.layers) + n - 1) / n }

func together(n int) string {
	if n == 1 {
		return "layer"
	}
	return fmt.Sprintf("%d layers", n)
}

// policies is the number of JAX policies without names.
const policies = 3

// mostNames is the largest number of names in a JAX policy.
const mostNames = 12

// names returns the results of a layer that a JAX policy with names may keep, the best ones first.
func (l *layout) names() []Saved {
	if len(l.layers) == 0 {
		return nil
	}
	worth := l.trace.Worth(l.layers[0])
	return worth[:min(len(worth), mostNames)]
}

// saving returns a plan in which every layer runs again by itself, and keeps the results for which take returns true.
func (l *layout) saving(take func(Saved) bool) []*Segment {
	out := every(l, func(int) bool { return true })
	for i, s := range out {
		for _, w := range l.trace.Worth(l.layers[i]) {
			if take(w) {
				s.Save = append(s.Save, w)
			}
		}
	}
	return out
}

// jaxPlan returns the plan of policy n for every layer. Policy 1 keeps nothing, policy 2 products with weights,
// policy 3 all matrix products, and policy 3+k the k best results by their names.
func jaxPlan(l *layout, n int) []*Segment {
	names := l.names()
	return l.saving(func(s Saved) bool {
		op := strings.Split(s.Op+"..", ".")[1]
		switch weights := op == "mm" || op == "addmm"; n {
		case 1:
			return false
		case 2:
			return weights
		case 3:
			return weights || op == "bmm" || op == "baddbmm"
		}
		return slices.Contains(names[:n-policies], s)
	})
}

func jaxCode(l *layout, n int) string {
	const policy = "jax.checkpoint(block, policy=jax.checkpoint_policies.%s)"
	switch n {
	case 1:
		return "jax.checkpoint(block)"
	case 2:
		return fmt.Sprintf(policy, "dots_with_no_batch_dims_saveable")
	case 3:
		return fmt.Sprintf(policy, "dots_saveable")
	}
	var names []string
	for _, s := range l.names()[:n-policies] {
		names = append(names, fmt.Sprintf("%q", fmt.Sprintf("%s-%d", strings.Split(s.Op, ".")[1], s.At)))
	}
	return fmt.Sprintf(policy, "save_only_these_names("+strings.Join(names, ", ")+")") +
		", with checkpoint_name on those results of a block: the operator and which of its name, from 0"
}
