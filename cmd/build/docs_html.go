//go:build !js

package main

import (
	"bytes"
	"context"
	"fmt"
	"text/template"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"memtide/cmd/cli"
	"memtide/wasm/serve"
	_ "memtide/wasm/serve/step" // what a training step takes, for its picture
	"memtide/web/jobs"
)

// codeBlocks writes blocks of code. Long lines scroll, so a block can be reached
// and scrolled by keyboard, and has a name for those who hear the page.
type codeBlocks struct {
	of    ast.Node // the document that is written
	count int      // its blocks so far; names have to differ
}

// RegisterFuncs implements renderer.NodeRenderer.
func (c *codeBlocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindCodeBlock, c.render)
	r.Register(ast.KindFencedCodeBlock, c.render)
}

func (c *codeBlocks) render(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	if doc := n.OwnerDocument(); c.of != ast.Node(doc) {
		c.of, c.count = doc, 0
	}
	c.count++
	language := ""
	if f, ok := n.(*ast.FencedCodeBlock); ok && f.Language(src) != nil {
		language = fmt.Sprintf(` class="language-%s"`, util.EscapeHTML(f.Language(src)))
	}
	fmt.Fprintf(w, `<pre tabindex="0" role="region" aria-label="Code %d"><code%s>`, c.count, language)
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		_, _ = w.Write(util.EscapeHTML(line.Value(src)))
	}
	_, err := w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, err
}

// The widths of a prepared picture in a document, in CSS pixels: for a column,
// and for a phone, where the letters of the wide one would be too small to read.
const (
	posterWidth = 720
	posterSmall = 360
)

// posters makes the pictures of live views, each link once.
type posters struct {
	ctx  context.Context
	site *site
	pool *serve.Local
	made map[string]poster // by fragment
}

// poster is a picture in its two widths: file names, and heights in CSS pixels,
// so that nothing moves when it arrives.
type poster struct {
	Wide, Small             string
	WideHeight, SmallHeight int
}

// make prepares the pictures of a fragment.
func (p *posters) make(fragment string) (made poster) {
	made, ok := p.made[fragment]
	if ok {
		return made
	}
	stem := fmt.Sprintf("view%d", len(p.made)+1)
	made.Wide, made.Small = stem+".svg", stem+"-small.svg"
	for _, v := range []struct {
		name   string
		width  float64
		height *int
	}{{made.Wide, posterWidth, &made.WideHeight}, {made.Small, posterSmall, &made.SmallHeight}} {
		var svg bytes.Buffer
		height := cli.Must(jobs.Poster(p.ctx, p.pool, &svg, fragment, v.width))
		*v.height = int(height + 0.5)
		p.site.put("docs/"+v.name, svg.Bytes())
	}
	p.made[fragment] = made
	return made
}

// view is the element of a live view: its picture is a link to the page, and
// with view.js it starts the view in its place.
var view = template.Must(template.New("view").Parse(`<memtide-view link="{{html .Fragment}}"><a href="../#{{html .Fragment}}">` +
	`<picture><source media="(max-width: 540px)" srcset="{{.Small}}" width="` + fmt.Sprint(posterSmall) +
	`" height="{{.SmallHeight}}">` +
	`<img src="{{.Wide}}" width="` + fmt.Sprint(posterWidth) +
	`" height="{{.WideHeight}}" loading="lazy" alt="{{html .Alt}}"></picture>` +
	`<span class="seen" aria-hidden="true">{{html .Alt}}</span><span class="live">Start the live view</span></a></memtide-view>`))

// replace puts a live view in the place of an image.
func (p *posters) replace(n *ast.Image, src []byte) {
	fragment := string(n.Destination[len("../#"):])
	made := p.make(fragment)
	alt := plainText(n, src)
	if alt == "" {
		cli.Fail("the view of %s has no description; write it into the brackets", fragment)
	}
	var b bytes.Buffer
	cli.Check(view.Execute(&b, struct {
		poster
		Fragment, Alt string
	}{made, fragment, alt}))
	element := ast.NewString(b.Bytes())
	element.SetRaw(true)
	element.SetCode(true)
	n.Parent().ReplaceChild(n.Parent(), n, element)
}
