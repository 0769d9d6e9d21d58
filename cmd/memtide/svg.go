//go:build !js

package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"memtide/cmd/cli"
	"memtide/web/display"
	"memtide/web/draw"
)

var svgCommand = &command{
	name:    "svg",
	args:    "[flags] FILE | -preset NAME | -from LINK",
	summary: "draw the page's pictures of one schedule as SVG",
	doc: `Solves as solve does and draws what the page draws: layers, timeline and device
memory. Without -theme the picture follows the reader's light or dark setting. A
link's time range and theme are kept.

The file carries the link to what it shows: dropped on the page it opens that.
With -base the picture is also a link to the page for whoever clicks it where the
file itself is shown; in a document, put the link around the image.`,
	examples: []string{
		"memtide svg -preset vgg16-b32 -budget 90% -theme dark -o vgg16.svg",
		"memtide svg -budget 900MiB -width 800 net.csv",
		"memtide svg -base https://example.org/memtide/ -budget 900MiB -strategy greedy net.csv",
	},
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
	base  string // address of the page, or empty
	file  string
}

// The widths at which the pictures can be read and painted.
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
	draw.NewModel(in.problem(solved.Budget), solved.Trace).Figure(&scene, view)
	options := display.SVGOptions{Standalone: true, Surface: true, Link: address, Anchor: o.base != ""}
	if name := in.link.Frame.Theme; name != "" {
		theme := display.Light
		if name == "dark" {
			theme = display.Dark
		}
		options.Theme = &theme
	}
	// In memory first, so that a file is whole or not there.
	var picture bytes.Buffer
	cli.Check(scene.WriteSVG(&picture, options))
	if e.write(o.file, picture.Bytes()); !solved.Verdict.Verified {
		cli.Fail("the schedule that is drawn is not verified: %s", solved.Verdict.Problem)
	}
	cli.Check(stopped)
}

// checkBase refuses what a click would run instead of open: a picture is opened by
// others.
func checkBase(base string) error {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" ||
		strings.IndexFunc(base, unicode.IsControl) >= 0 {
		return bad("-base %q is not the address of a page; expected one that begins with http:// or https://, or a relative one", clip(base))
	}
	return nil
}

// address returns the link that a picture carries: what stands behind the # of the
// page, after base. Without a base, a picture of what no link can hold goes
// without one, and the reader hears why.
func (in *input) address(e *env, base string) string {
	if strings.Contains(base, "#") {
		fail("-base %q has a #, which ends an address; leave it out", base)
	}
	cli.Check(checkBase(base))
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
