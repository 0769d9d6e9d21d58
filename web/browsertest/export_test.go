//go:build !js

package browsertest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"memtide/web/display"
)

// snippet is a block of code in a document.
type snippet struct{ heading, language, code string }

// snippets returns all blocks of code of the document in docs with the given name, each with the heading above
// it.
func snippets(t *testing.T, name string) (out []snippet) {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	src, err := os.ReadFile(filepath.Join(filepath.Dir(here), "..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	heading := ""
	for n := goldmark.DefaultParser().Parse(text.NewReader(src)).FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			heading = string(n.Lines().Value(src))
		case *ast.FencedCodeBlock:
			out = append(out, snippet{heading, string(n.Language(src)), string(n.Lines().Value(src))})
		}
	}
	return out
}

// documented is the address that the documentation uses for the site.
const documented = "https://example.org/memtide/"

// asHTML converts a snippet to HTML as the tool that it is written for does. The result is empty if the snippet
// is not written for a page.
func asHTML(t *testing.T, s snippet) string {
	t.Helper()
	switch s.language {
	case "html":
		return s.code
	case "markdown":
		var b bytes.Buffer
		if err := goldmark.New(goldmark.WithRendererOptions(html.WithUnsafe())).Convert([]byte(s.code),
			&b); err != nil {
			t.Fatal(err)
		}
		return `<script src="` + documented + `view.js" defer></script>` + b.String()
	case "rst":
		_, raw, ok := strings.Cut(s.code, ".. raw:: html\n")
		if !ok {
			t.Fatalf("the snippet has no directive raw:\n%s", s.code)
		}
		var lines []string
		for _, line := range strings.Split(raw, "\n") {
			if strings.HasPrefix(line, "   ") {
				lines = append(lines, line[3:])
			}
		}
		return strings.Join(lines, "\n")
	case "jsx":
		js := api.Transform(s.code, api.TransformOptions{Loader: api.LoaderJSX, JSXFactory: "element"})
		if len(js.Errors) > 0 {
			t.Fatalf("%v in\n%s", js.Errors[0].Text, s.code)
		}
		return `<body><script>const element = (tag, attributes) => {
			const e = document.createElement(tag);
			for (const [k, v] of Object.entries(attributes)) k === "style" ? Object.assign(e.style, v) : e.setAttribute(k, v);
			return e;
		};
		document.body.append(` + strings.TrimSuffix(strings.TrimSpace(string(js.Code)), ";") + `);</script>`
	case "python":
		if strings.Contains(s.code, "anywidget") {
			return widget(t, s.code)
		}
		return notebook(t, s.code)
	case "js": // a template literal of Observable that returns an element
		return `<body><script>const html = ([text]) => {
			const t = document.createElement("template");
			t.innerHTML = text.trim();
			return t.content.firstElementChild;
		};
		document.body.append(` + strings.TrimSpace(s.code) + `);</script>`
	case "qmd":
		_, raw, _ := strings.Cut(s.code, "```{=html}\n")
		raw, _, ok := strings.Cut(raw, "```")
		if !ok {
			t.Fatalf("the snippet has no block of HTML:\n%s", s.code)
		}
		return raw
	}
	return ""
}

// widget runs a notebook cell that defines a widget, and returns a page that does what anywidget does: it imports
// the module and has it render a model. The page shows the step time that the module sends back.
func widget(t *testing.T, cell string) string {
	t.Helper()
	const shim = `
import json, sys, types
class Trait:
    def __init__(self, value=""): self.value = value
    def tag(self, sync): return self
class AnyWidget:
    def __init__(self, **values): self.values = values
anywidget, traitlets = types.ModuleType("anywidget"), types.ModuleType("traitlets")
anywidget.AnyWidget, traitlets.Unicode, traitlets.Float = AnyWidget, Trait, Trait
sys.modules.update(anywidget=anywidget, traitlets=traitlets)
first, last = sys.stdin.read().strip().rsplit("\n\n", 1)
exec(first)
shown = eval(last)
state = {k: v.value for k, v in vars(type(shown)).items() if isinstance(v, Trait)} | shown.values
print(type(shown)._esm.replace("export default", "const widget ="))
print("const state = " + json.dumps(state) + ";")
`
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	cmd := exec.Command(python, "-c", shim)
	cmd.Stdin = strings.NewReader(cell)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, cell)
	}
	return `<body><output id="step"></output><script type="module">` + string(out) + `
		const model = {
			get: (key) => state[key], set: (key, value) => state[key] = value, on: () => {},
			save_changes: () => document.getElementById("step").textContent = Math.round(state.step_ms) + " ms",
		};
		widget.render({ model, el: document.body });</script>`
}

