package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"memtide/cmd/cli"
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/link"
)

// asked holds the values of the flags that several commands share. Flags override the link of
// -from.
type asked struct {
	preset string
	from   string
	side   string // "a" or "b" of a link that compares; "" means a
	both   bool   // the command also accepts links that compare
	flags  choice.Said
	own    ownCard

	optimizer string // name in profiles.Optimizers; empty for the network's own

	addresses bool // the command accepts files about addresses, for which read sets only the profile
}

// define adds the shared flags to fs: the flags of the source, and a flag for each field of a
// choice that no command defines itself.
func (c *asked) define(fs *flag.FlagSet) {
	fs.StringVar(&c.preset, "preset", "", "`NAME-bBATCH` a preset at a batch size (memtide help presets)")
	fs.StringVar(&c.from, "from", "",
		"`LINK` start from a link: the address of the page, or what stands behind its #")
	fs.Func("side", "`a|b` what is taken of a link that compares two (default a)", oneOf(&c.side, "a", "b"))
	for _, f := range choice.Fields(&c.flags) {
		if w := choice.FieldWords[f.Key]; w.Flag != "" && !w.Own {
			c.flag(fs, f.Key, w.Help)
		}
	}
	fs.Func("optimizer", "`sgd|adamw` states and step that a network without a step gets, by a rule: SGD with momentum, or AdamW (default what the network says)", oneOf(&c.optimizer, "sgd", "adamw"))
	c.own.define(fs)
}

// defineOne adds -budget and -strategy for commands that take one budget and one strategy.
func (c *asked) defineOne(fs *flag.FlagSet) {
	c.flag(fs, "m", choice.FieldWords["m"].Help)
	c.flag(fs, "s", choice.FieldWords["s"].Help)
}

// flag adds the flag for a field of a choice.
func (c *asked) flag(fs *flag.FlagSet, key, help string) {
	w := choice.FieldWords[key]
	fs.Func(w.Flag, help, func(value string) error {
		fields := choice.Fields(&c.flags)
		f := fields.Of(key)
		name, rest, ok := strings.Cut(value, "=")
		switch {
		case f.Args == nil:
			name = ""
		case !ok || name == "":
			return fmt.Errorf("expected NAME=VALUE, for example %s", w.Zero)
		default:
			value = rest
		}
		if w.Of != nil && !slices.Contains(w.Of, value) {
			return fmt.Errorf("expected %s", strings.Join(w.Of, " or "))
		}
		if f.Args == nil && w.Zero != "" {
			if err := f.Value.Set(value); err != nil || f.Value.String() != "" {
				return err
			}
			return fmt.Errorf("expected %s", w.Zero)
		}
		_, err := fields.Set(key+name, value)
		return err
	})
}

// doing runs a command on its input.
type doing func(ctx context.Context, e *env, in *input)

// about returns the function that defines the flags of a command with one input: the shared
// flags c, and those of own. own returns how to run the command after parsing.
func about(c asked, own func(fs *flag.FlagSet, c *asked) doing) func(*flag.FlagSet) action {
	return func(fs *flag.FlagSet) action {
		c := c // a copy for this run
		c.define(fs)
		c.defineOne(fs)
		do := own(fs, &c)
		return func(ctx context.Context, e *env, args []string) {
			do(ctx, e, c.read(ctx, e, args))
		}
	}
}

// parsed adds a flag whose text parse converts.
func parsed[T any](fs *flag.FlagSet, name, help string, to *T, parse func(string) (T, error)) {
	fs.Func(name, help, func(text string) (err error) {
		*to, err = parse(text)
		return err
	})
}

func oneOf(to *string, words ...string) func(string) error {
	return func(s string) error {
		if slices.Contains(words, s) {
			*to = s
			return nil
		}
		return fmt.Errorf("expected %s", strings.Join(words, " or "))
	}
}

