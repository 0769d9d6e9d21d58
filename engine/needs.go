package engine

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
)

// Needs returns the reason why op needs total bytes, resident memory included, for the Why of an InfeasibleError.
// It names the stage and the pass of op, then the sizes that add up to total, the largest first. What remains of
// total is called "other values".
func (g *ChainGraph) Needs(op ChainOp, total Bytes) string {
	c, k := g.Chain, op.Stage
	st := &c.Stages[k-1]
	type part struct {
		size Bytes
		what string
	}
	pass := "forward"
	parts := []part{{c.Resident.Total(), "resident memory"}, {c.Act(k - 1), "its input"}}
	switch op.Kind {
	case FAll:
		parts = append(parts, part{st.Saved, "its saved set"}, part{c.Beside(k), "its output"}, part{st.FwdTemp, "its workspace"})
	case BStep:
		pass = "backward"
		if c.Unsaved(k - 1) {
			parts = parts[:1]
		}
		parts = append(parts, part{st.Saved, "its saved set"}, part{st.Grad, "the gradient of its output"},
			part{c.Grad(k - 1), "the gradient of its input"}, part{st.BwdTemp, "its workspace"})
	default:
		parts = append(parts, part{st.Out, "its output"}, part{st.FwdTemp, "its workspace"})
	}
	for _, p := range parts {
		total -= p.size
	}
	parts = append(parts, part{total, "other values"})
	sort.SliceStable(parts, func(i, j int) bool { return parts[i].size > parts[j].size })
	var words []string
	for _, p := range parts {
		if p.size > 0 {
			words = append(words, p.what+" "+p.size.Text())
		}
	}
	return fmt.Sprintf("the %s of stage %d (%s) needs the most: %s", pass, k, cmp.Or(st.Name, "a stage without a name"), strings.Join(words, ", "))
}
