package llm

import (
	"cmp"
	_ "embed" // published.txt
	"math"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles/llm/ask"
)

// Published is a published measurement, with everything that the model needs to know about the run. No byte of
// the model is fitted to it.
type Published struct {
	Model string
	Args  engine.Args  // the options of the run
	Bytes engine.Bytes // reserved memory
	Rate  float64      // tokens per second on each card; 0: not published
	Where string
	URL   string
}

// publications has the published runs. It says itself what its columns are.
//
//go:embed published.txt
var publications string

var published = func() (out []Published) {
	for _, f := range ask.Rows(publications) {
		options := strings.Fields(f[0])
		p := Published{Model: options[0], Args: engine.Args{}, Where: f[3], URL: f[4]}
		for _, o := range options[1:] {
			name, value, _ := strings.Cut(o, "=")
			p.Args[name] = value
		}
		bytes, _ := strconv.ParseInt(f[1], 10, 64)
		p.Bytes = engine.Bytes(bytes)
		p.Rate, _ = strconv.ParseFloat(f[2], 64)
		out = append(out, p)
	}
	return out
}()

// Compared is a published run with the model's answer about it.
type Compared struct {
	*Published
	Estimate *Estimate
	Percent  float64  // deviation of the middle of Low and High from the figure, in per cent
	Differs  []string // the options in which the question differs from the run; "model" if the model does
}

// Nearest returns the published run that differs least from the question, played.
func (a Ask) Nearest() (*Compared, error) {
	best, least := &published[0], math.Inf(1)
	for i := range published {
		if d := a.distance(&published[i]); d < least {
			best, least = &published[i], d
		}
	}
	run, err := New(Lookup(best.Model), best.Args)
	if err != nil {
		return nil, err
	}
	run.Setup.tally, run.Setup.poll = a.Setup.tally, a.Setup.poll
	out := &Compared{Published: best, Differs: a.differs(best)}
	if out.Estimate, err = run.Estimate(); err != nil {
		return nil, err
	}
	out.Percent = 100 * (float64(out.Estimate.Low+out.Estimate.High)/2/float64(best.Bytes) - 1)
	return out, nil
}

// unlike are options that do not count when runs are compared, since reserved memory does not depend on them.
var unlike = []string{"device", ask.Context}

// differs returns the options in which a run differs from the question, in their order.
func (a Ask) differs(p *Published) (out []string) {
	if m := Lookup(p.Model); m.Params() != a.Setup.Model.Params() || m.Layers != a.Setup.Model.Layers {
		out = append(out, "model")
	}
	for _, o := range ask.Options {
		if !slices.Contains(unlike, o.Name) && ask.Value(a.Args, o.Name) != ask.Value(p.Args, o.Name) {
			out = append(out, o.Name)
		}
	}
	return out
}

// distance returns how much a run differs from the question: 2 for each option with words, and the logarithm of
// the ratio for numbers.
func (a Ask) distance(p *Published) (d float64) {
	ratio := func(x, y float64) float64 { return math.Abs(math.Log2(cmp.Or(x, 1) / cmp.Or(y, 1))) }
	for _, name := range a.differs(p) {
		o := ask.Option(name)
		switch {
		case name == "model":
			d += 2 + ratio(float64(Lookup(p.Model).Params()), float64(a.Setup.Model.Params()))
		case o.Choices != nil:
			d += 2
		default:
			d += ratio(float64(whole(ask.Value(p.Args, name))), float64(whole(ask.Value(a.Args, name))))
		}
	}
	return d
}
