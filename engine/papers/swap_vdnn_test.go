//go:build !js

package papers

import (
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/check"
	"memtide/engine/sim"
	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/web/format"
)

// vdnnDevice is the larger card of the paper on vDNN++.
const vdnnDevice = "gtx-1080-ti"

func swapLayers() *experiment {
	return &experiment{
		name:  "vdnn-tables",
		title: "Offloading layer by layer: pinned memory, peaks, fragmentation, and waiting for copies",
		source: `Shriram, Garg and Kulkarni: Dynamic Memory Management for GPU-based Training of Deep Neural Networks. IPDPS 2019,
doi:10.1109/IPDPS.2019.00030, sections III-C and V, tables IV and V, figure 9`,
		theirs: `AlexNet, VGG-16 and deeper variants, measured on a GTX 1080 Ti with 11 GB; the link works out at 6.63 GB/s (table I). MB
are read as MiB, which is what layer shapes give.`,
		ours: fmt.Sprintf(`presets with times estimated for that card. For the paper's own networks in its layers: activations in place, pools that
keep no indices, no dropout, and of what stays only the weights, which is what meets its aggregate peaks.
Memory-optimal convolutions (m) have no workspaces; performance-optimal ones (p) those of a rule: Winograd F(4x4, 3x3)
with separate transforms (arXiv:1509.09308), Fourier transforms of 32 x 32 for larger kernels (arXiv:1412.7580), with
two copies of what is transformed, and times by their arithmetic and traffic, an estimate. Fetches look no further than
the next convolution that is offloaded, as the program of vDNN does (Rhu et al., arXiv:1602.08124, section III-B); the
paper does not say. Other presets are taken as they are. The link is that of the table, one transfer at a time.
Budget: the %s of the card. Improvement is the part of vDNN's extra time that vDNN++ does without.`, format.Bytes(card.Lookup(vdnnDevice).Memory)),
		measure: measureSwapLayers,
	}
}

// paperPeaks are the aggregate peaks of table V and of table II with memory- and
// performance-optimal convolutions, and the smallest pools of table V: by best fit
// and high-end allocation, prefetch first and derivative first. In MB.
var paperPeaks = []struct {
	ref, set, algo string
	peak           float64
	// best fit prefetch-first, derivative-first, high-end prefetch-first, derivative-first; 0 for rows of table II
	pools [4]float64
}{
	{"alexnet-2012-b256", "conv", "m", 1184, [4]float64{1452, 1476, 1427, 1465}},
	{"alexnet-2012-b256", "all", "m", 1100, [4]float64{1375, 1361, 1570, 1362}},
	{"alexnet-2012-b256", "aconv", "m", 1184, [4]float64{1374, 1379, 1472, 1534}},
	{"vgg16-b64", "conv", "m", 3715, [4]float64{4302, 4107, 4106, 3751}},
	{"vgg16-b64", "all", "m", 3715, [4]float64{3812, 4795, 3812, 4795}},
	{"vgg16-b64", "aconv", "m", 4010, [4]float64{4155, 4073, 4302, 4106}},
	{"alexnet-2012-b256", "conv", "p", 1934, [4]float64{2101, 2185, 2177, 2114}},
	{"alexnet-2012-b256", "all", "p", 1783, [4]float64{2126, 2050, 2037, 2020}},
	{"alexnet-2012-b256", "aconv", "p", 1934, [4]float64{2162, 2162, 2121, 2183}},
	{"vgg16-b64", "conv", "p", 7243, [4]float64{7831, 7439, 8223, 7372}},
	{"vgg16-b64", "all", "p", 7243, [4]float64{7341, 8105, 7341, 7519}},
	{"vgg16-b64", "aconv", "p", 7243, [4]float64{8027, 7829, 7635, 7831}},
	{ref: "alexnet-2012-b128", set: "conv", algo: "m", peak: 710},
	{ref: "alexnet-2012-b128", set: "all", algo: "m", peak: 667},
	{ref: "alexnet-2012-b128", set: "conv", algo: "p", peak: 1188},
	{ref: "alexnet-2012-b128", set: "all", algo: "p", peak: 1113},
	{ref: "vgg16-b16", set: "conv", algo: "m", peak: 1323},
	{ref: "vgg16-b16", set: "all", algo: "m", peak: 1323},
	{ref: "vgg16-b16", set: "conv", algo: "p", peak: 1610},
	{ref: "vgg16-b16", set: "all", algo: "p", peak: 1610},
}

// paperPinned is the host memory that offloading everything pins (section III-C).
var paperPinned = []struct {
	ref string
	mb  float64
}{{"alexnet-2012-b128", 453}, {"vgg16-b128", 7436}}

