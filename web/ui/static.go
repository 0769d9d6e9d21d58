//go:build !js

package ui

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/staticrender"

	"memtide/web/draw"
	"memtide/web/state"
)

// posterWidth is the width of the prepared pictures in CSS pixels: they are
// scaled to the page's.
const posterWidth = 980

// StaticPage writes the page's root element as HTML, the pictures as inline SVG
// in their hosts: what stands in index.html until the program runs, which then
// takes the elements over. The style sheets (style.css, draw.CSS) are the
// caller's. Compare First.
func StaticPage(w io.Writer, s *state.State) error {
	env, err := vugu.NewBuildEnv()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := staticrender.New(&b).Render(env.RunBuild(&Root{S: s})); err != nil {
		return fmt.Errorf("the page cannot be rendered: %w", err)
	}
	page := b.String()
	for name, pic := range pictureOf {
		page, err = withPoster(page, name, pic, s)
		if err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, page)
	return err
}

// withPoster puts a picture into its host.
func withPoster(page, name string, pic draw.Picture, s *state.State) (string, error) {
	p := s.Visible()
	if p == nil {
		return page, nil
	}
	at := strings.Index(page, `data-testid="`+name+`"`)
	if at < 0 {
		return "", fmt.Errorf("the page has no host for the picture %q", name)
	}
	at += strings.IndexByte(page[at:], '>') + 1
	var scene draw.Scene
	p.Model().Draw(&scene, pic, draw.View{Width: posterWidth, Budget: s.Budget(), Selected: s.View.Selected, Cursor: draw.NoCursor})
	var svg strings.Builder
	if err := scene.WriteSVG(&svg, draw.SVGOptions{ID: name}); err != nil {
		return "", err
	}
	return page[:at] + svg.String() + page[at:], nil
}
