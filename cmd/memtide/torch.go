package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/play"
	"memtide/profiles"
	"memtide/profiles/formats/operators"
	"memtide/web/format"
)

// torchOptions holds the flags of torch.
type torchOptions struct {
	class, strategy, budget, file, from string
	link                                engine.Rate
	settings                            bool
}

var torchCommand = &command{
	name: "torch",
	flags: func(fs *flag.FlagSet) action {
		o := torchOptions{class: string(play.ClassWrappable), budget: "60%", link: 12e9}
		var names []string
		for _, c := range play.Classes() {
			names = append(names, string(c))
		}
		fs.Func("class", "`"+strings.Join(names, "|")+"` what a plan may do (default wrappable)",
			oneOf(&o.class, names...))
		fs.StringVar(&o.from, "from", "", "`LINK` take the operators that a link holds")
		fs.StringVar(&o.strategy, "strategy", "",
			"`NAME` write the schedule of this strategy for the chain as a plan, such as rotor")
		fs.StringVar(&o.budget, "budget", o.budget,
			"`SIZE` memory of a step above what is there before it: 10GiB, 60%")
		parsed(fs, "link", "`RATE` of copies to the host and back, of class offload (default 12GB/s)", &o.link,
			format.ParseRate)
		fs.StringVar(&o.file, "o", "", "`FILE` write the plan to it instead of the standard output")
		fs.BoolVar(&o.settings, "settings", false,
			"write the nearest settings of frameworks instead of a plan, each played, with what they lose against it")
		return func(ctx context.Context, e *env, args []string) { o.run(ctx, e, args) }
	},
}

func (o torchOptions) run(ctx context.Context, e *env, args []string) {
	switch {
	case o.from != "" && len(args) > 0:
		fail("there is more than one step; name either a FILE or -from")
	case o.from != "":
		args = []string{""}
	case len(args) == 0 || len(args) > 1 && o.settings:
		fail("name one file of kind operators; memtide_torch.py writes it")
	}
	var plan *play.Plan
	for _, file := range args {
		p := o.find(ctx, e, file, engine.NewPoll(ctx, nil))
		switch {
		case o.settings:
			return
		case plan == nil:
			plan = p
			continue
		}
		failAt(file, plan.Add(p))
	}
	e.write(o.file, cli.Must(plan.JSON()))
}

// find returns the plan for one file. With -settings it writes the settings of frameworks and returns nil.
func (o torchOptions) find(ctx context.Context, e *env, file string, poll *engine.Poll) *play.Plan {
	var data []byte
	if o.from != "" {
		l := parseLink(e, o.from)
		if l.Ops == "" {
			fail("-from: the link holds no operators of a step; memtide link FILE writes one that does")
		}
		file, data = "-from", []byte(profiles.PackedMagic+l.Ops)
	} else {
		data = contents(ctx, e, file)
	}
	chain, trace := operatorsOf(file, data, poll)
	for _, w := range trace.Warnings {
		fmt.Fprintf(e.stderr, "note: %s\n", cli.Printable(w))
	}
	player := play.NewPlayer(trace)
	whole := player.Play(nil)
	limit := o.size(whole.Peak)
	found := o.findPlan(chain, trace, player, limit, whole.Peak, poll)
	if o.settings {
		o.writeSettings(e, player, whole, found.Result, limit, poll)
		return nil
	}
	fmt.Fprintln(e.stderr, o.told(found, chain, trace, limit, whole))
	return player.Plan(found.Segments, string(found.Class), "memtide torch, "+cmp.Or(o.strategy, "search"), limit)
}

// writeSettings writes the settings of frameworks, a paragraph each.
func (o torchOptions) writeSettings(e *env, player *play.Player, whole, plan play.Result, budget engine.Bytes,
	poll *engine.Poll) {
	settings := cli.Must(player.Settings(budget, poll))
	more := func(r play.Result) string {
		return format.Percent((r.Time-whole.Time).Seconds()/max(whole.Time.Seconds(), 1e-9)) + " more time"
	}
	fmt.Fprintf(e.stdout, "Budget %s, keeping everything %s. A plan of class %s: peak %s, %s.\n",
		format.Bytes(budget), format.Bytes(whole.Peak), o.class, format.Bytes(plan.Peak), more(plan))
	for _, s := range settings {
		if s.Code == "" {
			fmt.Fprintf(e.stdout, "\n%s\n  -: %s\n", s.Framework, s.Why)
			continue
		}
		fmt.Fprintf(e.stdout, "\n%s\n  %s\n  peak %s, %s\n", s.Framework, s.Code, format.Bytes(s.Result.Peak),
			more(s.Result))
		if s.Note != "" {
			fmt.Fprintf(e.stdout, "  %s\n", s.Note)
		}
	}
	cli.Must(fmt.Fprint(e.stdout,
		"\ntorch.compile's activation_memory_budget (torchtitan's MemoryBudgetAC) is no number of bytes and its peak does not fall with it: no setting is named.\nWhat JAX and DeepSpeed are told is played with the operators of this PyTorch model.\n"))
}

// size returns the budget in bytes, rounded down. Percentages are of whole.
func (o torchOptions) size(whole engine.Bytes) engine.Bytes {
	if strings.HasSuffix(o.budget, "%") {
		share, err := format.ParsePercent(o.budget)
		failAt("-budget", err)
		return engine.Bytes(float64(whole) * share)
	}
	b, err := format.ParseBytes(o.budget)
	failAt("-budget", err)
	return b
}

