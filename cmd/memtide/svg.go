//go:build !js

package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"

	"memtide/web/draw"
)

func svgCommand() *command {
	return &command{
		name:    "svg",
		args:    "[flags] FILE | -preset NAME | -from LINK",
		summary: "draw the page's pictures of one schedule as SVG",
		doc: `Solves as solve does and draws what the page draws: layers, timeline and device
memory. Without -theme the picture follows the reader's light or dark setting. A
link's stretch of time and theme are kept.`,
		examples: []string{
			"memtide svg -preset vgg16-b32 -budget 90% -theme dark -o vgg16.svg",
			"memtide svg -budget 900MiB -width 800 net.csv",
		},
		flags: func(fs *flag.FlagSet) func(context.Context, *env, []string) error {
			var c choice
			var o svgOptions
			c.define(fs)
			c.defineOne(fs)
			fs.Func("theme", "`light|dark` colours, whatever the reader has set", oneOf(&o.theme, "light", "dark"))
			fs.IntVar(&o.width, "width", 960, "`PIXELS` width of the picture")
			fs.StringVar(&o.file, "o", "", "`FILE` write to it instead of the standard output")
			return func(ctx context.Context, e *env, args []string) error {
				in, err := c.read(e, args)
				if err != nil {
					return err
				}
				return svg(ctx, e, in, o)
			}
		},
	}
}

type svgOptions struct {
	theme string
	width int
	file  string
}

// The widths at which the pictures can be read and painted.
const (
	narrowest = 240
	widest    = 10_000
)

func svg(ctx context.Context, e *env, in *input, o svgOptions) error {
	if o.width < narrowest || o.width > widest {
		return bad("-width is %d; expected %d to %d pixels", o.width, narrowest, widest)
	}
	solved, stopped := findSchedule(ctx, e, in, 0)
	if solved == nil {
		return tellFailure(e, in, solveOptions{}, stopped)
	}
	if solved.Trace == nil {
		return fmt.Errorf("there is nothing to draw: %s", solved.Verdict.Problem)
	}
	var scene draw.Scene
	view := draw.View{Width: float64(o.width), Cursor: draw.NoCursor, From: in.link.Visible.From, To: in.link.Visible.To}
	draw.NewModel(in.problem(solved.Budget), solved.Trace).Figure(&scene, view)
	options := draw.SVGOptions{Standalone: true, Surface: true}
	if name := cmp.Or(o.theme, in.link.Theme); name != "" {
		theme := draw.Light
		if name == "dark" {
			theme = draw.Dark
		}
		options.Theme = &theme
	}
	// In memory first, so that a file is whole or not there.
	var picture bytes.Buffer
	if err := scene.WriteSVG(&picture, options); err != nil {
		return err
	}
	var err error
	if o.file == "" {
		_, err = e.stdout.Write(picture.Bytes())
	} else {
		err = os.WriteFile(o.file, picture.Bytes(), 0o644)
	}
	switch {
	case err != nil:
		return err
	case !solved.Verdict.Verified:
		return fmt.Errorf("the schedule that is drawn is not verified: %s", solved.Verdict.Problem)
	}
	return stopped
}
