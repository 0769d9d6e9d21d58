//go:build !js

package ui

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/staticrender"

	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/state"
	"memtide/web/ui/mount"
	"memtide/web/ui/timeline"
)

// posters are the widths of the prepared pictures in CSS pixels, for wide and for narrow pages. The style sheet shows
// one of them, scaled to the page.
var posters = []struct {
	class string
	width float64
}{{"wide", mount.Wide}, {"slim", mount.Slim}}

// StaticPage writes the page's root element as HTML, with the pictures as inline SVG in their hosts. index.html
// contains it until the program runs, which takes over the elements. The caller adds the style sheets (style.css,
// display.CSS). jobs.First returns a state for it.
func StaticPage(w io.Writer, s *state.State) error {
	env, err := vugu.NewBuildEnv()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := staticrender.New(&b).Render(env.RunBuild(&Root{S: s, Starting: true})); err != nil {
		return fmt.Errorf("the page cannot be rendered: %w", err)
	}
	page := b.String()
	for name, m := range mount.ByName {
		if !m.Timed() || m.Second || m.Picture == draw.Life && (&timeline.Pictures{S: s}).NoLife(false) {
			continue
		}
		if page, err = withPoster(page, name, m.Picture, s); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, page)
	return err
}

// withPoster returns page with a picture in the host with this name.
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
	var svg strings.Builder
	for _, size := range posters {
		var scene draw.Scene
		v := draw.View{Width: size.width, Budget: s.Budget(), Selected: s.View.Selected, Cursor: draw.NoCursor}
		mount.ByName[name].Around(s, &v)
		v.Height = mount.ByName[name].Height(s, size.width)
		p.Index().Draw(&scene, pic, v)
		svg.WriteString(`<div class="poster ` + size.class + `">`)
		if err := scene.WriteSVG(&svg, display.SVGOptions{ID: name + "-" + size.class}); err != nil {
			return "", err
		}
		svg.WriteString("</div>")
	}
	return page[:at] + svg.String() + page[at:], nil
}
