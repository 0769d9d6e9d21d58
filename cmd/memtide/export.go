package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"memtide/cmd/cli"
	"memtide/engine/export"
	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/link"
)

var exportCommand = &command{
	name: "export",
	flags: about(asked{}, func(fs *flag.FlagSet, _ *asked) doing {
		var file string
		kind := "json"
		fs.Func("format", "`json|trace` what to write: the schedule, or what happens when it is played, for Chrome's and Perfetto's trace viewers (default json)", func(text string) error {
			if kind = text; text == "json" || text == "trace" {
				return nil
			}
			return fmt.Errorf("%s is not written; expected json or trace. What PyTorch runs is a plan: memtide help torch", cli.Printable(text))
		})
		fs.StringVar(&file, "o", "", "`FILE` write to it instead of the standard output")
		return func(ctx context.Context, e *env, in *input) { exportPlan(ctx, e, in, kind, file) }
	}),
}

func exportPlan(ctx context.Context, e *env, in *input, kind, file string) {
	solved, stopped := findSchedule(ctx, e, in, 0)
	switch {
	case solved == nil:
		tellFailure(ctx, e, in, solveOptions{}, stopped)
	case !solved.Verdict.Verified:
		cli.Fail("the schedule is not verified, so it is not written: %s", solved.Verdict.Problem)
	}
	problem := in.problem(solved.Budget)
	if kind == "trace" {
		e.write(file, cli.Must(export.ChromeTrace(problem, solved.Trace)))
	} else {
		plan := &export.File{Name: in.profile.Name, Strategy: in.method().Strategy, Args: in.method().Args,
			Problem: problem, Schedule: solved.Schedule}
		e.write(file, cli.Must(plan.JSON()))
	}
	cli.Check(stopped)
}

var svgCommand = &command{
	name: "svg",
	flags: about(asked{}, func(fs *flag.FlagSet, _ *asked) doing {
		var o svgOptions
		fs.Func("theme", "`light|dark` colours, whatever the reader has set", oneOf(&o.theme, "light", "dark"))
		fs.IntVar(&o.width, "width", 960, "`PIXELS` width of the picture")
		fs.StringVar(&o.base, "base", "", "`URL` address of the page, to make the picture a link to it")
		fs.StringVar(&o.file, "o", "", "`FILE` write to it instead of the standard output")
		return func(ctx context.Context, e *env, in *input) { svg(ctx, e, in, o) }
	}),
}

type svgOptions struct {
	theme string
	width int
	base  string // address of the page; empty for a picture that is not a link
	file  string
}

// The range of -width, in pixels.
const (
	narrowest = 240
	widest    = 10_000
)

func svg(ctx context.Context, e *env, in *input, o svgOptions) {
	if o.width < narrowest || o.width > widest {
		fail("-width is %d; expected %d to %d pixels", o.width, narrowest, widest)
	}
	if o.theme != "" {
		in.link.Frame.Theme = o.theme
	}
	address := in.address(e, o.base)
	solved, stopped := findSchedule(ctx, e, in, 0)
	if solved == nil {
		tellFailure(ctx, e, in, solveOptions{}, stopped)
	}
	if solved.Trace == nil {
		cli.Fail("there is nothing to draw: %s", solved.Verdict.Problem)
	}
	var scene draw.Scene
	view := draw.View{Width: float64(o.width), Cursor: draw.NoCursor, From: in.link.Look.From, To: in.link.Look.To}
	draw.NewIndex(in.problem(solved.Budget), solved.Trace).Figure(&scene, view)
	options := display.SVGOptions{Standalone: true, Surface: true, Link: address, Anchor: o.base != ""}
	if name := in.link.Frame.Theme; name != "" {
		theme := display.Light
		if name == "dark" {
			theme = display.Dark
		}
		options.Theme = &theme
	}
	// The picture is drawn in memory first, so that a file is never incomplete.
	var picture bytes.Buffer
	cli.Check(scene.WriteSVG(&picture, options))
	if e.write(o.file, picture.Bytes()); !solved.Verdict.Verified {
		cli.Fail("the schedule that is drawn is not verified: %s", solved.Verdict.Problem)
	}
	cli.Check(stopped)
}

// checkBase refuses a base with a fragment, and a base that a click would run instead of open:
// other people open the picture.
func checkBase(base string) {
	if strings.Contains(base, "#") {
		fail("-base %q has a #, which ends an address; leave it out", base)
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" ||
		strings.IndexFunc(base, unicode.IsControl) >= 0 {
		fail("-base %q is not the address of a page; expected one that begins with http:// or https://, or a relative one", profiles.Clip(base))
	}
}

// address returns the link in a picture: base and the fragment. Without a base, it returns ""
// for an input that no link can hold, and writes the reason to the standard error.
func (in *input) address(e *env, base string) string {
	checkBase(base)
	fragment, err := in.permalink()
	switch {
	case err == nil:
		return base + "#" + fragment
	case base != "":
		cli.Check(err)
	}
	fmt.Fprintf(e.stderr, "The picture carries no link: %v.\n", err)
	return ""
}

var linkCommand = &command{
	name: "link",
	flags: func(fs *flag.FlagSet) action {
		c := asked{both: true}
		c.define(fs)
		c.defineOne(fs)
		base := fs.String("base", "http://"+defaultAddr+"/", "`URL` address of the page")
		return func(ctx context.Context, e *env, args []string) {
			checkBase(*base)
			in := c.read(ctx, e, args)
			if l := &in.link; in.graph {
				l.Ops = ""
			} else if l.Profile != nil && link.HoldsOps(l.Profile.Packed) {
				if l.Ops = l.Profile.Packed; len(l.Sealed()) > link.Longest { // no room beside the chain
					l.Ops = ""
				}
			}
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

// permalink returns the fragment of the link to this input, without the #. It returns an error
// if a reader would not get exactly this input.
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
	l.Profile, back.Profile = nil, nil // writing them takes long
	if len(notes) > 0 || !same || back.String() != l.String() {
		return "", errors.New("a link cannot carry this profile exactly; send the file itself")
	}
	return fragment, nil
}

// sameProfile reports whether two profiles are equal except for their warnings, which are derived again.
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
