package llm

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/llm/ask"
)

// Scored is a row with the model's prediction. Predicted, Low, High and Measured are bytes, seconds for times,
// and per cent for relative formulas.
type Scored struct {
	ID        string  `json:"id"`
	Kind      string  `json:"kind"`                // kind of the row
	Set       string  `json:"set,omitempty"`       // line of the summary in which the row counts
	Metric    string  `json:"metric,omitempty"`    // what was measured
	Predicted float64 `json:"predicted,omitempty"` // the most likely value
	Low       float64 `json:"low,omitempty"`
	High      float64 `json:"high,omitempty"`
	Measured  float64 `json:"measured,omitempty"`
	Error     float64 `json:"error_percent"` // of Predicted relative to Measured
	Phase     string  `json:"phase,omitempty"`
	Refused   string  `json:"refused,omitempty"` // why there is no prediction
}

// Summary is the line of a set: the absolute errors of its predictions.
type Summary struct {
	Kind   string   `json:"kind"`
	N      int      `json:"n"`
	Median float64  `json:"median_percent"`
	P90    float64  `json:"p90_percent"`
	Worst  float64  `json:"worst_percent"`
	Inside *float64 `json:"inside_percent,omitempty"` // share of rows between Low and High
}

// ScoreReport is the result of scoring a file of rows.
type ScoreReport struct {
	Kinds []Summary `json:"kinds"`
	Rows  []Scored  `json:"rows"`
}

// sets are the lines of the summary, in order.
var sets = []string{"allocated", "reserved_eager", "reserved_compiled", "formula", "loss_kernel", "time", "guessed"}

// rowsFormat is the only format of files that ReadRows accepts.
const rowsFormat = "memtide-llm-rows/1"

