package operators

import (
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/play"
	"memtide/profiles"
)

// chain returns the network as a chain: it is cut behind a unit where one storage alone
// crosses, and ends with the loss. What is saved is what autograd really keeps.
func (r *reader) chain(p *profiles.Profile) *engine.Chain {
	c := &engine.Chain{Name: p.Name, Batch: p.Batch, LossGradAllocated: true}
	for n, role := range r.roles {
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

// view is a trace on its way into a chain.
type view struct {
	t           *play.Trace
	ends        []int // of the stages: operators
	out         []int // storages that cross there; -1 behind the last
	names       []string
	born, last  []int // of each storage: the operator that makes it, and the last of the forward that reads it
	gone        []int // the operator of the whole step before which it is gone if nothing is recomputed
	packed      []int // the operator before which it is first kept; -1: never
	back        []int // of each operator of the backward its stage
	backwardEnd int
}

func newView(t *play.Trace) *view {
	n := len(t.Storages)
	v := &view{t: t, born: make([]int, n), last: make([]int, n), gone: make([]int, n), packed: make([]int, n),
		backwardEnd: len(t.Ops)}
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

// crossing returns the storage that alone is made before an operator and read from it on;
// -1 if there is none or more.
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
	for i, u := range v.t.Units {
		end := v.t.Calls[u].End
		name := v.t.Calls[u].Path
		if i+1 == len(v.t.Units) {
			break
		}
		if s := v.crossing(end); s >= 0 && (len(v.ends) == 0 || v.born[s] >= v.ends[len(v.ends)-1]) {
			v.ends, v.out, v.names = append(v.ends, end), append(v.out, s), append(v.names, name)
		}
	}
	v.ends, v.out, v.names = append(v.ends, v.t.Forward), append(v.out, -1), append(v.names, "loss")
}

// stageOf returns the stage of an operator of the forward.
func (v *view) stageOf(op int) int {
	i, _ := slices.BinarySearch(v.ends, op+1)
	return min(i, len(v.ends)-1)
}

// walk finds when storages are kept and gone, and which stage each operator of the
// backward belongs to: that of what it last asked for.
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
			at[e.ID] = v.stageOf(max(0, op-1))
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

// stage returns the i-th.
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
	st.Back, st.BwdTemp = v.span(v.t.Forward, v.backwardEnd, func(op int) bool { return v.back[op] == i })
	st.BwdTemp = max(0, st.BwdTemp-st.Grad-before)
	return st
}

// span returns the time of the chosen operators, and the most that those between begin and
// end have made and not lost, with workspace, while a chosen one runs.
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
