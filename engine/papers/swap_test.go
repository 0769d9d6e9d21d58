//go:build !js

package papers

import (
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/sim"
	"memtide/engine/whatif"
	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/web/format"
)

// nvlinkDevice is the device of the window paper: a V100 with 16 GB on a POWER9 machine.
const nvlinkDevice = "v100-sxm2-16gb-nvlink2"

// paperBatches are the columns of table 1 of the window paper, for ResNet-50, and paperPlain is the largest batch
// that trains without swapping. paperRows are its rows in images per second; 0 is out of memory.
var (
	paperBatches = []int{64, 128, 190, 256, 512, 928, 1120, 1248, 1440}
	paperRows    = []struct {
		name string
		ips  []float64
	}{
		{"baseline of LMS (P100)", []float64{235, 255, 258, 0, 0, 0, 0, 0, 0}},
		{"LMS (P100)", []float64{235, 255, 241, 236, 209, 137, 0, 0, 0}},
		{"baseline", []float64{336, 492, 581, 0, 0, 0, 0, 0, 0}},
		{"schedule", []float64{320, 439, 533, 559, 457, 400, 0, 0, 0}},
		{"schedule + VA", []float64{304, 389, 415, 424, 446, 409, 398, 347, 321}},
	}
)

const paperPlain = 190

func swapBatches() *experiment {
	return &experiment{
		name:  "window-table1",
		title: "Swapping: which method reaches which batch, and how fast",
		source: `Hayakawa and Narihira: Out-of-core Training for Extremely Large-Scale Neural Networks With Adaptive Window-Based
Scheduling. arXiv:2010.14109, table 1, figure 3 and section 5.1`,
		theirs: `ResNet-50, images of 224 pixels, measured on a V100 with 16 GB and two NVLinks of 50 GB/s each; LMS is from its own
paper, on a P100 with 16 GB. Neural Network Libraries, functions in their order, weights and optimizer state move too.`,
		ours: fmt.Sprintf(`the presets as graphs of their operators, times by a model of a V100 in 32 bits; the device %s, 50 GB/s in each
direction, both at once. Weights are values that may move; their gradients and the optimizer's state stay. "window" is
the schedule alone with sizes in exact bytes, as if nothing were lost between buffers; "window, best fit" places its
buffers in one pool of all that is left, "window, VA" on chunks of 40 MiB as the paper does, and of 2 MiB, the least that
the hardware maps; "VA + pieces" has chunks of 40 MiB for buffers that are larger and of 2 MiB for the others. These take the largest of %d scheduling budgets
whose buffers can be placed, which is what the paper did by hand. Batches are those of the table, for other networks in the
same proportion to the largest that trains without swapping. "separate" has every operator as a function of its own, also
those that work in place.`, nvlinkDevice, placedBudgets),
		measure: measureSwap,
	}
}

// swapped holds the results of every method on one network.
type swapped struct {
	ref     string
	device  engine.Device
	build   whatif.Builder
	most    int
	batches []int
	rows    []*swapRow
}

// swapRow holds the results of one method.
type swapRow struct {
	name      string
	strategy  *engine.Strategy
	allocator string      // the allocator that has to place the buffers; may be empty
	largest   int         // the largest batch that trains
	tightest  string      // the reason why one more sample does not fit
	points    []swapPoint // by batch
	args      engine.Args // of the allocator
}

// swapPoint is the result for a batch, with the budget of its schedule.
type swapPoint struct {
	whatif.BatchPoint
	budget engine.Bytes
}

// The rows of swapped.
const (
	keepRow = iota
	lmsRow
	windowRow
	bestFitRow
	virtualRow
	smallRow
	piecesRow
)

// ownNetwork is the network of the paper's table 1. oneByOne is the same network with every operator as a
// separate function, which is another reading of the paper.
const (
	ownNetwork = "resnet50-b32"
	oneByOne   = "resnet50-graph-separate-b32"
)

func measureSwap(l *lab, refs []string) *findings {
	f := &findings{sections: []string{paperTable()}}
	var all []*swapped
	if at := slices.Index(refs, ownNetwork); at >= 0 {
		refs = slices.Insert(slices.Clone(refs), at+1, oneByOne)
	}
	for _, ref := range refs {
		s := l.swap(ref)
		f.sections = append(f.sections, s.section(), s.budgetSection())
		all = append(all, s)
	}
	f.claims = swapClaims(all)
	return f
}

