//go:build !js

package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/play"
	"memtide/web/format"
)

// torchOptions are the flags of torch.
type torchOptions struct {
	class, strategy, budget, file, from string
	link                                engine.Rate
	settings                            bool
}

var torchCommand = &command{
	name:    "torch",
	args:    "[flags] FILE... | -from LINK",
	summary: "find a plan that PyTorch runs on the unmodified model",
	doc: `FILE holds the operators of a training step, which memtide_torch.py has collected
(memtide/1 of kind operators). The plan says which module calls run again; it is run by
memtide_torch.apply(model, plan) on the model as it is (docs/run-a-schedule.md). Of
several files, steps of one model with other batches or lengths, it holds a plan each.
The budget is what a step takes above weights, gradients and optimizer; in per cent it
is of keeping everything. Plans are found by search: what is said of one is played
operator by operator, and that nothing faster exists is not claimed. With -strategy the
schedule that it finds for the chain of the file is written as a plan instead.`,
	examples: []string{
		"memtide torch -class nested -budget 10GiB -o plan.json operators.json",
		"memtide torch -strategy rotor -budget 95% operators.json",
	},
	flags: func(fs *flag.FlagSet) action {
		o := torchOptions{class: string(play.ClassWrappable), budget: "60%", link: 12e9}
		var names []string
		for _, c := range play.Classes() {
			names = append(names, string(c))
		}
		fs.Func("class", "`"+strings.Join(names, "|")+"` what a plan may do (default wrappable)",
			oneOf(&o.class, names...))
		fs.StringVar(&o.from, "from", "", "`LINK` take the operators that a permalink holds")
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

// find returns the plan for one file; with -settings it is only held against those.
func (o torchOptions) find(ctx context.Context, e *env, file string, poll *engine.Poll) *play.Plan {
	chain, trace := o.read(ctx, e, file, poll)
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
	maker := "memtide torch, search"
	if o.strategy != "" {
		maker = "memtide torch, " + o.strategy
	}
	return player.Plan(found.Segments, string(found.Class), maker, limit)
}

// writeSettings writes what frameworks can be told, a paragraph each.
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

// size returns the budget in bytes, rounded down; per cent are of keeping everything.
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