// parseLink parses a whole address or only its fragment. Problems that leave the link usable go to the standard error.
func parseLink(e *env, s string) link.Link {
	_, fragment, ok := strings.Cut(s, "#")
	if !ok {
		if fragment = s; !strings.Contains(s, "=") || strings.Contains(s, "://") {
			fail("-from %q has no # and so is no link of the page; expected something like #v=1&p=resnet101-b32&m=60%%25",
				profiles.Clip(s))
		}
	}
	l, notes := link.Parse(fragment)
	if l.Step != "" {
		c, _ := l.Resolve(l.Base())
		if c.Source.Model == "" {
			fail("-from: the link is about a whole training step; memtide plan answers about those")
		}
		l.Profile = valid(preset.Play(c.Source.Model, c.Source.Options))
		l.Profile.Format, l.Profile.Device, l.Strategy, l.Device = "config.json", nil, c.Strategy, c.Device
		l.Step, l.StepArgs = "", nil
	}
	if !l.Named() {
		fail("-from: %s", strings.Join(append(notes, "No network is left to work on."), " "))
	}
	for _, n := range notes {
		fmt.Fprintf(e.stderr, "note: %s\n", cli.Printable(n))
	}
	return l
}

// ownCard is a card that is described by flags.
type ownCard struct{ card.Own }

func (o *ownCard) define(fs *flag.FlagSet) {
	parsed(fs, "memory", "`SIZE` of a card that is in no list, such as 24GiB; instead of -device", &o.Memory,
		format.ParseBytes)
	parsed(fs, "link", "`RATE` of that card's link to the host in each direction, such as 25GB/s (default 25GB/s)",
		&o.Link, format.ParseRate)
	parsed(fs, "rate",
		"`RATE` of that card's dense 16-bit products, such as 165TFLOP/s; without it times are those of another card, which is named",
		(*int64)(&o.Rate), format.ParseFlops)
	parsed(fs, "bandwidth",
		"`RATE` of that card's own memory, such as 1008GB/s (default in proportion to -rate, as on an A100)",
		&o.Own.Own, format.ParseRate)
}

// id returns the spelling of the card, or "" if no flag describes a card. device is the value of
// -device.
func (o *ownCard) id(device string) string {
	switch {
	case o.Own == (card.Own{}):
		return ""
	case device != "":
		fail("-device %s and -memory, -link, -rate or -bandwidth are two cards; want one", device)
	case o.Memory == 0:
		fail("-link, -rate and -bandwidth are of a card that is in no list; it needs -memory, for example 24GiB")
	}
	if err := o.Check(); err != nil {
		fail("%s", choice.Sentence("%v", err))
	}
	return o.ID()
}

// oneSide returns the side of a link that the command works on. If a link compares and -side is
// missing, a note goes to the standard error.
func (c *asked) oneSide(e *env, l link.Link) link.Link {
	b := l.B
	switch {
	case c.side == "b" && b == nil:
		fail("-side b: the link compares nothing; leave -side out")
	case c.side == "b" && b.From == choice.FromFile:
		fail("-side b: side B is a file that no link can hold; name the FILE itself")
	case c.side == "b":
		return sideB(l)
	case b == nil || c.side == "" && c.both:
		return l
	case c.side == "":
		fmt.Fprintln(e.stderr, "note: the link compares two; this is about A alone. -side b takes B, -side a says that A is meant.")
	}
	l.B = nil
	return l
}

// sideB returns side B of a link as a link of its own: A with the fields in which B differs.
func sideB(l link.Link) link.Link {
	b := l.B
	l.B = nil
	switch {
	case b.Profile != nil:
		l.Preset, l.Profile, l.Kind, l.Ops = "", b.Profile, "", ""
	case b.Preset != "":
		l.Preset, l.Profile, l.Ops = b.Preset, nil, ""
	}
	if b.Strategy != "" { // B has all its parameters, even for the same strategy
		l.Args = nil
	}
	l.Take(b)
	return l
}