// swap measures every method on the graph of a preset.
func (l *lab) swap(ref string) *swapped {
	p, _ := parsed(ref)
	p = cli.Must(p.With(preset.Options{Graph: true}))
	s := &swapped{ref: ref, device: card.Lookup(nvlinkDevice).Device, most: p.Largest()}
	s.device.Duplex = engine.FullDuplex
	s.build = func(batch int) (*engine.Problem, error) {
		profile, err := p.Profile(batch)
		if err != nil {
			return nil, err
		}
		return &engine.Problem{Graph: profile.Graph}, nil
	}
	s.rows = []*swapRow{
		{name: engine.KeepAll, strategy: engine.Lookup(engine.KeepAll)},
		{name: "lms", strategy: engine.Lookup("lms")},
		{name: "window", strategy: engine.Lookup("window")},
		{name: "window, best fit", strategy: engine.Lookup("window"), allocator: "best-fit"},
		{name: "window, VA", strategy: engine.Lookup("window"), allocator: "va"},
		{name: "window, VA 2 MiB", strategy: engine.Lookup("window"), allocator: "va", args: engine.Args{"chunk": "2"}},
		{name: "window, VA + pieces", strategy: engine.Lookup("window"), allocator: "va",
			args: engine.Args{"small": "pieces"}},
	}
	for _, r := range s.rows {
		cli.Within(r.name+" on "+ref, func() { s.fill(l, r) })
	}
	return s
}

// fill measures a row. It looks for the largest batch first, because the batches of the table depend on that of
// keeping everything.
func (s *swapped) fill(l *lab, r *swapRow) {
	if r.allocator == "" {
		a := cli.Must(whatif.LargestBatch(l.ctx, s.question(r), nil))
		r.largest = a.Batch
		if a.Fails > 0 {
			r.tightest = s.tight(r, a.Fails)
		}
	}
	if s.batches == nil {
		for _, b := range paperBatches {
			s.batches = append(s.batches, max(1, b*r.largest/paperPlain))
		}
	}
	for _, b := range s.batches {
		r.points = append(r.points, s.point(l, r, b))
	}
	if r.allocator != "" {
		r.largest = s.largestPlaced(l, r)
	}
}

func (s *swapped) question(r *swapRow) *whatif.BatchQuestion {
	return &whatif.BatchQuestion{Build: s.build, Strategy: r.strategy, Device: s.device, Budget: s.device.Memory,
		Most: s.most}
}

// tight returns the reason why a batch does not fit.
func (s *swapped) tight(r *swapRow, batch int) string {
	p := cli.Must(s.build(batch))
	p.Device, p.Budget = s.device, s.device.Memory
	var least *engine.InfeasibleError
	if _, err := r.strategy.Solve(p, nil, nil); !errors.As(err, &least) {
		cli.Fail("batch %d does not train, but nothing refuses it: %w", batch, err)
	}
	return least.Why
}

func (s *swapped) point(l *lab, r *swapRow, batch int) swapPoint {
	if batch > s.most {
		return swapPoint{BatchPoint: whatif.BatchPoint{Batch: batch}}
	}
	if r.allocator != "" {
		return s.placed(l, r, batch)
	}
	return swapPoint{cli.Must(whatif.AtBatch(l.ctx, s.question(r), batch)), s.device.Memory}
}

// placedBudgets is the number of budgets that are tried until the buffers of a schedule can be placed.
const placedBudgets = 16

