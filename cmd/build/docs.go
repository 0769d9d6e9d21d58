//go:build !js

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"memtide/cmd/cli"
	"memtide/wasm/serve"
	_ "memtide/wasm/serve/step"
	"memtide/web/jobs"
)

// docsIndex is the page that lists the others, in the order of the navigation.
const docsIndex = "README.md"

// document is a page of the documentation.
type document struct {
	file  string // in docs/, "model.md"
	Href  string // "model.html"; the index is "./"
	Title string // its first heading
	root  ast.Node
	src   []byte
}

// docs makes docs/ of the site from the Markdown files of docs/. An image whose source is a link
// to the page (../#p=...) becomes a live view, with a prepared picture until it starts.
func (s *site) docs() {
	md := goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(html.WithUnsafe(), // all of docs/ is written by the project
			renderer.WithNodeRenderers(util.Prioritized(new(codeBlocks), 100))))
	pages := s.documents(md)
	tmpl := s.template("docs", "page.html")
	cli.Check(os.MkdirAll(filepath.Join(s.dir, "docs"), 0o755))
	posters := &posters{site: s, pool: new(serve.Local), made: map[string]poster{}}
	for _, d := range pages {
		cli.Within("docs/"+d.file, func() { d.prepare(pages, posters) })
		var body, out bytes.Buffer
		cli.Check(md.Renderer().Render(&body, d.src, d.root))
		cli.Check(tmpl.Execute(&out, struct {
			*site
			Page         *document
			Pages        []*document
			Policy, Body string
		}{s, d, pages, policy + "; frame-src 'self'", body.String()})) // frames for the live views
		s.put("docs/"+htmlName(d.file), out.Bytes())
	}
}

// downloads holds files of the repository that documents link to, by their path from docs/, with
// their names in docs/ of the site.
var downloads = map[string]string{"../profiles/collect.py": "collect.py",
	"../profiles/memtide_torch.py": "memtide_torch.py"}

// exampleAddress is the address of the site in the documents. The flag -site replaces it.
const exampleAddress = "https://example.org/memtide/"

// documents parses the files of docs/, in the order of the list in the index, which has to have all of them.
func (s *site) documents(md goldmark.Markdown) []*document {
	files := cli.Must(fs.Glob(os.DirFS(filepath.Join(s.root, "docs")), "*.md"))
	byFile := map[string]*document{}
	for _, f := range files {
		src := s.read("docs", f)
		if s.address != "" {
			src = bytes.ReplaceAll(src, []byte(exampleAddress), []byte(s.address))
		}
		d := &document{file: f, src: src, root: md.Parser().Parse(text.NewReader(src)), Href: htmlName(f)}
		if f == docsIndex {
			d.Href = "./"
		}
		h, ok := d.root.FirstChild().(*ast.Heading)
		if !ok || h.Level != 1 {
			cli.Fail("docs/%s does not begin with a heading; expected # and its title", f)
		}
		d.Title = plainText(h, src)
		byFile[f] = d
	}
	index := byFile[docsIndex]
	if index == nil {
		cli.Fail("docs/%s is missing; it lists the other pages", docsIndex)
	}
	pages := []*document{index}
	_ = ast.Walk(index.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			if d := byFile[string(link.Destination)]; d != nil && !slices.Contains(pages, d) {
				pages = append(pages, d)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, f := range files {
		if !slices.Contains(pages, byFile[f]) {
			cli.Fail("docs/%s is not in the list of docs/%s; add a link to it", f, docsIndex)
		}
	}
	return pages
}

// prepare rewrites links to other documents, and replaces images that are links to the page by live views.
func (d *document) prepare(pages []*document, p *posters) {
	var views []*ast.Image
	_ = ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			to, anchor, _ := strings.Cut(string(n.Destination), "#")
			i := slices.IndexFunc(pages, func(o *document) bool { return o.file == to })
			switch {
			case downloads[to] != "":
				n.Destination = []byte(downloads[to])
				name := "docs/" + downloads[to]
				if !slices.ContainsFunc(p.site.written, func(a asset) bool { return a.name == name }) {
					p.site.put(name, p.site.read("docs", filepath.FromSlash(to)))
				}
			case i >= 0 && anchor != "":
				n.Destination = []byte(pages[i].Href + "#" + anchor)
			case i >= 0:
				n.Destination = []byte(pages[i].Href)
			case strings.HasSuffix(to, ".md") && !strings.Contains(to, "://"):
				cli.Fail("it links to %s, which is not a page of the documentation", to)
			}
		case *tables.Table: // it scrolls if it is wider than the page
			n.SetAttributeString("tabindex", []byte("0"))
		case *ast.Image:
			if strings.HasPrefix(string(n.Destination), "../#") {
				views = append(views, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, n := range views {
		p.replace(n, d.src)
	}
}

func htmlName(file string) string {
	if file == docsIndex {
		return "index.html"
	}
	return strings.TrimSuffix(file, ".md") + ".html"
}

// plainText returns the text of a node without its marks.
func plainText(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		switch c := c.(type) {
		case *ast.Text:
			if entering {
				b.Write(c.Segment.Value(src))
				if c.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(c.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// codeBlocks writes blocks of code. Long lines scroll, so a block can be reached and scrolled by
// keyboard, and has a name for screen readers.
type codeBlocks struct {
	of    ast.Node // the current document
	count int      // number of its blocks so far; names have to differ
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

// The widths of a prepared picture in a document, in CSS pixels: for a column, and for a phone,
// where the letters of the wide picture would be too small.
const (
	posterWidth = 720
	posterSmall = 360
)

// posters makes the pictures of live views, once for each link.
type posters struct {
	site *site
	pool *serve.Local
	made map[string]poster // by fragment
}

// poster is a picture in its two widths: file names, and heights in CSS pixels, so that the page
// does not move when the picture arrives.
type poster struct {
	Wide, Small             string
	WideHeight, SmallHeight int
}

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
		height := cli.Must(jobs.Poster(context.Background(), p.pool, &svg, fragment, v.width))
		*v.height = int(height + 0.5)
		p.site.put("docs/"+v.name, svg.Bytes())
	}
	p.made[fragment] = made
	return made
}

// view is the element of a live view. Its picture is a link to the page; view.js starts the view in its place.
var view = template.Must(template.New("view").Parse(`<memtide-view link="{{html .Fragment}}"><a href="../#{{html .Fragment}}">` +
	`<picture><source media="(max-width: 540px)" srcset="{{.Small}}" width="` + fmt.Sprint(posterSmall) +
	`" height="{{.SmallHeight}}">` +
	`<img src="{{.Wide}}" width="` + fmt.Sprint(posterWidth) +
	`" height="{{.WideHeight}}" loading="lazy" alt="{{html .Alt}}"></picture>` +
	`<span class="seen" aria-hidden="true">{{html .Alt}}</span><span class="live">Start the live view</span></a></memtide-view>`))

// replace replaces an image by a live view.
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