// findPlan returns the fastest plan of the class or strategy whose peak is within limit. If no
// plan fits, it ends the command with the holders of the memory and what helps.
func (o torchOptions) findPlan(c *engine.Chain, t *play.Trace, p *play.Player, limit, whole engine.Bytes,
	poll *engine.Poll) *play.Found {
	if o.strategy != "" && engine.Lookup(o.strategy) == nil {
		fail("there is no strategy %q; memtide help strategies lists them", o.strategy)
	}
	found, err := play.Find(c, t, p, play.Query{Class: play.Class(o.class), Strategy: o.strategy, Limit: limit,
		Link: o.link}, poll)
	which := "of class " + o.class
	short, ok := errors.AsType[*engine.InfeasibleError](err)
	switch {
	case !ok:
		return cli.Must(found, err)
	case o.strategy != "" && short.Smallest == 0:
		cli.Fail("%s finds no schedule of the chain for %s, and so no plan: memtide torch -class %s searches without the chain", o.strategy, format.Bytes(limit), play.ClassNested)
	case o.strategy != "":
		which = "of " + o.strategy
	}
	text := ""
	if found != nil {
		text = "\n" + holdersText(p.Holders(found.Segments), found.Result.Peak)
		if c := found.Class; c == play.ClassUnit || c == play.ClassWrappable {
			text += " A wider class may go lower: -class nested."
		}
	}
	cli.Fail("no plan %s was found for %s; the smallest peak met is %s (keeping everything: %s); nothing proves that it is the smallest%s",
		which, format.Bytes(limit), format.Bytes(short.Smallest), format.Bytes(whole), text)
	return nil
}

// mostHolders is how many holders are named, each only if it holds at least 1/leastHolder of the peak.
const (
	mostHolders = 4
	leastHolder = 50
)

// holdersText returns who holds the memory at the smallest peak that was found, and what helps if no plan does.
func holdersText(list []play.Holder, peak engine.Bytes) string {
	var parts []string
	rest := peak
	list = list[:min(len(list), mostHolders)]
	list = slices.DeleteFunc(list, func(h play.Holder) bool { return h.Bytes < peak/leastHolder })
	for _, h := range list {
		parts = append(parts, holderName(&h)+" "+format.Bytes(h.Bytes))
		rest -= h.Bytes
	}
	if rest >= peak/leastHolder {
		parts = append(parts, "others "+format.Bytes(rest))
	}
	text := "At that peak: " + strings.Join(parts, ", ") + ".\nA smaller batch takes less."
	for _, h := range list {
		switch recurrent := slices.ContainsFunc([]string{"RNN", "LSTM", "GRU"},
			func(kind string) bool { return strings.Contains(h.Class, kind) }); {
		case recurrent:
			return text + " " + cli.Printable(h.Path) +
				" works on its whole sequence in one call, which no plan divides: run the sequence in parts and detach the state between them (truncated backpropagation through time)."
		case h.Outer:
			return text + " No plan divides what " + holderName(&h) +
				" does between its modules: put parts of it into modules of their own."
		}
	}
	return text
}

func holderName(h *play.Holder) string {
	switch {
	case h.Call == play.ByBackward:
		return "the backward"
	case h.Call == play.ByNone:
		return "what no operator makes"
	case h.Path == "":
		return fmt.Sprintf("the model itself (%s)", cli.Printable(h.Class))
	}
	return fmt.Sprintf("%s (%s)", cli.Printable(h.Path), cli.Printable(h.Class))
}

// told describes the plan in a line, and what a strategy's schedule loses in another.
func (o torchOptions) told(f *play.Found, c *engine.Chain, t *play.Trace, limit engine.Bytes,
	whole play.Result) string {
	base := max(whole.Time.Seconds(), 1e-9)
	again := 0 // units that run again
	for _, s := range f.Segments {
		if s.Do == play.DoRecompute {
			again += len(s.Units)
		}
	}
	text := fmt.Sprintf("%s: peak %s (budget %s, keeping everything %s), %s more time by the times of the file; %d of %d units run again",
		f.Class, format.Bytes(f.Result.Peak), format.Bytes(limit), format.Bytes(whole.Peak),
		format.Percent((f.Result.Time-whole.Time).Seconds()/base), again, len(t.Units))
	if f.Result.Sent > 0 {
		text += fmt.Sprintf("; %s go to the host and back at %s, %s of that time if no copy runs beside an operator",
			format.Bytes(f.Result.Sent), o.link.Text(), format.Percent(f.Result.Copies.Seconds()/base))
	}
	if f.Solution == nil {
		return text
	}
	plain := c.ForwardTime() + c.BackTime()
	more := func(s *engine.Solution) string {
		return format.Percent((s.Makespan - plain).Seconds() / max(plain.Seconds(), 1e-9))
	}
	text += fmt.Sprintf("\nOn the chain of %d stages, %s takes %s more time", c.Len(), o.strategy, more(f.Solution))
	switch {
	case f.Best != nil:
		return text + ", and the optimum of all that recompute " + more(f.Best) + "."
	case f.Solution.Optimal:
		return text + ", the optimum of " + f.Solution.OptimalAmong +
			"; what dropping and making again in any order would gain is not known for so long a chain."
	}
	return text + "; how far that is from the optimum is not known."
}

// operatorsOf reads a file of kind operators, packed or not, and returns the chain and the trace.
func operatorsOf(file string, data []byte, poll *engine.Poll) (*engine.Chain, *play.Trace) {
	data, err := profiles.Unpack(data, poll)
	failAt(file, err)
	claims := profiles.Claimants(data)
	if len(claims) != 1 || claims[0].Name != "operators" {
		fail("%s does not hold the operators of a step: python memtide_torch.py my.module:factory -o net.json writes them", file)
	}
	p, trace, err := operators.Read(file, data, poll)
	failAt(file, err)
	return p.Chain, trace
}
