//go:build !js

package main

import (
	"flag"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/web/choice"
	"memtide/web/format"
)

// ownCard is a card that is in no list, as flags describe it.
type ownCard struct{ card.Own }

// define adds the flags.
func (o *ownCard) define(fs *flag.FlagSet) {
	add := func(name, help string, set func(value string) error) {
		fs.Func(name, help, set)
	}
	rate := func(to *engine.Rate) func(string) error {
		return func(value string) (err error) {
			*to, err = format.ParseRate(value)
			return err
		}
	}
	add("memory", "`SIZE` of a card that is in no list, such as 24GiB; instead of -device", func(value string) (err error) {
		o.Memory, err = format.ParseBytes(value)
		return err
	})
	add("link", "`RATE` of that card's link to the host in each direction, such as 25GB/s (default 25GB/s)", rate(&o.Link))
	add("rate", "`RATE` of that card's dense 16-bit products, such as 165TFLOP/s; without it there are no times of it", func(value string) error {
		n, err := format.ParseFlops(value)
		o.Rate = card.Flops(n)
		return err
	})
	add("bandwidth", "`RATE` of that card's own memory, such as 1008GB/s (default in proportion to -rate, as on an A100)", rate(&o.Own.Own))
}

// id is how the card is spelled; empty if nothing is said of one. device is that of -device.
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
