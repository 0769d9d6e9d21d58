//go:build !js

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"memtide/cmd/cli"
	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/web/link"
)

var linkCommand = &command{
	name:    "link",
	args:    "[flags] FILE | -preset NAME | -from LINK",
	summary: "print the permalink: an address that shows all this on the page",
	doc: `Prints the address under which the page shows the network and the settings. A
profile from a file is in the address itself, exactly; nothing of it is ever
sent to a server. Operators of a step are beside their chain, for plans of the
model there. How long it is, and where that is too long, is told on the
standard error.`,
	examples: []string{
		"memtide link -preset resnet50-b64 -budget 4GiB -strategy rotor",
		"memtide link -budget 900MiB -strategy greedy net.csv",
		"memtide link -from 'v=1&p=vgg16-b32&m=60%25' -device a100-sxm-40gb",
	},
	flags: func(fs *flag.FlagSet) action {
		c := asked{both: true}
		c.define(fs)
		c.defineOne(fs)
		base := fs.String("base", "http://"+defaultAddr+"/", "`URL` address of the page")
		return func(ctx context.Context, e *env, args []string) {
			if strings.Contains(*base, "#") {
				fail("-base %q has a #, which ends an address; leave it out", *base)
			}
			cli.Check(checkBase(*base))
			in := c.read(ctx, e, args)
			in.takeSteps()
			fragment := cli.Must(in.permalink())
			full := *base + "#" + fragment
			fmt.Fprintln(e.stdout, full)
			if p := in.link.Profile; p != nil && p.Graph != nil && !in.graph {
				fmt.Fprintln(e.stderr, "note: the link carries the chain; the operations, which the file has too, are left out")
			}
			if p := in.link.Profile; p != nil && p.Packed != "" && in.link.Ops == "" {
				fmt.Fprintln(e.stderr, "note: the operators are left out, they are too long for a link or belong to a chain that it does not carry; for plans of the model send the file too")
			}
			fmt.Fprintf(e.stderr, "%d characters: %s\n", len(full), link.Fits(len(full)))
		}
	},
}

// takeSteps puts the operators of a step beside the chain, where there is room for both.
func (in *input) takeSteps() {
	l := &in.link
	if in.graph {
		l.Ops = ""
	}
	if in.graph || l.Profile == nil || !link.HoldsOps(l.Profile.Packed) {
		return
	}
	if l.Ops = l.Profile.Packed; len(l.Sealed()) > link.Longest {
		l.Ops = ""
	}
}

// permalink returns the fragment of the link to this input, without the #. It is an
// error if a reader would not get exactly what is here.
func (in *input) permalink() (string, error) {
	l := in.link
	if l.Profile != nil && !in.graph && l.Profile.Graph != nil {
		bare := *l.Profile
		bare.Graph = nil
		l.Profile = &bare
	}
	if l.Profile != nil && in.graph {
		if l.Profile = in.profile; !link.InLink(l.Profile) {
			return "", errors.New("the link of this graph would be too long to survive; send the file itself")
		}
	}
	fragment := l.Sealed()
	if len(fragment) > link.Longest {
		return "", fmt.Errorf("the link would have %d characters; more than %d do not survive. Send the file itself",
			len(fragment), link.Longest)
	}
	back, notes := link.Parse(fragment)
	same := sameProfile(l.Profile, back.Profile) && l.Ops == back.Ops
	l.Profile, back.Profile = nil, nil // they take long to write
	if len(notes) > 0 || !same || back.String() != l.String() {
		return "", errors.New("a link cannot carry this profile exactly; send the file itself")
	}
	return fragment, nil
}

// sameProfile reports whether two profiles are equal in all that is solved and
// shown but the warnings, which are derived anew.
func sameProfile(a, b *profiles.Profile) bool {
	if a == nil || b == nil {
		return a == b
	}
	text := func(p *profiles.Profile) []byte {
		bare := *p
		bare.Warnings = nil
		var file bytes.Buffer
		if native.Encode(&file, &bare) != nil {
			return nil
		}
		return file.Bytes()
	}
	return bytes.Equal(text(a), text(b))
}