// ReadRows reads a file of rows.
func ReadRows(data []byte) ([]Row, error) {
	var file struct {
		Format string `json:"format"`
		Rows   []Row  `json:"rows"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	if file.Format != rowsFormat {
		return nil, fmt.Errorf("rows: the format is %q; want %q", file.Format, rowsFormat)
	}
	return file.Rows, nil
}

// ReadModel returns the model of a row's config.json, given as the name of the file or as its contents.
type ReadModel func(config json.RawMessage) (*Model, error)

// Score predicts every row from its configuration alone.
func Score(rows []Row, read ReadModel, poll *engine.Poll) (*ScoreReport, error) {
	r := &ScoreReport{}
	for i := range rows {
		if err := poll.Now(); err != nil {
			return r, err
		}
		r.Rows = append(r.Rows, scoreRow(&rows[i], read))
	}
	for _, set := range sets {
		if s := summarise(set, r.Rows); s.N > 0 {
			r.Kinds = append(r.Kinds, s)
		}
	}
	return r, nil
}

func scoreRow(row *Row, read ReadModel) Scored {
	s := Scored{ID: row.ID, Kind: row.Kind, Metric: row.Measured.Metric, Measured: float64(row.Measured.Peak)}
	if _, err := profiles.Try(func() *Scored { return s.predict(row, read) }); err != nil {
		s.Refused, s.Set = err.Error(), ""
		s.Predicted, s.Low, s.High = 0, 0, 0
		return s
	}
	s.Error = 100 * (s.Predicted/s.Measured - 1)
	return s
}

// predict fills in the prediction for a row. It ends with an error if there is none.
func (s *Scored) predict(row *Row, read ReadModel) *Scored {
	switch row.Kind {
	case "step":
		scoreStep(row, s, read)
	case "time":
		scoreTime(row, s, read)
	case "formula", "formula_relative", "loss_kernel":
		scoreFormula(row, s)
	default:
		refuse("rows of kind %q are for orders and differences", row.Kind)
	}
	if s.Measured <= 0 {
		refuse("nothing was measured")
	}
	return s
}

// refuse ends by profiles.End with an error for something that is impossible or not known.
func refuse(format string, args ...any) { profiles.End(fmt.Errorf(format, args...)) }

// Margins of an answer, as shares. modelled holds for complete rows, guessed for rows with guessed inputs, and
// rounded for formulas. They are so wide that nine of ten rows of each set lie between Low and High; no
// prediction is fitted. moeBelow and contextual are from section 14 of the reference model of the same text.
const (
	modelled   = 0.05
	guessed    = 0.15
	rounded    = 0.003
	moeBelow   = 0.21 // routing and dispatch: how far measurements were above the prediction
	moeAbove   = 0.20 // assumed: about as far below it
	contextual = 0.14 // buffers of context parallelism
)

// margins returns the factors from an answer to the ends of its range. complete says whether no inputs were guessed.
func margins(s *Setup, complete bool) (below, above float64) {
	m := modelled
	if !complete {
		m = guessed
	}
	below, above = 1-m, 1+m
	if s.Model.MoE != nil {
		below *= 1 - moeAbove
		above /= 1 - moeBelow
	}
	if s.Context > 1 {
		above /= 1 - contextual
	}
	return below, above
}

func scoreStep(row *Row, out *Scored, read ReadModel) {
	c := row.config()
	s := c.setup(read)
	card := CardOf(c.HW)
	r, err := c.play(s, card)
	profiles.End(err)
	if card != nil {
		r.bound(card.Memory)
	}
	low, high := r.Allocated, r.Allocated
	set := "allocated"
	switch metric := row.Measured.Metric; {
	case strings.Contains(metric, "allocated") || metric == "active":
	case strings.Contains(metric, "reserved"):
		low, high = c.reserved(r)
		set = "reserved_eager"
		if c.Compiled {
			set = "reserved_compiled"
		}
	case strings.Contains(metric, "nvidia-smi"): // the driver counts CUDA's context, too
		mib, err := strconv.Atoi(ask.Value(nil, ask.Context))
		profiles.End(err)
		beside := engine.Bytes(mib) * engine.MiB
		low, high = c.reserved(r)
		low, high = beside+low, beside+high
	case row.Complete:
		refuse("a peak by %q is neither allocated nor reserved", metric)
	case !c.Delta:
		high = max(r.Reserved, r.Expandable)
	}
	if c.Delta {
		low, high = low-r.Loaded, high-r.Loaded
	}
	below, above := margins(&s, row.Complete)
	if !row.Complete {
		set = "guessed"
	}
	out.Set, out.Phase = set, r.Phase.String()
	out.Predicted = float64(low+high) / 2
	out.Low, out.High = below*float64(low), above*float64(high)
}

func scoreTime(row *Row, out *Scored, read ReadModel) {
	c := row.config()
	s := c.setup(read)
	card := CardOf(c.HW)
	if card == nil {
		refuse("card %q is not known", c.HW)
	}
	t, err := StepTime(s, card)
	profiles.End(err)
	out.Set, out.Metric, out.Measured = "time", "step_s", row.Measured.Step
	out.Predicted = t.Seconds()
	low, high := card.TimeRange(s, t)
	out.Low, out.High = low.Seconds(), high.Seconds()
}

func scoreFormula(row *Row, out *Scored) {
	out.Set = "formula"
	if row.Kind == "loss_kernel" {
		var k LossKernel
		strict(row.Config, &k)
		out.Set, out.Predicted = row.Kind, float64(k.bytes())
	} else {
		var f Formula
		if strict(row.Config, &f); row.Kind == "formula" {
			out.Predicted = f.bytes()
		} else {
			out.Predicted, out.Measured, out.Metric = f.percent(), row.Measured.Percent, "percent of none"
		}
	}
	out.Low, out.High = (1-rounded)*out.Predicted, (1+rounded)*out.Predicted
}

// summarise returns the summary of the rows of a set, with quantiles of the absolute errors by nearest rank.
func summarise(set string, rows []Scored) Summary {
	s := Summary{Kind: set}
	var errs []float64
	inside := 0
	for _, r := range rows {
		if r.Set != set {
			continue
		}
		errs = append(errs, math.Abs(r.Error))
		if r.Low <= r.Measured && r.Measured <= r.High {
			inside++
		}
	}
	s.N = len(errs)
	if s.N == 0 {
		return s
	}
	slices.Sort(errs)
	s.Median = errs[s.N/2]
	if s.N%2 == 0 {
		s.Median = (errs[s.N/2-1] + errs[s.N/2]) / 2
	}
	s.P90, s.Worst = errs[(9*s.N+9)/10-1], errs[s.N-1]
	share := 100 * float64(inside) / float64(s.N)
	s.Inside = &share
	return s
}
