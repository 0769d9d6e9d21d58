package question

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/format"
)

// How fast a link is worth what it takes: every bandwidth, in both directions, with
// every method. One answer for each, bandwidths inside methods.
func init() {
	register(&Question{
		Name: "links", Order: 4, Title: "From which bandwidth on is offloading faster?", Hint: "how fast a link",
		GraphTitle: "Which bandwidth does offloading need?", // nothing recomputes a graph
		Varies:     Bandwidth | Strategy, Limit: solves,
		Methods:  against("rotor", "dynprog", "pofo"), // of paper 000's figure 3 recomputing, offloading and both
		Answer:   answerLinks,
		Sentence: linksSentence,
		Chart:    linksChart,
	})
}

// rates are the bandwidths: 1 to 200 GB/s, evenly on a logarithmic axis.
var rates = func() (out []engine.Rate) {
	for _, tenths := range []int64{10, 16, 25, 40, 63, 100, 160, 250, 400, 630, 1000, 1400, 2000} {
		out = append(out, engine.Rate(tenths*100_000_000))
	}
	return out
}()

func answerLinks(ctx context.Context, w *Work) error {
	w.Total = len(w.Methods) * len(rates)
	for _, m := range w.Methods {
		var a proto.Answer
		var err error
		for i, r := range rates {
			if i == 0 || m.Strategy.Class&engine.MayOffload != 0 { // without transfers the rate is of no matter
				p := *w.Problem
				p.Device.ToHost, p.Device.ToDev = r, r
				a = proto.Answer{}
				err = w.measure(ctx, &a, &p, m)
			}
			a.Rate = r
			if !w.give(ctx, a, err) {
				return nil
			}
		}
	}
	return nil
}

// linksSentence says where offloading begins to beat recomputing.
func linksSentence(a *Answers, _ Subject) string {
	var parts []string
	for _, fast := range []string{"dynprog", "pofo"} {
		above, from, ok := a.crossing(fast, "rotor")
		st, slow := engine.Lookup(fast), engine.Lookup("rotor")
		if !ok || st == nil || slow == nil {
			continue
		}
		switch {
		case from == 0:
			parts = append(parts, fmt.Sprintf("%s is not faster than %s at any of these bandwidths.", st.Title, slow.Title))
		case above == 0:
			parts = append(parts, fmt.Sprintf("%s is faster than %s already at %s.", st.Title, slow.Title, format.Rate(from)))
		default:
			parts = append(parts, fmt.Sprintf("%s is faster than %s from somewhere between %s and %s on.", st.Title, slow.Title, format.Rate(above), format.Rate(from)))
		}
	}
	if len(parts) == 0 {
		return a.enoughSentence()
	}
	return strings.Join(parts, " ")
}

// crossing compares two strategies over bandwidth: above is the largest rate at
// which fast is not faster (0: it is at all of them), from the smallest of all
// larger ones (0: there is none). ok is false if one of the two has no schedule at
// any rate, or not all rates are answered.
func (a *Answers) crossing(fast, slow string) (above, from engine.Rate, ok bool) {
	times := map[string]map[engine.Rate]time.Duration{fast: {}, slow: {}}
	for _, x := range a.List {
		if at := times[x.Strategy]; at != nil {
			at[x.Rate] = x.StepTime
		}
	}
	found := map[string]bool{}
	for _, r := range rates {
		f, known := times[fast][r]
		s, also := times[slow][r]
		if !known || !also {
			return 0, 0, false
		}
		found[fast], found[slow] = found[fast] || f > 0, found[slow] || s > 0
		switch {
		case f <= 0 || s > 0 && f >= s:
			above, from = r, 0
		case from == 0:
			from = r
		}
	}
	return above, from, found[fast] && found[slow]
}

// enoughPercent is how much slower a step may be for a bandwidth to be enough.
const enoughPercent = 5

// enoughSentence says from which bandwidth on the chosen strategy costs little,
// where there is nothing to compare it with.
func (a *Answers) enoughSentence() string {
	limit := a.KeepAll + a.KeepAll*enoughPercent/100
	from, above := engine.Rate(0), engine.Rate(0) // the lowest rate that will do with all higher ones, the highest that will not
	for _, x := range a.List {
		if x.Strategy == a.Strategy && (x.StepTime <= 0 || x.StepTime > limit) {
			above = max(above, x.Rate)
		}
	}
	for _, x := range a.List {
		if x.Strategy == a.Strategy && x.Rate > above && (from == 0 || x.Rate < from) {
			from = x.Rate
		}
	}
	st := engine.Lookup(a.Strategy)
	switch {
	case st == nil || from == 0 && above == 0:
		return ""
	case a.KeepAll <= 0:
		return "There is no step time to compare these with."
	case from == 0:
		return fmt.Sprintf("%s costs more than %d %% at any of these bandwidths.", st.Title, enoughPercent)
	case above == 0:
		return fmt.Sprintf("%s costs at most %d %% already at %s.", st.Title, enoughPercent, format.Rate(from))
	}
	return fmt.Sprintf("%s costs at most %d %% from somewhere between %s and %s on.", st.Title, enoughPercent, format.Rate(above), format.Rate(from))
}

// slowestShown is the largest slowdown that the axis shows: as in 000's figure 3,
// what is slower is of no use.
const slowestShown = 4.0

// linksChart is the step time over bandwidth.
func linksChart(a *Answers, s Subject) *Chart {
	c := &Chart{Chosen: s.Method.Strategy, XUnit: " GB/s", YPrefix: "×", From: gigabytes(rates[0]), To: gigabytes(rates[len(rates)-1])}
	if s.Bandwidth > 0 {
		c.Present, c.PresentName = gigabytes(s.Bandwidth), format.Rate(s.Bandwidth)
	}
	unit := a.KeepAll
	if unit <= 0 {
		unit, c.YPrefix, c.YUnit = time.Millisecond, "", " ms"
	}
	c.Low, c.Top = math.Inf(1), 0
	for i, x := range a.List {
		if x.StepTime <= 0 {
			continue
		}
		y := float64(x.StepTime) / float64(unit)
		c.add(x.Strategy, Point{gigabytes(x.Rate), y, i})
		c.Low, c.Top = min(c.Low, y), max(c.Top, y)
	}
	if a.KeepAll > 0 {
		c.Low, c.Top = 1, min(c.Top, slowestShown)
	}
	c.frame()
	return c
}

func gigabytes(r engine.Rate) float64 { return float64(r) / 1e9 }
