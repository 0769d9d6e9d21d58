//go:build !js

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/engine/play"
	"memtide/engine/remat"
	"memtide/profiles"
	"memtide/profiles/formats/operators"
	"memtide/web/format"
)

// planPlays is how many plans are played for one answer.
const planPlays = 4500

// torchOptions are the flags of torch.
type torchOptions struct {
	class, budget, file string
	settings            bool
}

func torchCommand() *command {
	return &command{
		name:    "torch",
		args:    "[flags] FILE",
		summary: "find a plan that PyTorch runs on the unmodified model",
		doc: `FILE holds the operators of a training step, which memtide_torch.py has collected
(memtide/1 of kind operators). The plan says which module calls run again; it is run by
memtide_torch.apply(model, plan) on the model as it is (docs/run-a-schedule.md).
The budget is what a step takes above weights, gradients and optimizer; in per cent it
is of keeping everything. Plans are found by search: what is said of one is played
operator by operator, and that nothing faster exists is not claimed.`,
		examples: []string{
			"memtide torch -class nested -budget 10GiB -o plan.json operators.json",
			"memtide torch -budget 95% operators.json",
		},
		flags: func(fs *flag.FlagSet) func(context.Context, *env, []string) error {
			o := torchOptions{class: string(play.ClassWrappable), budget: "60%"}
			var names []string
			for _, c := range play.Classes() {
				names = append(names, string(c))
			}
			fs.Func("class", "`"+strings.Join(names, "|")+"` what a plan may do (default wrappable)", oneOf(&o.class, names...))
			fs.StringVar(&o.budget, "budget", o.budget, "`SIZE` memory of a step above what is there before it: 10GiB, 60%")
			fs.StringVar(&o.file, "o", "", "`FILE` write the plan to it instead of the standard output")
			fs.BoolVar(&o.settings, "settings", false, "write the nearest settings of frameworks instead of a plan, each played, with what they lose against it")
			return func(ctx context.Context, e *env, args []string) error { return o.run(ctx, e, args) }
		},
	}
}

func (o torchOptions) run(ctx context.Context, e *env, args []string) error {
	if len(args) != 1 {
		return bad("name one file of kind operators; memtide_torch.py writes it")
	}
	poll := engine.NewPoll(ctx, nil)
	chain, trace, err := readTrace(e, args[0], poll)
	if err != nil {
		return err
	}
	player := play.NewPlayer(trace)
	whole := player.Play(nil)
	budget, err := o.size(whole.Peak)
	if err != nil {
		return err
	}
	segments, got, err := player.Solve(play.Class(o.class), budget, planPlays, stretches(chain, trace, budget, poll), poll)
	if short, ok := errors.AsType[*engine.InfeasibleError](err); ok {
		return fmt.Errorf("no plan of class %s was found for %s; the smallest peak met is %s (keeping everything: %s); nothing proves that it is the smallest",
			o.class, format.Bytes(budget), format.Bytes(short.Smallest), format.Bytes(whole.Peak))
	}
	if err != nil {
		return err
	}
	if o.settings {
		return o.writeSettings(e, player, whole, got, budget, poll)
	}
	text, err := player.Plan(segments, o.class, "memtide torch, search", budget).JSON()
	if err != nil {
		return err
	}
	if err := e.write(o.file, text); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stderr, "%s: peak %s (budget %s, keeping everything %s), %s more time by the times of the file; %d of %d units run again\n",
		o.class, format.Bytes(got.Peak), format.Bytes(budget), format.Bytes(whole.Peak), format.Percent(got.Again.Seconds()/max(whole.Time.Seconds(), 1e-9)), count(segments), len(trace.Units))
	return err
}

// writeSettings writes what frameworks can be told, a paragraph each.
func (o torchOptions) writeSettings(e *env, player *play.Player, whole, plan play.Result, budget engine.Bytes, poll *engine.Poll) error {
	settings, err := player.Settings(budget, poll)
	if err != nil {
		return err
	}
	more := func(r play.Result) string {
		return format.Percent(r.Again.Seconds()/max(whole.Time.Seconds(), 1e-9)) + " more time"
	}
	fmt.Fprintf(e.stdout, "Budget %s, keeping everything %s. A plan of class %s: peak %s, %s.\n", format.Bytes(budget), format.Bytes(whole.Peak), o.class, format.Bytes(plan.Peak), more(plan))
	for _, s := range settings {
		if s.Code == "" {
			fmt.Fprintf(e.stdout, "\n%s\n  -: %s\n", s.Framework, s.Why)
			continue
		}
		fmt.Fprintf(e.stdout, "\n%s\n  %s\n  peak %s, %s\n", s.Framework, s.Code, format.Bytes(s.Result.Peak), more(s.Result))
	}
	_, err = fmt.Fprint(e.stdout, "\ntorch.compile's activation_memory_budget is no number of bytes and its peak does not fall with it: no setting is named.\n")
	return err
}

// size is the budget in bytes, rounded down; per cent are of keeping everything.
func (o torchOptions) size(whole engine.Bytes) (engine.Bytes, error) {
	if strings.HasSuffix(o.budget, "%") {
		share, err := format.ParsePercent(o.budget)
		if err != nil {
			return 0, bad("-budget: %v", err)
		}
		return engine.Bytes(float64(whole) * share), nil
	}
	b, err := format.ParseBytes(o.budget)
	if err != nil {
		return 0, bad("-budget: %v", err)
	}
	return b, nil
}

// stretches are the runs of the chain's optimal plans, for this budget and a little
// less, as units of the trace: a stage of the chain ends with the unit that it is
// called after.
func stretches(c *engine.Chain, t *play.Trace, budget engine.Bytes, poll *engine.Poll) (all [][]play.Stretch) {
	names := t.UnitNames()
	end := func(stage int) int { // the last unit of a stage
		if stage == 0 {
			return -1
		}
		return slices.Index(names, c.Stages[stage-1].Name)
	}
	for _, less := range []engine.Bytes{0, budget / 50, budget / 20, budget / 10} {
		runs, err := remat.Runs(c, budget-less+c.Input+c.Resident.Total(), poll)
		if err != nil {
			break
		}
		var one []play.Stretch
		for _, r := range runs {
			one = append(one, play.Stretch{First: end(r[0]-1) + 1, Last: end(r[1])})
		}
		all = append(all, one)
	}
	return all
}

// count is how many units run again.
func count(segments []*play.Segment) (n int) {
	for _, s := range segments {
		n += len(s.Units)
	}
	return n
}

// readTrace reads a file of kind operators, packed or not, and its chain.
func readTrace(e *env, file string, poll *engine.Poll) (*engine.Chain, *play.Trace, error) {
	var data []byte
	var err error
	if file == "-" {
		data, err = io.ReadAll(e.stdin)
	} else {
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, nil, bad("%v", err)
	}
	if data, err = profiles.Unpack(data, poll); err != nil {
		return nil, nil, bad("%s: %v", file, err)
	}
	claims := profiles.Claimants(data)
	if len(claims) != 1 || claims[0].Name != "operators" {
		return nil, nil, bad("%s does not hold the operators of a step: python memtide_torch.py my.module:factory -o net.json writes them", file)
	}
	p, trace, err := operators.Read(file, data, poll)
	if err != nil {
		return nil, nil, bad("%s: %v", file, err)
	}
	return p.Chain, trace, nil
}
