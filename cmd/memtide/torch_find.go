//go:build !js

package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"memtide/engine"
	"memtide/engine/play"
	"memtide/engine/remat"
	"memtide/profiles"
	"memtide/profiles/formats/operators"
	"memtide/web/format"
)

// finder looks for the plan of one file.
type finder struct {
	torchOptions
	chain  *engine.Chain
	trace  *play.Trace
	player *play.Player
	whole  play.Result  // of the plain step
	limit  engine.Bytes // above what is there before the step

	segments []*play.Segment
	got      play.Result
	of       play.Class
	notes    []string // whole sentences
}

// search finds a plan of the class that was asked for.
func (f *finder) search(poll *engine.Poll) (err error) {
	f.of = play.Class(f.class)
	f.segments, f.got, err = f.player.Solve(f.of, f.limit, planPlays, f.known(poll), poll)
	if short, ok := errors.AsType[*engine.InfeasibleError](err); ok {
		return f.short(short.Smallest)
	}
	return err
}

// short is the error where nothing fits.
func (f *finder) short(least engine.Bytes) error {
	return fmt.Errorf("no plan of class %s was found for %s; the smallest peak met is %s (keeping everything: %s); nothing proves that it is the smallest",
		f.of, format.Bytes(f.limit), format.Bytes(least), format.Bytes(f.whole.Peak))
}

// line says what was found.
func (f *finder) line() string {
	extra := max(f.whole.Time.Seconds(), 1e-9)
	text := fmt.Sprintf("%s: peak %s (budget %s, keeping everything %s), %s more time by the times of the file; %d of %d units run again",
		f.of, format.Bytes(f.got.Peak), format.Bytes(f.limit), format.Bytes(f.whole.Peak), format.Percent((f.got.Time-f.whole.Time).Seconds()/extra), count(f.segments), len(f.trace.Units))
	if f.got.Sent > 0 {
		text += fmt.Sprintf("; %s go to the host and back at %s, %s of that time if no copy runs beside an operator", format.Bytes(f.got.Sent), f.link.Text(), format.Percent(f.got.Copies.Seconds()/extra))
	}
	return text
}

// rooms are budgets of the chain to try for one of the step: what a chain cannot say of
// a step may take a little more.
func (f *finder) rooms() (rooms []engine.Bytes) {
	for _, less := range []engine.Bytes{0, f.limit / 50, f.limit / 20, f.limit / 10, f.limit / 5} {
		rooms = append(rooms, f.limit-less+f.chain.Input+f.chain.Resident.Total())
	}
	return rooms
}

// known are plans that follow from the chain's optimal ones of class wrappable, and of
// rotor where runs within runs are looked for.
func (f *finder) known(poll *engine.Poll) (all [][]*play.Segment) {
	for _, room := range f.rooms() {
		runs, err := remat.Runs(f.chain, room, poll)
		if err != nil {
			break
		}
		var parts []play.Part
		for _, r := range runs {
			parts = append(parts, play.Part{First: r[0], Last: r[1]})
		}
		all = append(all, f.valid(parts)...)
	}
	if f.of == play.ClassUnit || f.of == play.ClassWrappable {
		return all
	}
	for _, room := range f.rooms() {
		if parts, _, err := f.solved("rotor", nil, room, poll); err == nil {
			all = append(all, f.valid(parts)...)
		}
	}
	return all
}

// valid is parts as the segments of one plan, if they are one.
func (f *finder) valid(parts []play.Part) [][]*play.Segment {
	if segments := f.trace.OfStages(f.chain, parts); f.trace.Validate(segments) == nil {
		return [][]*play.Segment{segments}
	}
	return nil
}

// solved is what a strategy finds for the chain, as parts.
func (f *finder) solved(strategy string, args engine.Args, room engine.Bytes, poll *engine.Poll) ([]play.Part, *engine.Solution, error) {
	p := engine.NewChainProblem(f.chain, engine.Device{ToHost: f.link, ToDev: f.link}, engine.Whole, room)
	sol, err := engine.Lookup(strategy).Solve(p, args, poll)
	if err != nil {
		return nil, nil, err
	}
	parts, err := play.Nested(p, sol.Schedule)
	return parts, sol, err
}

// convert writes the schedule of a strategy as a plan: for the largest budget of the
// chain with which the step keeps its own.
func (f *finder) convert(poll *engine.Poll) error {
	if engine.Lookup(f.strategy) == nil {
		return bad("there is no strategy %q; memtide help strategies lists them", f.strategy)
	}
	f.of = play.ClassNested
	least := engine.NoLimit
	for _, room := range f.rooms() {
		parts, sol, err := f.solved(f.strategy, nil, room, poll)
		if _, short := errors.AsType[*engine.InfeasibleError](err); short {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.strategy, err)
		}
		for _, segments := range f.valid(parts) {
			f.segments, f.got = segments, f.player.Play(segments)
			least = min(least, f.got.Peak)
			if f.got.Peak <= f.limit {
				f.of = f.trace.ClassOf(segments)
				f.notes = append(f.notes, f.lost(sol, room, poll))
				return nil
			}
		}
	}
	if least == engine.NoLimit {
		return fmt.Errorf("%s finds no schedule of the chain for %s, and so no plan: memtide torch -class %s searches without the chain", f.strategy, format.Bytes(f.limit), play.ClassNested)
	}
	return f.short(least)
}

// lost says how far a schedule is from the best one of the chain that recomputes.
func (f *finder) lost(sol *engine.Solution, room engine.Bytes, poll *engine.Poll) string {
	plain := f.chain.ForwardTime() + f.chain.BackTime()
	more := func(s *engine.Solution) string {
		return format.Percent((s.Makespan - plain).Seconds() / max(plain.Seconds(), 1e-9))
	}
	text := fmt.Sprintf("On the chain of %d stages, %s takes %s more time", f.chain.Len(), f.strategy, more(sol))
	p := engine.NewChainProblem(f.chain, engine.Device{}, engine.Whole, room)
	best, err := engine.Lookup("nonpersistent").Solve(p, engine.Args{"drop": "yes"}, poll)
	switch {
	case err == nil && best.Optimal:
		return text + ", and the optimum of all that recompute " + more(best) + "."
	case sol.Optimal:
		return text + ", the optimum of " + sol.OptimalAmong + "; what dropping and making again in any order would gain is not known for so long a chain."
	}
	return text + "; how far that is from the optimum is not known."
}

// count is how many units run again.
func count(segments []*play.Segment) (n int) {
	for _, s := range segments {
		if s.Do == play.DoRecompute {
			n += len(s.Units)
		}
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