// TestPrintSnippets checks that LaTeX, Typst and pandoc accept the snippets for print in docs/embedding.md, with
// a picture written by memtide. Tools that are not installed are skipped.
func TestPrintSnippets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(t *testing.T, name string, args ...string) {
		t.Helper()
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skip(name + " is not installed")
		}
		cmd := exec.Command(path, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s %q: %v\n%s", name, args, err, out)
		}
	}
	var picture display.List
	picture.Reset(200, 100)
	picture.Rect(display.Style{Fill: display.Recompute, Stroke: display.NoRole, Pattern: display.Hatch,
		Lines: display.LineRecompute}, 10, 10, 180, 60)
	picture.Text(display.Ink, 10, 90, display.Start, "VGG-16")
	var svg bytes.Buffer
	theme := display.Light
	if err := picture.WriteSVG(&svg, display.SVGOptions{Standalone: true, Theme: &theme}); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("vgg16.svg", svg.String())
	for _, s := range snippets(t, "embedding.md") {
		switch s.language {
		case "latex":
			t.Run(s.language, func(t *testing.T) {
				put("page.tex", s.code)
				run(t, "rsvg-convert", "-f", "pdf", "-o", "vgg16.pdf", "vgg16.svg")
				run(t, "pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex")
			})
		case "typst":
			t.Run(s.language, func(t *testing.T) {
				put("page.typ", s.code)
				run(t, "typst", "compile", "page.typ")
			})
		case "qmd":
			t.Run(s.language, func(t *testing.T) {
				put("page.qmd", s.code)
				run(t, "pandoc", "-f", "markdown", "-o", "page.html", "page.qmd")
				if page, err := os.ReadFile(filepath.Join(dir, "page.html")); err != nil ||
					!strings.Contains(string(page), "<memtide-view link=") {
					t.Errorf("pandoc makes %s (%v); want the element", page, err)
				}
			})
		}
	}
}

// notebook runs a cell beside a picture file and returns the HTML that a notebook shows. Its classes HTML and
// IFrame write the same HTML as those of IPython. A cell that returns several forms has to include the picture.
func notebook(t *testing.T, cell string) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	const shim = `
import sys, types
class HTML:
    def __init__(self, data): self.data = data
    def _repr_html_(self): return self.data
class IFrame:
    def __init__(self, src, width, height): self.src, self.width, self.height = src, width, height
    def _repr_html_(self): return f'<iframe width="{self.width}" height="{self.height}" src="{self.src}" frameborder="0" allowfullscreen></iframe>'
display = types.ModuleType("IPython.display")
display.HTML, display.IFrame = HTML, IFrame
sys.modules["IPython"], sys.modules["IPython.display"] = types.ModuleType("IPython"), display
first, last = sys.stdin.read().strip().rsplit("\n\n", 1)
exec(first)
shown = eval(last)
if hasattr(shown, "_repr_mimebundle_"):
    forms = shown._repr_mimebundle_(include=None, exclude=None)
    assert sorted(forms) == ["image/svg+xml", "text/html"] and forms["image/svg+xml"].startswith("<svg"), forms
    print(forms["text/html"])
else:
    print(shown._repr_html_())
`
	cmd := exec.Command(python, "-c", shim)
	cmd.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(cmd.Dir, "vgg16.svg"), []byte("<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
		0o644); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = strings.NewReader(cell)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, cell)
	}
	return string(out)
}

