package preset

import (
	"strings"

	"memtide/profiles/analytic"
	"memtide/profiles/card"
)

// The times of the operators of a tape. Package analytic returns how long
// an operator takes; this file maps operators of a tape to its operators.

// model returns the times of operators.
type model struct{ analytic.Rates }

type opTime = analytic.Time

var v100 = model{analytic.V100}

// isV100 reports whether the fitted shares hold for a card. V100s differ by less than the error of the model.
func isV100(d *card.Card) bool { return strings.HasPrefix(d.ID, "v100-") }

// modelOf returns the model of a card that computes at a precision.
func modelOf(d *card.Card, p precision) model {
	if isV100(d) && !p.half() {
		return v100
	}
	m := analytic.Estimate(float64(d.Peak(string(p))), float64(d.MemoryRate))
	if isV100(d) {
		m = m.OnV100()
	}
	return model{m}
}

// model returns the model of the card, with the chosen efficiency.
func (s setting) model() model {
	m := modelOf(s.device, s.precision)
	if s.efficiency > 0 {
		m.Rates = m.WithShare(float64(s.efficiency) / 100)
	}
	return m
}

func classify(in, out int64, f filter, groups int64) analytic.Class {
	height, width := f.size, f.size
	switch f.along {
	case rowOnly:
		height = 1
	case columnOnly:
		width = 1
	}
	return analytic.Classify(in, out, height, width, f.stride, groups)
}

// passes are the passes over memory of element-wise operators.
var passes = map[opKind]analytic.Passes{
	opNorm:    analytic.Norm,
	opReLU:    analytic.Activation,
	opGELU:    analytic.Activation,
	opAdd:     analytic.Add,
	opConcat:  analytic.Concat,
	opDropout: analytic.Dropout,
	opEmbed:   analytic.Embedding,
}

// time returns the time of one operator. Reshapes take no time.
func (m model) time(t *tape, o *op) opTime {
	var in float64
	for _, v := range o.in {
		in += float64(t.values[v].bytes)
	}
	out := float64(t.values[o.out].bytes)
	switch o.kind {
	case opReshape:
		return opTime{}
	case opConv:
		return m.Conv(o.class, float64(o.macs), in+out)
	case opMatmul:
		return m.Product(float64(o.macs), float64(o.weight))
	case opMaxPool:
		return m.MaxPool(in, out)
	case opAvgPool:
		return m.MeanPool(in, out)
	}
	n, ok := passes[o.kind]
	if !ok {
		panic("preset: the model has no time for this kind of operator")
	}
	return m.Element(n, out)
}