// placed schedules for smaller and smaller budgets until the buffers fit into the device memory that is not resident.
// The result has no step time if they never do.
func (s *swapped) placed(l *lab, r *swapRow, batch int) swapPoint {
	none := swapPoint{BatchPoint: whatif.BatchPoint{Batch: batch}}
	p := cli.Must(s.build(batch))
	p.Device = s.device
	var least *engine.InfeasibleError
	if _, err := r.strategy.Solve(p, nil, nil); !errors.As(err, &least) {
		cli.Fail("no smallest budget is told: %w", err)
	}
	if least.Smallest > s.device.Memory {
		return none
	}
	budgets := spread(least.Smallest, s.device.Memory, placedBudgets)
	for i := len(budgets) - 1; i >= 0; i-- {
		cli.Check(l.ctx.Err())
		q := s.question(r)
		q.Budget = budgets[i]
		p.Budget = budgets[i]
		sol := cli.Must(r.strategy.Solve(p, nil, nil))
		trace := cli.Must(sim.Play(p, sol.Schedule))
		pool := s.device.Memory - p.Graph.Fixed
		layout := cli.Must(alloc.Lookup(r.allocator).Place(alloc.FromTrace(trace, alloc.AsPlayed), pool, r.args, nil))
		if layout.Failed == nil {
			return swapPoint{cli.Must(whatif.AtBatch(l.ctx, q, batch)), budgets[i]} // checks the schedule as well
		}
	}
	return none
}

// largestPlaced bisects for the largest batch whose buffers can be placed, to a fiftieth of it, between the batches of
// the table.
func (s *swapped) largestPlaced(l *lab, r *swapRow) int {
	trains, fails := 0, s.rows[windowRow].largest+1
	for _, p := range r.points {
		switch {
		case p.StepTime > 0 && p.Batch > trains:
			trains = p.Batch
		case p.StepTime == 0 && p.Batch > trains:
			fails = min(fails, p.Batch)
		}
	}
	for fails > trains+max(1, trains/50) {
		mid := trains + (fails-trains)/2
		if s.placed(l, r, mid).StepTime > 0 {
			trains = mid
		} else {
			fails = mid
		}
	}
	return trains
}

func paperTable() string {
	return section("In the paper: images/s of ResNet-50 by batch\n", func(w *tabwriter.Writer) {
		fmt.Fprint(w, "method\tlargest")
		for _, b := range paperBatches {
			fmt.Fprintf(w, "\t%d", b)
		}
		fmt.Fprintln(w)
		for _, r := range paperRows {
			largest := 0
			for i, x := range r.ips {
				if x > 0 {
					largest = paperBatches[i]
				}
			}
			fmt.Fprintf(w, "%s\t%d", r.name, largest)
			for _, x := range r.ips {
				fmt.Fprintf(w, "\t%s", number(x, 0))
			}
			fmt.Fprintln(w)
		}
	})
}

func (s *swapped) section() string {
	heading := fmt.Sprintf("%s as a graph, in %s: samples/s by batch\n", s.ref, format.Bytes(s.device.Memory))
	return section(heading, func(w *tabwriter.Writer) {
		fmt.Fprint(w, "method\tlargest")
		for _, b := range s.batches {
			fmt.Fprintf(w, "\t%d", b)
		}
		fmt.Fprintln(w)
		for _, r := range s.rows {
			fmt.Fprintf(w, "%s\t%d", r.name, r.largest)
			for i := range r.points {
				fmt.Fprintf(w, "\t%s", number(r.points[i].Throughput(), r.decimals(s)))
			}
			fmt.Fprintln(w)
		}
	})
}

// decimals returns the number of decimals that shows two or three digits of the highest throughput.
func (r *swapRow) decimals(s *swapped) int {
	if best := s.rows[keepRow].best(); best < 100 {
		return 1
	}
	return 0
}

// best returns the highest throughput of a row.
func (r *swapRow) best() (best float64) {
	for i := range r.points {
		best = max(best, r.points[i].Throughput())
	}
	return best
}

// budgetSection returns figure 3: the largest budgets of schedules whose buffers can be placed.
func (s *swapped) budgetSection() string {
	return section("Scheduling budget whose buffers can be placed, GiB\n", func(w *tabwriter.Writer) {
		fmt.Fprint(w, "method")
		for _, b := range s.batches {
			fmt.Fprintf(w, "\t%d", b)
		}
		fmt.Fprintln(w)
		for _, r := range s.rows[bestFitRow:] {
			fmt.Fprint(w, r.name)
			for _, p := range r.points {
				fmt.Fprintf(w, "\t%s", number(float64(p.budget)/float64(engine.GiB), 1))
			}
			fmt.Fprintln(w)
		}
	})
}