// TestEmbeddingSnippets puts every snippet of docs/embedding.md into a page of another origin, as the tool that
// it is written for does, and waits for the view.
func TestEmbeddingSnippets(t *testing.T) {
	t.Parallel()
	p := New(t)
	site := p.URL
	tried := map[string]int{}
	for _, s := range snippets(t, "embedding.md") {
		if s.language == "typst" || s.language == "latex" { // see TestPrintSnippets
			continue
		}
		if s.language == "yaml" {
			if !strings.Contains(s.code, "- "+documented+"view.js") {
				t.Errorf("%s: the script is not in\n%s", s.heading, s.code)
			}
			continue
		}
		t.Run(s.heading+" "+s.language, func(t *testing.T) {
			page := asHTML(t, s)
			if page == "" {
				t.Fatalf("a snippet in %q is not known to this test", s.language)
			}
			if !strings.Contains(page, documented) {
				t.Fatalf("%s is not in\n%s", documented, page)
			}
			if strings.Contains(page, "<memtide-view") &&
				!strings.Contains(page, "view.js") { // users of the npm package bundle the script
				page = `<script src="` + documented + `view.js"></script>` + page
			}
			if tried[s.language]++; tried[s.language] > 1 {
				long(t)
			}
			p.For(t)
			openHost(p, site, strings.ReplaceAll(page, documented, "SITE/"))
			if !strings.Contains(page, "<iframe") && !strings.Contains(page, "memtide-view") && s.language != "jsx" {
				checkPictureLink(t, p)
				return
			}
			if strings.Contains(page, "<img") { // a view with a picture waits for a click
				p.Wait(`customElements.get("memtide-view") && document.querySelector("memtide-view a").onclick`)
				Eval[bool](p, `document.querySelector("memtide-view img").click(), true`)
			}
			Eval[bool](p, `document.querySelector("iframe, memtide-view").scrollIntoView(), true`)
			p.Wait(`last("ready") && last("state")?.stepMs > 1 && document.querySelector("iframe").offsetHeight > 300`)
			if strings.Contains(page, `id="step"`) { // the step time that a widget sends to its notebook
				p.Wait(`/^\d+ ms$/.test(document.getElementById("step").textContent)`)
			}
			if strings.Contains(page, `getElementById("time")`) {
				p.Wait(`last("state").link.includes("m=90%25") && /^\d+ ms$/.test(document.getElementById("time").textContent)`)
			}
		})
	}
	for _, language := range []string{"html", "markdown", "rst", "jsx", "python", "js", "qmd"} {
		if tried[language] == 0 {
			t.Errorf("no snippet in %s was tried", language)
		}
	}
}

// checkPictureLink checks that the picture in a snippet has a description, and that its link opens the page.
func checkPictureLink(t *testing.T, p *Page) {
	t.Helper()
	if alt := Eval[string](p, `document.querySelector("a > img").alt`); alt == "" {
		t.Error("the picture has no description")
	}
	p.do(nil)
	Eval[bool](p, `document.querySelector("a > img").closest("a").click(), true`)
	p.Wait(`document.body.dataset.state === "ready" && document.title.startsWith("VGG-16") && location.hash.includes("s=greedy")`)
}

// TestLinkSnippets runs the programs in docs/links.md that make links and compares their links.
func TestLinkSnippets(t *testing.T) {
	t.Parallel()
	need(t)
	const want = documented + "#v=1&p=vgg16-b64&m=80%25&s=greedy"
	for _, s := range snippets(t, "links.md") {
		t.Run(s.language, func(t *testing.T) {
			got := ""
			switch s.language {
			case "js":
				got = Eval[string](New(t), s.code+`; link("vgg16-b64", {m: "80%", s: "greedy"})`)
			case "python":
				python, err := exec.LookPath("python3")
				if err != nil {
					t.Skip("python3 is not installed")
				}
				out, err := exec.Command(python, "-c",
					s.code+"\nprint(link('vgg16-b64', m='80%', s='greedy'))").CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				got = strings.TrimSpace(string(out))
			default:
				t.Fatalf("a snippet in %q is not known to this test", s.language)
			}
			if got != want {
				t.Errorf("the link is\n%s\nwant\n%s", got, want)
			}
		})
	}
}
