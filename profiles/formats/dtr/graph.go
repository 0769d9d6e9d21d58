package dtr

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// profile returns the profile: the graph of the step, and the chain if the functions form one.
func (d *dtrLog) profile(name string, poll *engine.Poll) *profiles.Profile {
	l := d.lives()
	c, stages := d.chain(l, poll)
	g := d.graph(l, stages)
	d.errs.CheckGraph(g)
	p := &profiles.Profile{Name: name, Graph: g,
		Source: profiles.Source{Tool: "DTR logger", Times: profiles.Measured, Sizes: profiles.Measured, Notes: []string{
			"Functions in place work on their value without making one.",
			"What is there before the step, the input apart, is resident: weights, buffers and the state of the optimizer, if it is logged.",
			"Values stay until the log releases them: the last function before that counts as a reader.",
			"The file does not tell the batch size.",
		}}}
	if d.views > 0 {
		p.Note("%s make nothing (views): their time is part of the next function.", profiles.Count(d.views, "function"))
	}
	if d.again > 0 {
		p.Note("%s behind the first backward repeat what the forward before it did, and count as forward.", profiles.Count(d.again, "function"))
		p.Warn("The functions form no chain: the step has several backward passes, and forward ones between them.")
		return p
	}
	if c == nil {
		p.Warn("The functions form no chain: nowhere is a single value all that the rest of the forward reads.")
		return p
	}
	c.Name = name
	(&parse.StageReader{Errs: d.errs}).Finish(c, c.Stages[len(c.Stages)-1].Name == parse.LossName)
	p.Chain = c
	p.Note("A stage ends where a single value is all that the rest of the forward reads; it saves what the backward reads of it.")
	return p
}

// output reports whether the backward makes a storage that is never released, such as the
// gradient of a weight. Storages of the forward are not outputs: the program may still hold
// their names.
func (d *dtrLog) output(s int) bool { return d.storages[s].back && d.storages[s].refs > 0 }

// graph returns the graph of the step, whose values are storages. At the end, an operation reads
// every output, so that it stays until then. stages holds the stage of each function.
func (d *dtrLog) graph(l lives, stages []int) *engine.Graph {
	g := &engine.Graph{Done: engine.NoValue}
	ids := make([]engine.ValueID, len(d.storages))
	stageOf := make([]int, len(d.storages))
	for s, maker := range l.maker {
		if maker >= 0 {
			stageOf[s] = stages[maker]
		}
	}
	for s := range d.storages {
		st := &d.storages[s]
		if ids[s] = engine.NoValue; l.last[s] < 0 || st.size == 0 {
			if st.constant {
				g.Fixed += st.size
			}
			continue
		}
		v := engine.Value{Name: fmt.Sprintf("v%d", s), Size: st.size, Stage: stageOf[s], PartOf: engine.NoValue}
		switch {
		case st.constant && s != d.input:
			v.Kind, v.Initial = engine.KindWeight, engine.OnDevice
		case st.constant:
			v.Initial = engine.OnDevice
		case d.output(s):
			v.Kind = engine.KindWeight
		case st.back:
			v.Kind = engine.KindGradient
		}
		ids[s] = engine.ValueID(len(g.Values))
		g.Values = append(g.Values, v)
	}
	pick := func(list []int) (out []engine.ValueID) {
		for _, s := range list {
			if ids[s] != engine.NoValue {
				out = append(out, ids[s])
			}
		}
		return out
	}
	for i := range d.calls {
		c := &d.calls[i]
		op := engine.Op{Name: c.name, Stage: stages[i], Time: c.took, In: pick(append(c.reads, l.held[i]...)),
			Out: pick(c.writes)}
		if c.back {
			op.Pass = engine.Backward
		}
		g.Ops = append(g.Ops, op)
		g.Stages = max(g.Stages, stages[i])
	}
	for s := range d.storages {
		if d.output(s) && ids[s] != engine.NoValue {
			g.Ops = append(g.Ops, engine.Op{Name: fmt.Sprintf("result v%d", s), Pass: engine.Backward,
				Stage: stageOf[s], In: []engine.ValueID{ids[s]}})
		}
	}
	return g
}
