package question

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/format"
)

// How fast a link is worth what it takes: every bandwidth, in both directions, with
// every method. One answer for each, bandwidths inside methods.
func init() {
	register(&Question{
		Name: "links", Order: 5, Title: "From which bandwidth on is offloading faster?",
		Varies: Bandwidth | Strategy, Limit: solves, Idle: true,
		Short:    func(Subject, *Answers) string { return "Offloading helps from a link of" },
		Headline: linksHeadline,
		Methods:  against(recomputing, offloading, both), // as in figure 3 of paper 000
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
			p := *w.Problem
			p.Device.ToHost, p.Device.ToDev = r, r
			if i == 0 || m.Strategy.Class&engine.MayOffload != 0 { // without transfers the rate is of no matter
				a = proto.Answer{}
				err = w.measure(ctx, &a, &p, m)
			}
			a.Rate, a.Device = r, &p.Device
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
	for _, c := range a.crossings() {
		fast, slow := c.fast.Label(), c.slow.Label()
		parts = append(parts, fromSomewhere(fast+" is faster than "+slow, fast+" is not faster than "+slow, c.above, c.from))
	}
	if len(parts) == 0 {
		return a.enoughSentence()
	}
	return strings.Join(parts, " ")
}

// linksHeadline is from which bandwidth on any way of offloading beats recomputing.
func linksHeadline(a *Answers, s Subject) (value, about string) {
	list, least := a.crossings(), engine.Rate(0)
	for _, c := range list {
		if c.from > 0 && (least == 0 || c.from < least) {
			least = c.from
		}
	}
	switch {
	case len(list) == 0:
		return "", ""
	case least == 0:
		return "none", "no bandwidth makes it faster than recomputing"
	case s.Bandwidth > 0:
		about = "this one has " + format.Rate(s.Bandwidth)
	}
	return format.Rate(least), about
}

// fromSomewhere says from which rate on something is so, as threshold found it.
func fromSomewhere(yes, no string, above, from engine.Rate) string {
	switch {
	case from == 0:
		return no + " at any of these bandwidths."
	case above == 0:
		return yes + " already at " + format.Rate(from) + "."
	}
	return yes + " from somewhere between " + format.Rate(above) + " and " + format.Rate(from) + " on."
}

// threshold looks at the rates that have a step time for where something begins to
// be so for good: above is the largest at which it is not (0: it is at all), from the
// smallest of all larger ones (0: there is none).
func threshold(times map[engine.Rate]time.Duration, so func(engine.Rate, time.Duration) bool) (above, from engine.Rate) {
	for _, r := range rates {
		if t, known := times[r]; known && !so(r, t) {
			above, from = r, 0
		} else if known && from == 0 {
			from = r
		}
	}
	return above, from
}

// times are the step times of a strategy; some says that one of them has a schedule.
func (a *Answers) times(strategy string) (out map[engine.Rate]time.Duration, some bool) {
	out = map[engine.Rate]time.Duration{}
	for _, x := range a.List {
		if x.Strategy == strategy {
			out[x.Rate] = x.StepTime
			some = some || x.StepTime > 0
		}
	}
	return out, some
}

// crossed is a strategy that is faster than another from a bandwidth on; see threshold.
type crossed struct {
	fast, slow  *engine.Strategy
	above, from engine.Rate
}

// crossings returns where the strategies that offload become faster than the one that only
// recomputes, of those that are set against each other.
func (a *Answers) crossings() (out []crossed) {
	for _, graph := range []bool{false, true} {
		slow := engine.Best(recomputing, graph)
		for _, class := range []engine.Class{offloading, both} {
			fast := engine.Best(class, graph)
			if fast == nil || slow == nil {
				continue
			}
			if above, from, ok := a.crossing(fast.Name, slow.Name); ok {
				out = append(out, crossed{fast, slow, above, from})
			}
		}
	}
	return out
}

// crossing is the threshold of one strategy being faster than another; ok is false
// if one of them has no schedule at any rate, or not all rates are answered.
func (a *Answers) crossing(fast, slow string) (above, from engine.Rate, ok bool) {
	f, some := a.times(fast)
	s, others := a.times(slow)
	if !some || !others || len(f) < len(rates) || len(s) < len(rates) {
		return 0, 0, false
	}
	above, from = threshold(f, func(r engine.Rate, t time.Duration) bool { return t > 0 && (s[r] <= 0 || t < s[r]) })
	return above, from, true
}

// enoughPercent is how much slower a step may be for a bandwidth to be enough.
const enoughPercent = 5

// enoughSentence says from which bandwidth on the chosen strategy costs little,
// where there is nothing to compare it with.
func (a *Answers) enoughSentence() string {
	times, _ := a.times(a.Strategy)
	switch {
	case len(times) == 0:
		return ""
	case a.KeepAll <= 0:
		return "There is no step time to compare these with."
	}
	limit, title := a.KeepAll+a.KeepAll*enoughPercent/100, choice.PlanName(a.Strategy)
	above, from := threshold(times, func(_ engine.Rate, t time.Duration) bool { return t > 0 && t <= limit })
	return fromSomewhere(fmt.Sprintf("%s costs at most %d %%", title, enoughPercent), fmt.Sprintf("%s costs more than %d %%", title, enoughPercent), above, from)
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