// paperTimes are the step times of table IV, in ms; 0 is out of memory. They are
// with performance-optimal convolutions.
var paperTimes = map[string]map[string][2]float64{
	"vgg116-b32": {"conv": {3055, 3018}, "all": {3170, 3129}, "aconv": {2717, 2468}},
	"vgg191-b32": {"conv": {5139, 5097}, "all": {5244, 5209}, "aconv": {0, 0}},
}

// layerRefs are the paper's networks whose times are compared.
var layerRefs = []string{"alexnet-2012-b256", "vgg16-b64", "vgg116-b32", "vgg191-b32"}

// layerSets are the sets of offloaded values, in the order of the tables.
var layerSets = []string{"all", "conv", "aconv"}

func measureSwapLayers(l *lab, refs []string) *findings {
	pinned, peaks := pinned(), peaks()
	sizes := make([]beside, len(peaks))
	for i := range peaks {
		sizes[i] = peaks[i].beside
	}
	f := &findings{sections: []string{besides("Pinned host memory, everything offloaded, MiB\nnetwork", pinned),
		besides("Aggregate peak on the device, MiB\nnetwork and mode", sizes), poolsSection(peaks)}}
	all := each(f, layerRefs, func(ref string) *layerRace { return l.layerRace(ref, true) })
	all = append(all, each(f, refs, func(ref string) *layerRace { return l.layerRace(ref, false) })...)
	f.claims = append(pinnedClaims(pinned, peaks), raceClaims(all)...)
	return f
}

// paperLayers returns a chain in the layers of the paper.
func paperLayers(full *engine.Chain) *engine.Chain {
	c := &engine.Chain{Name: full.Name, Batch: full.Batch, Input: full.Input, LossGradAllocated: true,
		Resident: engine.Resident{Weights: full.Resident.Weights}}
	for _, s := range full.Stages {
		if s.Kind == "conv" || s.Kind == "fc" || s.Kind == "pool" && s.Name != "avgpool" {
			layer := engine.Stage{Name: s.Name, Kind: s.Kind, Forward: s.Forward, Back: s.Back, Out: s.Out,
				Saved: s.Out, Grad: s.Grad}
			if f := s.Fast; f != nil { // its workspaces include the temporaries of the stage
				layer.Fast = &engine.Algorithm{Forward: f.Forward, Back: f.Back, FwdTemp: f.FwdTemp - s.FwdTemp,
					BwdTemp: f.BwdTemp - s.BwdTemp}
			}
			c.Stages = append(c.Stages, layer)
		}
	}
	last := c.Stages[len(c.Stages)-1].Out
	c.Stages = append(c.Stages, engine.Stage{Name: "softmax", Kind: "softmax", Out: last, Saved: last, Grad: last})
	return c
}

// onCard returns a preset's chain with times of the paper's card, unchanged or in the paper's layers.
func onCard(ref string, layers bool) *engine.Problem {
	p, batch := parsed(ref)
	c := cli.Must(p.Build(preset.Options{Batch: batch, Device: vdnnDevice, Fast: layers})).Chain
	if layers {
		c = paperLayers(c)
	}
	d := card.Lookup(vdnnDevice).Device
	return engine.NewChainProblem(c, d, engine.Whole, d.Memory)
}

// proven solves a problem, plays the schedule, checks the trace, and returns it.
func proven(p *engine.Problem, strategy string, args engine.Args) *sim.Trace {
	sol := cli.Must(engine.Lookup(strategy).Solve(p, args, nil))
	trace := cli.Must(sim.Play(p, sol.Schedule))
	cli.Within(strategy+" is not verified", func() { cli.Check(check.Trace(p, sol.Schedule, trace)) })
	return trace
}

// tightest returns the trace of vDNN with a set in the smallest budget that it can use.
func tightest(p *engine.Problem, set, algo string) *sim.Trace {
	args := engine.Args{"set": set, "algo": algo, "ahead": "conv"}
	var least *engine.InfeasibleError
	if _, err := engine.Lookup("vdnn").Solve(p.WithBudget(0), args, nil); !errors.As(err, &least) {
		cli.Fail("vdnn in no memory: got %w, expected the smallest budget", err)
	}
	return proven(p.WithBudget(least.Smallest), "vdnn", args)
}

// beside is a published number and ours, in MB and MiB.
type beside struct {
	what        string
	paper, here float64
}

func (b beside) off() float64 { return b.here/b.paper - 1 }

// besides returns a table of rows, below a heading and the title of its first column.
func besides(heading string, rows []beside) string {
	return cli.Table(func(w *tabwriter.Writer) {
		fmt.Fprintf(w, "%s\tpaper\there\tdifference\n", heading)
		for _, r := range rows {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.what, number(r.paper, 0), number(r.here, 1), perCent(r.off()))
		}
	})
}

func pinned() (rows []beside) {
	for _, x := range paperPinned {
		cli.Within(x.ref, func() {
			rows = append(rows, beside{x.ref, x.mb, inMiB(tightest(onCard(x.ref, true), "all", "m").HostPeak)})
		})
	}
	return rows
}

