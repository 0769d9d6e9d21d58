//go:build !js

package papers

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"text/tabwriter"
	"time"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/format"
)

// paperLink is the bandwidth that the papers measured between the V100 and its
// host (doi:10.1007/978-3-030-57675-2_10, section 6), in either direction.
const paperLink engine.Rate = 12_500_000_000

// lab solves the problems of experiments, on all processors.
type lab struct {
	ctx  context.Context
	pool serve.Local
}

// network is a preset on a device with a certain link.
type network struct {
	ref     string
	batch   int
	chain   *engine.Chain
	device  engine.Device
	how     engine.Transfers
	keepAll proto.Reference // step time and peak without a limit
}

// parsed returns the preset that a reference names, and its batch.
func parsed(ref string) (*preset.Preset, int) {
	p, batch, err := preset.Parse(ref)
	cli.Check(err)
	return p, batch
}

// open builds a preset, on the paper's device.
func (l *lab) open(ref string) *network {
	p, batch := parsed(ref)
	profile := cli.Must(p.Profile(batch))
	n := &network{ref: ref, batch: batch, chain: profile.Chain, device: card.Default().Device}
	n.device.Duplex = engine.HalfDuplex
	n = n.over(paperLink)
	grid := l.solve(n, methods(engine.KeepAll), []engine.Bytes{n.chain.KeepAllPeak()})
	n.keepAll = proto.Reference{StepTime: grid[0][0].StepTime, Peak: grid[0][0].Peak}
	return n
}

// over returns the network with another link.
func (n *network) over(rate engine.Rate) *network {
	m := *n
	m.device.ToHost, m.device.ToDev = rate, rate
	return &m
}

// streamed returns the network with transfers byte by byte.
func (n *network) streamed() *network {
	m := *n
	m.how = engine.Streamed
	return &m
}

func (n *network) problem(budget engine.Bytes) *engine.Problem {
	return engine.NewChainProblem(n.chain, n.device, n.how, budget)
}

// throughput returns the samples per second of a step time.
func (n *network) throughput(step time.Duration) float64 {
	return float64(n.batch) / step.Seconds()
}

// resident returns the memory that stays on the device throughout. It is part of every budget.
func (n *network) resident() engine.Bytes { return n.chain.Resident.Total() }

// activations returns the budget that has share/of of the memory that keeping everything needs in addition to the
// resident memory.
func (n *network) activations(share, of int64) engine.Bytes {
	return n.resident() + (n.keepAll.Peak-n.resident())*engine.Bytes(share)/engine.Bytes(of)
}

// heading returns the first line of a network's section.
func (n *network) heading() string {
	return fmt.Sprintf("%s: keeping everything takes %s and %s, of which %s stay throughout\n",
		n.ref, format.Duration(n.keepAll.StepTime), format.Bytes(n.keepAll.Peak), format.Bytes(n.resident()))
}

// memoryCells returns the columns that every table over budgets begins with.
func (n *network) memoryCells(budget engine.Bytes) string {
	return fmt.Sprintf("%s\t%s", format.Bytes(budget), format.Share(float64(budget)/float64(n.keepAll.Peak)))
}

// methods returns strategies with their default parameters.
func methods(names ...string) []proto.Method {
	var out []proto.Method
	for _, name := range names {
		out = append(out, proto.Method{Strategy: name})
	}
	return out
}

// segmented returns the strategy sequential with a number of segments.
func segmented(k int) proto.Method {
	return proto.Method{Strategy: "sequential", Args: engine.Args{"segments": strconv.Itoa(k)}}
}

// solve returns a point for every method and budget, whose step time is 0 if no schedule fits. A schedule that is not
// verified is an error.
func (l *lab) solve(n *network, by []proto.Method, budgets []engine.Bytes) [][]*proto.Point {
	grid := make([][]*proto.Point, len(by))
	for i := range grid {
		grid[i] = make([]*proto.Point, len(budgets))
	}
	q := &proto.Sweep{
		Setting: proto.Setting{Network: proto.Network{Preset: n.ref}, Device: n.device, Transfers: n.how},
		Methods: by,
	}
	for _, b := range budgets {
		q.Budgets = append(q.Budgets, choice.Budget{Bytes: b})
	}
	_, err := proto.Do(l.ctx, l.pool.Do, q, func(p *proto.Point) {
		grid[p.Method][p.Index] = p
	})
	cli.Check(err)
	for _, row := range grid {
		for _, p := range row {
			confirm(n, p)
		}
	}
	return grid
}

// confirm returns an error if a point must not be in a table.
func confirm(n *network, p *proto.Point) {
	switch {
	case p.Failure != nil && p.Failure.Kind == proto.Infeasible:
	case p.Failure != nil:
		cli.Fail("%s on %s in %s: %w", p.Strategy, n.ref, format.Bytes(p.Budget), p.Failure)
	case !p.Verdict.Verified:
		cli.Fail("%s on %s in %s is not verified: %s", p.Strategy, n.ref, format.Bytes(p.Budget), p.Verdict.Problem)
	}
}

// smallest returns the least memory in which one of the methods has a schedule.
func (l *lab) smallest(n *network, by []proto.Method) engine.Bytes {
	grid := l.solve(n, by, []engine.Bytes{n.resident() + 1})
	least := n.keepAll.Peak
	for _, row := range grid {
		if f := row[0].Failure; f != nil && f.Smallest > 0 {
			least = min(least, f.Smallest)
		}
	}
	return least
}

// fastest returns the best step time of the points of one budget, or 0 if no point has a schedule.
func fastest(grid [][]*proto.Point, budget int) (best time.Duration) {
	for _, row := range grid {
		if d := row[budget].StepTime; d > 0 && (best == 0 || d < best) {
			best = d
		}
	}
	return best
}

// spread returns n budgets at equal distances, including both ends.
func spread(from, to engine.Bytes, n int) []engine.Bytes {
	out := make([]engine.Bytes, n)
	for i := range out {
		out[i] = from + (to-from)*engine.Bytes(i)/engine.Bytes(n-1)
	}
	return out
}

// mean is a sum with the number of its terms.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x float64) { m.sum, m.n = m.sum+x, m.n+1 }

// value returns the mean, which is NaN if nothing was added.
func (m *mean) value() float64 {
	if m.n == 0 {
		return math.NaN()
	}
	return m.sum / float64(m.n)
}

// perCent formats a relative change with its sign and one decimal.
func perCent(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	s := strconv.FormatFloat(math.Abs(x)*100, 'f', 1, 64)
	switch {
	case s == "0.0":
		return "0.0 %"
	case x < 0:
		return "−" + s + " %"
	}
	return "+" + s + " %"
}

// stepTime formats a step time. It returns a dash if no schedule fits.
func stepTime(d time.Duration) string {
	if d <= 0 {
		return "–"
	}
	return number(float64(d)/float64(time.Millisecond), 1)
}

// number formats x with the given number of decimals. It returns a dash if x is not positive.
func number(x float64, decimals int) string {
	if x <= 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

// section returns a heading with a table.
func section(heading string, fill func(w *tabwriter.Writer)) string {
	return heading + cli.Table(fill)
}
