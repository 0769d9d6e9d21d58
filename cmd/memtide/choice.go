//go:build !js

package main

import (
	"flag"
	"fmt"
	"strings"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/link"
)

// asked is what the flags that all commands share say. A link is how it is
// kept, since a link is all that decides what the page shows; what was given on
// the command line overrides what -from says.
type asked struct {
	preset string
	from   string
	side   string // "a" or "b" of a link that compares; "": a
	both   bool   // the command is about links that compare, too
	flags  link.Link
}

// define adds the shared flags to fs.
func (c *asked) define(fs *flag.FlagSet) {
	l := &c.flags
	fs.StringVar(&c.preset, "preset", "", "`NAME-bBATCH` a preset at a batch size (memtide help presets)")
	fs.StringVar(&c.from, "from", "", "`LINK` start from a permalink: the address of the page, or what stands behind its #")
	fs.Func("side", "`a|b` what is taken of a link that compares two (default a)", oneOf(&c.side, "a", "b"))
	fs.Func("as", "`chain|graph` how a network is taken that is both: its layers, or its operations (default chain)", oneOf(&l.Kind, "chain", "graph"))
	fs.StringVar(&l.Device, "device", "", "`ID` device, for its link to the host (memtide help devices; default "+preset.DefaultDeviceID+")")
	fs.Func("bw", "`RATE` bandwidth of the host link, both directions, such as 12.5GB/s (default the device's)", func(s string) (err error) {
		l.ToDev, err = parseRate(s)
		return err
	})
	fs.Func("bwd", "`RATE` bandwidth from the device to the host, where it differs", func(s string) (err error) {
		l.ToHost, err = parseRate(s)
		return err
	})
	fs.Func("duplex", "`half|full` one transfer at a time, or one in each direction (default the device's)", oneOf(&l.Duplex, "half", "full"))
	fs.Func("transfers", "`whole|streamed` room for a transfer is taken and given at once, or byte by byte (default whole)", oneOf(&l.Transfers, "whole", "streamed"))
	fs.Func("arg", "`NAME=VALUE` parameter of the strategy; may be repeated", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return fmt.Errorf("expected NAME=VALUE, for example segments=4")
		}
		if l.Args == nil {
			l.Args = engine.Args{}
		}
		l.Args[name] = value
		return nil
	})
}

// defineOne adds -budget and -strategy for the commands that take one of each.
func (c *asked) defineOne(fs *flag.FlagSet) {
	fs.Func("budget", "`SIZE` device memory that may be used, such as 12GiB, or a share of keeping everything (default 60%)", func(s string) (err error) {
		c.flags.Budget, err = choice.ParseBudget(s)
		return err
	})
	fs.StringVar(&c.flags.Strategy, "strategy", "", "`NAME` strategy (memtide help strategies; default "+defaultStrategy+")")
}

func parseRate(s string) (engine.Rate, error) {
	r, err := format.ParseRate(s)
	if err == nil && r <= 0 {
		err = fmt.Errorf("expected a bandwidth above 0, for example 12 GB/s")
	}
	return r, err
}

func oneOf(to *string, words ...string) func(string) error {
	return func(s string) error {
		for _, w := range words {
			if s == w {
				*to = s
				return nil
			}
		}
		return fmt.Errorf("expected %s", strings.Join(words, " or "))
	}
}

// parseLink reads a whole address or only its fragment. What is wrong with a
// link but leaves it usable is told on the standard error.
func parseLink(e *env, s string) (link.Link, error) {
	_, fragment, ok := strings.Cut(s, "#")
	if !ok {
		if fragment = s; !strings.Contains(s, "=") || strings.Contains(s, "://") {
			return link.Link{}, bad("-from %q has no # and so is no permalink; expected something like #v=1&p=resnet101-b32&m=60%%25", clip(s))
		}
	}
	l, notes := link.Parse(fragment)
	if l.Preset == "" && l.Profile == nil {
		return l, bad("-from: %s", strings.Join(append(notes, "No network is left to work on."), " "))
	}
	for _, n := range notes {
		fmt.Fprintf(e.stderr, "note: %s\n", cli.Printable(n))
	}
	return l, nil
}

// override puts what the flags say over a link. A new device brings its own
// rates, a new strategy its own parameters.
func override(l, flags link.Link) link.Link {
	if flags.Kind != "" {
		l.Kind = flags.Kind
	}
	if flags.Device != "" {
		l.Device, l.ToDev, l.ToHost, l.Duplex = strings.ToLower(flags.Device), 0, 0, ""
	}
	if flags.ToDev > 0 {
		l.ToDev, l.ToHost = flags.ToDev, 0
	}
	if flags.ToHost > 0 {
		l.ToHost = flags.ToHost
	}
	if flags.Duplex != "" {
		l.Duplex = flags.Duplex
	}
	if flags.Transfers != "" {
		l.Transfers = flags.Transfers
	}
	if flags.Budget != (choice.Budget{}) {
		l.Budget = flags.Budget
	}
	if flags.Strategy != "" && flags.Strategy != l.Strategy {
		l.Strategy, l.Args = flags.Strategy, nil
	}
	for name, value := range flags.Args {
		if l.Args == nil {
			l.Args = engine.Args{}
		}
		l.Args[name] = value
	}
	return l
}

// clip shortens foreign text for a message.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
