//go:build !js

package main

import (
	"context"
	"errors"
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

// findPlan returns the fastest plan of the class or strategy that was asked for whose peak is
// within limit. Where no plan fits it ends the command with who holds the bytes and what helps.
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

// At most mostHolders holders are named, each only if it holds more than 1/leastHolder of the peak.
const (
	mostHolders = 4
	leastHolder = 50
)

// holdersText says who holds the bytes at the smallest peak that was met, and what helps
// where no plan does.
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

// told says what was found, in a line, and in another what a strategy's schedule loses.
func (o torchOptions) told(f *play.Found, c *engine.Chain, t *play.Trace, limit engine.Bytes,
	whole play.Result) string {
	base := max(whole.Time.Seconds(), 1e-9)
	text := fmt.Sprintf("%s: peak %s (budget %s, keeping everything %s), %s more time by the times of the file; %d of %d units run again",
		f.Class, format.Bytes(f.Result.Peak), format.Bytes(limit), format.Bytes(whole.Peak),
		format.Percent((f.Result.Time-whole.Time).Seconds()/base), count(f.Segments), len(t.Units))
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

// count returns how many units run again.
func count(segments []*play.Segment) (n int) {
	for _, s := range segments {
		if s.Do == play.DoRecompute {
			n += len(s.Units)
		}
	}
	return n
}

// read reads a file of kind operators, packed or not, or what the link holds, and its
// chain.
func (o torchOptions) read(ctx context.Context, e *env, file string, poll *engine.Poll) (*engine.Chain, *play.Trace) {
	var data []byte
	if o.from != "" {
		file, data = "-from", linked(e, o.from)
	} else {
		data = contents(ctx, e, file)
	}
	return operatorsOf(file, data, poll)
}

// operatorsOf reads a file of kind operators, packed or not, and its chain.
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

// linked returns the operators in a link, as the file that they are from.
func linked(e *env, text string) []byte {
	l := parseLink(e, text)
	if l.Ops == "" {
		fail("-from: the link holds no operators of a step; memtide link FILE writes one that does")
	}
	return []byte(profiles.PackedMagic + l.Ops)
}
