//go:build !js

package jobs

import (
	"context"
	"fmt"
	"io"
	"strings"

	"memtide/wasm/proto"
	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/permalink"
)

// Poster writes the pictures that the page shows for a link's fragment to w, as one SVG. width and height are in CSS
// pixels. Documents show the poster until the live view is opened. Everything that the page would warn about in the
// fragment is an error, because a document should not link to it.
func Poster(ctx context.Context, pool proto.Pool, w io.Writer, fragment string, width float64) (height float64,
	err error) {
	l, notes := link.Parse(fragment)
	choice, more := permalink.ChoiceOf(l)
	if notes = append(notes, more...); len(notes) > 0 {
		return 0, fmt.Errorf("the link %s: %s", fragment, strings.Join(notes, " "))
	}
	var scene draw.Scene
	svg := display.SVGOptions{Standalone: true, Link: "#" + fragment}
	if choice.Step != "" { // the caller must link package serve/step
		r, err := proto.Do(ctx, pool.Do, &proto.Step{Model: choice.Step, Args: choice.StepArgs, Parts: 1}, nil)
		if err != nil {
			return 0, fmt.Errorf("the link %s: %w", fragment, err)
		}
		known.StepPoster(&scene, r, choice.Step, width)
		return scene.Height, scene.WriteSVG(w, svg)
	}
	s, err := First(ctx, pool, choice)
	if err != nil {
		return 0, fmt.Errorf("the link %s: %w", fragment, err)
	}
	view := draw.View{Width: width, Budget: s.Budget(), Cursor: draw.NoCursor, From: l.Look.From, To: l.To}
	s.Visible().Index().Figure(&scene, view)
	return scene.Height, scene.WriteSVG(w, svg)
}
