package play

import (
	"fmt"
	"slices"
	"strings"
)

// furtherFamilies are those that keep single results, or send arguments to the host. (Two
// lists and not one that is put together at the start, which every program would hold.)
var furtherFamilies = []family{
	{"torchtitan, operators", func(l *layout) int { return min(1, len(l.layers)) }, noLayers,
		// Of every layer the second, fourth, ... product runs again, the others and attention
		// stay [torchtitan/distributed/activation_checkpoint.py].
		func(l *layout, _ int) []*Segment {
			return l.saving(func(s Saved) bool {
				return s.Op == "aten.mm.default" && s.At%2 == 0 || strings.HasPrefix(s.Op, "aten._scaled_dot_product") || s.Op == "aten.max.default"
			})
		},
		func(*layout, int) string {
			return `activation_checkpoint.mode = "selective", selective_ac_option = "op"`
		}},
	{"JAX", func(l *layout) int { return policies + len(l.names()) }, noLayers, jaxPlan, jaxCode},
	{"DeepSpeed", layers, noLayers,
		func(l *layout, n int) []*Segment { return runs(l.layers, n) },
		func(l *layout, n int) string {
			return fmt.Sprintf("deepspeed.checkpointing.configure(None, num_checkpoints=%d), and in the model deepspeed.checkpointing.checkpoint around every %s", parts(l, n), together(n))
		}},
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
		}},
}

func parts(l *layout, n int) int { return (len(l.layers) + n - 1) / n }

func together(n int) string {
	if n == 1 {
		return "layer"
	}
	return fmt.Sprintf("%d layers", n)
}

// policies is how many policies of JAX have no names.
const policies = 3

// mostNames bounds the names that are tried.
const mostNames = 12

// names are the results of a layer that a policy of names may keep, the best ones first.
func (l *layout) names() []Saved {
	if len(l.layers) == 0 {
		return nil
	}
	worth := l.trace.Worth(l.layers[0])
	return worth[:min(len(worth), mostNames)]
}

// saving has every layer run again, each by itself, but for results that a rule takes.
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

// jaxPlan is a policy for every layer: of 1 to 3 nothing stays, products with weights,
// all products; beyond, the best results by their names.
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
	return fmt.Sprintf(policy, "save_only_these_names("+strings.Join(names, ", ")+")") + ", with checkpoint_name on those results of a block: the operator and which of its name, from 0"
}
