package operators

import (
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/play"
	"memtide/profiles"
)

// chain returns the network as a chain that ends with the loss. A stage ends after a unit where
// only one storage crosses. The saved memory is what autograd keeps.
func (r *reader) chain(p *profiles.Profile) *engine.Chain {
	c := &engine.Chain{Name: p.Name, Batch: p.Batch, LossGradAllocated: true}
	for n, role := range r.t.Roles {
		if n >= len(r.t.Storages) {
			continue
		}
		switch size := r.t.Storages[n]; role {
		case "weight":
			c.Resident.Weights += size
		case "grad":
			c.Resident.Grads += size
		case "input":
			c.Input += size
		default:
			c.Resident.Pinned += size
		}
	}
	v := newView(r.t)
	for i := range v.ends {
		c.Stages = append(c.Stages, v.stage(i))
	}
	if len(c.Stages) == 0 {
		c.Stages = []engine.Stage{{Name: "step"}}
	}
	return c
}

// view is a trace that is being converted to a chain.
type view struct {
	t          *play.Trace
	ends       []int // number of operators before the end of each stage
	out        []int // storage that crosses there; -1 for the last stage
	names      []string
	born, last []int // by storage: its operator, and its last reader in the forward; -1 if missing
	gone       []int // by storage: the operator of the step before which it is freed, without recomputation
	packed     []int // by storage: the operator before which autograd first keeps it; -1 if never
	back       []int // by operator of the backward: its stage
}

func newView(t *play.Trace) *view {
	n := len(t.Storages)
	v := &view{t: t, born: make([]int, n), last: make([]int, n), gone: make([]int, n), packed: make([]int, n)}
	for i := range n {
		v.born[i], v.last[i], v.gone[i], v.packed[i] = -1, -1, len(t.Ops), -1
	}
	for i := range t.Ops {
		for _, s := range t.Ops[i].New {
			v.born[s] = i
		}
		for _, s := range t.Ops[i].In {
			if i < t.Forward {
				v.last[s] = i
			}
		}
	}
	v.cut()
	v.walk()
	return v
}

// crossing returns the only storage that is made before operator at and read by it or later in
// the forward. It returns -1 if there is no such storage, or more than one.
func (v *view) crossing(at int) int {
	found := -1
	for s := range v.born {
		if v.born[s] >= 0 && v.born[s] < at && v.last[s] >= at && !v.t.Resident[s] {
			if found >= 0 {
				return -1
			}
			found = s
		}
	}
	return found
}

func (v *view) cut() {
	for _, u := range v.t.Units[:max(0, len(v.t.Units)-1)] { // the last unit is part of the last stage
		call := &v.t.Calls[u]
		if s := v.crossing(call.End); s >= 0 && (len(v.ends) == 0 || v.born[s] >= v.ends[len(v.ends)-1]) {
			v.ends, v.out, v.names = append(v.ends, call.End), append(v.out, s), append(v.names, call.Path)
		}
	}
	v.ends, v.out, v.names = append(v.ends, v.t.Forward), append(v.out, -1), append(v.names, "loss")
}

// walk sets packed, gone and back. An operator of the backward belongs to the stage of the last
// activation that the backward read.
func (v *view) walk() {
	op, stage := 0, len(v.ends)-1
	at := make([]int, len(v.t.Keeps))
	v.back = make([]int, len(v.t.Ops))
	for _, e := range v.t.Events {
		switch e.Kind {
		case play.EventOp:
			v.back[e.ID] = stage
			op = e.ID + 1
		case play.EventPack:
			k, _ := slices.BinarySearch(v.ends, max(1, op))
			at[e.ID] = min(k, len(v.ends)-1) // the stage of the operator before
			if s := v.t.Keeps[e.ID].Storage; v.packed[s] < 0 {
				v.packed[s] = op
			}
		case play.EventUnpack:
			stage = min(stage, at[e.ID])
		case play.EventFree:
			v.gone[e.ID] = op
		}
	}
}

// stage returns stage i, counted from 0.
func (v *view) stage(i int) engine.Stage {
	begin := 0
	if i > 0 {
		begin = v.ends[i-1]
	}
	st := engine.Stage{Name: v.names[i]}
	if v.out[i] >= 0 {
		st.Out = v.t.Storages[v.out[i]]
		st.Grad = st.Out
		st.Unsaved = v.packed[v.out[i]] < 0
	}
	for s := range v.born {
		if v.born[s] >= begin && v.born[s] < v.ends[i] && v.packed[s] >= 0 && !v.t.Resident[s] {
			st.Saved += v.t.Storages[s]
		}
	}
	st.Forward, st.FwdTemp = v.span(begin, v.ends[i], func(op int) bool { return true })
	st.FwdTemp = max(0, st.FwdTemp-st.Saved)
	if st.Unsaved {
		st.FwdTemp = max(0, st.FwdTemp-st.Out)
	}
	var before engine.Bytes
	if i > 0 {
		before = v.t.Storages[v.out[i-1]]
	}
	st.Back, st.BwdTemp = v.span(v.t.Forward, len(v.t.Ops), func(op int) bool { return v.back[op] == i })
	st.BwdTemp = max(0, st.BwdTemp-st.Grad-before)
	return st
}

// span returns the time of the chosen operators between begin and end, and the most memory that is allocated while one
// of them runs: the workspace, and the storages made since begin and not freed.
func (v *view) span(begin, end int, chosen func(op int) bool) (sum time.Duration, peak engine.Bytes) {
	var live engine.Bytes
	var dying []int
	for i := begin; i < end; i++ {
		dying = slices.DeleteFunc(dying, func(s int) bool {
			if v.gone[s] > i {
				return false
			}
			live -= v.t.Storages[s]
			return true
		})
		op := &v.t.Ops[i]
		for _, s := range op.New {
			if !v.t.Resident[s] {
				live += v.t.Storages[s]
				dying = append(dying, s)
			}
		}
		if chosen(i) {
			sum += op.Time
			peak = max(peak, live+op.Temp)
		}
	}
	return sum, peak
}
