//go:build !js

package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
)

// docsIndex is the page that lists the others: the order of the navigation.
const docsIndex = "README.md"

// document is a page of the documentation.
type document struct {
	file  string // in docs/, "model.md"
	Href  string // "model.html"; the index is "./"
	Title string // its first heading
	root  ast.Node
	src   []byte
}

// markdown reads CommonMark with tables. Elements written in HTML pass, because
// everything in docs/ is written by the project.
func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(html.WithUnsafe(),
			renderer.WithNodeRenderers(util.Prioritized(new(codeBlocks), 100))))
}

// docs makes docs/ of the site from the Markdown files of docs/: the same text
// that reads well in the repository. An image whose source is a link to the page
// (../#p=...) becomes a live view with a prepared picture in its place.
func (s *site) docs() {
	md := markdown()
	pages := s.documents(md)
	tmpl := s.template("docs", "page.html")
	cli.Check(os.MkdirAll(filepath.Join(s.dir, "docs"), 0o755))
	posters := &posters{ctx: context.Background(), site: s, pool: new(serve.Local), made: map[string]poster{}}
	for _, d := range pages {
		cli.Within("docs/"+d.file, func() { d.prepare(pages, posters) })
		var body, out bytes.Buffer
		cli.Check(md.Renderer().Render(&body, d.src, d.root))
		cli.Check(tmpl.Execute(&out, struct {
			*site
			Page         *document
			Pages        []*document
			Policy, Body string
		}{s, d, pages, docsPolicy, body.String()}))
		s.put("docs/"+htmlName(d.file), out.Bytes())
	}
}

// downloads are files of the repository that documents link to, by their path
// from docs/, and their names beside the pages.
var downloads = map[string]string{"../profiles/collect.py": "collect.py",
	"../profiles/memtide_torch.py": "memtide_torch.py"}

// download puts such a file beside the pages.
func (s *site) download(file string) {
	name := "docs/" + downloads[file]
	if slices.ContainsFunc(s.written, func(a asset) bool { return a.name == name }) {
		return // another page links to it, too
	}
	s.put(name, s.read("docs", filepath.FromSlash(file)))
}

// exampleAddress stands in the documents for the address of the site, until one is given.
const exampleAddress = "https://example.org/memtide/"

// docsPolicy is the page's policy, with frames for the live views.
var docsPolicy = policy + "; frame-src 'self'"

// documents parses the files of docs/, in the order of the list in the index.
// Every file has to be in it.
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

// prepare rewrites links to other documents, and puts live views in the place
// of images that are links to the page.
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
				p.site.download(to)
			case i >= 0 && anchor != "":
				n.Destination = []byte(pages[i].Href + "#" + anchor)
			case i >= 0:
				n.Destination = []byte(pages[i].Href)
			case strings.HasSuffix(to, ".md") && !strings.Contains(to, "://"):
				cli.Fail("it links to %s, which is not a page of the documentation", to)
			}
		case *tables.Table: // scrolls where it is wider than the page
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
