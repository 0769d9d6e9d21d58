package choice

import "memtide/engine"

// planNames are the names of plans that people read, where the title of the strategy
// says what it does for those who know the paper.
var planNames = map[string]string{
	"pofo": "Recompute + offload", "rotor": "Best choice of blocks", "sequential": "Equal segments",
	"offloadsearch": "Best set found", "dynprog": "Best set (Beaumont 2020)", "offloadexact": "Best order, short chains",
	"window": "Adaptive window", "vdnn": "vDNN", "vdnnpp": "vDNN++", "keepall": "Keep everything",
}

// PlanName is the name of a strategy in lists of plans and beside their lines.
func PlanName(strategy string) string {
	if name, ok := planNames[strategy]; ok {
		return name
	}
	if st := engine.Lookup(strategy); st != nil {
		return st.Title
	}
	return strategy
}