func inMiB(b engine.Bytes) float64 { return float64(b) / float64(engine.MiB) }

// peakRow is a mode of table V.
type peakRow struct {
	beside
	algo  string
	pools [4]float64 // as in paperPeaks
	paper [4]float64
}

func peaks() (rows []peakRow) {
	for _, x := range paperPeaks {
		p := onCard(x.ref, true)
		t := tightest(p, x.set, x.algo)
		row := peakRow{beside: beside{x.ref + " " + x.set + "(" + x.algo + ")", x.peak, inMiB(t.Peak)}, algo: x.algo,
			paper: x.pools}
		for i, name := range []string{"best-fit", "best-fit", "high-end", "high-end"} {
			order := []alloc.Order{alloc.PrefetchFirst, alloc.DerivativeFirst}[i%2]
			layout := cli.Must(alloc.Lookup(name).Place(alloc.FromTrace(t, order), engine.NoLimit, nil, nil))
			row.pools[i] = inMiB(layout.Pool + p.Graph.Fixed)
		}
		rows = append(rows, row)
	}
	return rows
}

func poolsSection(rows []peakRow) string {
	return section("Smallest pool found by the paper's search, above the aggregate peak, paper and here; prefetch or derivative first\n", func(w *tabwriter.Writer) {
		fmt.Fprint(w, "network and mode\tbest fit, prefetch\t\tbest fit, derivative\t\thigh-end, prefetch\t\thigh-end, derivative\n")
		for _, r := range rows {
			if r.paper[0] == 0 {
				continue
			}
			fmt.Fprint(w, r.what)
			for i := range r.pools {
				fmt.Fprintf(w, "\t%s\t%s", perCent(r.paper[i]/r.beside.paper-1), perCent(r.pools[i]/r.here-1))
			}
			fmt.Fprintln(w)
		}
	})
}

// layerRace holds the results of vDNN and vDNN++ on one network.
type layerRace struct {
	ref   string
	base  time.Duration       // without any waiting
	step  [3][2]time.Duration // by set, vDNN and vDNN++; 0 if it does not fit
	fast  [3][2]time.Duration // the same with performance-optimal convolutions, if the network has any
	convs bool                // the network names convolutions
}

func (l *lab) layerRace(ref string, layers bool) *layerRace {
	p := onCard(ref, layers)
	r := &layerRace{ref: ref}
	for i := range p.Graph.Ops {
		r.base += p.Graph.Ops[i].Time
	}
	for _, s := range p.Chain.Chain.Stages {
		r.convs = r.convs || s.Kind == "conv"
	}
	for k, set := range layerSets {
		cli.Check(l.ctx.Err())
		if !r.convs && set != "all" {
			continue
		}
		for i, name := range []string{"vdnn", "vdnnpp"} {
			cli.Within(fmt.Sprintf("%s: %s, %s", ref, name, set), func() {
				r.step[k][i] = cardStep(p, name, set, "m")
				if layers {
					r.fast[k][i] = cardStep(p, name, set, "p")
				}
			})
		}
	}
	return r
}

// cardStep returns the step time on the card, or 0 if nothing fits.
func cardStep(p *engine.Problem, strategy, set, algo string) (step time.Duration) {
	err := cli.Try(func() {
		step = proven(p, strategy,
			engine.Args{"set": set, "algo": algo, "ahead": "conv"}).Makespan
	})
	if _, small := errors.AsType[*engine.InfeasibleError](err); !small {
		cli.Check(err)
	}
	return step
}

// improvement returns the part of vDNN's extra time that vDNN++ saves. ok is false if there is no extra time.
func (r *layerRace) improvement(set int) (part float64, ok bool) {
	sync, async := r.step[set][0], r.step[set][1]
	if async == 0 || sync <= r.base {
		return 0, false
	}
	return float64(sync-async) / float64(sync-r.base), true
}

func (r *layerRace) section() string {
	heading := fmt.Sprintf("%s: %s ms without waiting (m)\n", r.ref, stepTime(r.base))
	return section(heading, func(w *tabwriter.Writer) {
		fmt.Fprint(w, "offloaded\tvDNN, ms\tvDNN++, ms\timprovement\t(p): vDNN\tvDNN++\tpaper's (p): vDNN\tvDNN++\n")
		for k, set := range layerSets {
			part := "–"
			if x, ok := r.improvement(k); ok {
				part = format.Share(x)
			}
			paper := paperTimes[r.ref][set]
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", set, stepTime(r.step[k][0]),
				stepTime(r.step[k][1]), part,
				stepTime(r.fast[k][0]), stepTime(r.fast[k][1]), number(paper[0], 0), number(paper[1], 0))
		}
	})
}
