//go:build !js

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/andybalholm/brotli"
	"github.com/evanw/esbuild/pkg/api"
	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/web/display"
)

// site is the directory being made, and what the templates need.
type site struct {
	root, dir string
	address   string // URL of the site, ending in a slash; empty if unknown
	written   []asset

	// Names in dir, for the templates.
	Script, Worker, Style, DocsStyle, Charts, Wasm, Second string
	Puzzle, PuzzleScript                                   string
	WasmSize                                               int
	Start                                                  string // text of the script that is in the page itself
	First                                                  string // #app, the output of cmd/build/first
}

type asset struct {
	name string
	size int
	sum  [sha256.Size]byte
}

// read returns a file of the module; path has the parts of its path.
func (s *site) read(path ...string) []byte {
	return cli.Must(os.ReadFile(filepath.Join(append([]string{s.root}, path...)...)))
}

// template returns a file of the module as a template.
func (s *site) template(path ...string) *template.Template {
	return cli.Must(template.New(path[len(path)-1]).Option("missingkey=error").Parse(string(s.read(path...))))
}

// put writes a file with a fixed name.
func (s *site) put(name string, data []byte) {
	s.written = append(s.written, asset{name: name, size: len(data), sum: sha256.Sum256(data)})
	file := filepath.Join(s.dir, name)
	if old, err := os.ReadFile(file); err == nil && slices.Equal(old, data) {
		return // the file keeps its time, and so do its compressed siblings
	}
	cli.Check(os.WriteFile(file, data, 0o644))
}

// putHashed writes a file whose name changes with its content, so that browsers may keep it:
// stem.0123456789ab.ext. It returns the name.
func (s *site) putHashed(stem, ext string, data []byte) string {
	sum := sha256.Sum256(data)
	name := fmt.Sprintf("%s.%s%s", stem, hex.EncodeToString(sum[:6]), ext)
	s.put(name, data)
	return name
}

var hashed = regexp.MustCompile(`^[a-z]+\.[0-9a-f]{12}\.(js|css|wasm)(\.br|\.gz)?$`)

// sweep removes the files of earlier builds with names of putHashed.
func (s *site) sweep() {
	for _, e := range cli.Must(os.ReadDir(s.dir)) {
		name := e.Name()
		if !hashed.MatchString(name) || slices.ContainsFunc(s.written, func(a asset) bool {
			return name == a.name || name == a.name+".br" || name == a.name+".gz"
		}) {
			continue
		}
		cli.Check(os.Remove(filepath.Join(s.dir, name)))
	}
}

// compress writes name.gz and name.br for every file that is worth it. Hosts that do not support
// such files ignore them.
func (s *site) compress() {
	worth := []string{".wasm", ".js", ".css", ".html", ".txt"}
	for _, a := range slices.Clone(s.written) {
		if a.size < 1024 || !slices.Contains(worth, strings.ToLower(filepath.Ext(a.name))) {
			continue
		}
		data := cli.Must(os.ReadFile(filepath.Join(s.dir, a.name)))
		for suffix, squeeze := range map[string]func([]byte) []byte{".gz": squeezeGzip, ".br": squeezeBrotli} {
			small := squeeze(data)
			cli.Check(os.WriteFile(filepath.Join(s.dir, a.name+suffix), small, 0o644))
			s.written = append(s.written, asset{name: a.name + suffix, size: len(small)})
		}
	}
	slices.SortFunc(s.written, func(a, b asset) int { return strings.Compare(a.name, b.name) })
}

func squeezeGzip(data []byte) []byte {
	var b bytes.Buffer
	w := cli.Must(gzip.NewWriterLevel(&b, gzip.BestCompression))
	cli.Must(w.Write(data))
	cli.Check(w.Close())
	return b.Bytes()
}

// squeezeBrotli takes about 20 s for the program, so only releases are compressed.
func squeezeBrotli(data []byte) []byte {
	var b bytes.Buffer
	// The largest window that browsers must support, 16 MiB: the program is larger than the usual window of 4 MiB.
	w := brotli.NewWriterOptions(&b, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24})
	cli.Must(w.Write(data))
	cli.Check(w.Close())
	return b.Bytes()
}

// policy is the Content-Security-Policy of the page. Through connect-src, form-action and the
// rest, which have no other host, a file that was dropped cannot be sent anywhere.
//
//   - script-src: no eval, and no script in the text except start.js in the page,
//     by its hash; WebAssembly may be compiled.
//   - style-src-attr: the tooltip of the charts and Vugu's :style set style
//     attributes.
//   - worker-src: workers start from a blob that imports our script, because
//     sandboxed frames refuse new Worker(address). The blob obeys this policy too.
var policy = strings.Join([]string{
	"default-src 'none'",
	"script-src 'self' 'wasm-unsafe-eval'",
	"style-src 'self'",
	"style-src-attr 'unsafe-inline'",
	"img-src 'self' data: blob:",
	"worker-src 'self' blob:",
	"connect-src 'self'",
	"manifest-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
}, "; ")

// page fills in index.html.
func (s *site) page() {
	if s.First == "" {
		s.First = cli.Must(run(s.root, nil, "go", "run", "memtide/cmd/build/first"))
	}
	// Without this file GitHub Pages would run the site through Jekyll.
	s.put(".nojekyll", nil)
	s.put("index.html", s.filledIn(strings.Replace(policy, "script-src", "script-src "+sourceHash([]byte(s.Start)), 1),
		"index.html"))
}

// puzzle fills in web/puzzle/puzzle.html, a page with a program of its own.
func (s *site) puzzle() { s.put("puzzle.html", s.filledIn(policy, "web", "puzzle", "puzzle.html")) }

// filledIn returns a file of the module, filled in with the fields of the site, the policy, the
// version, and the address as Site.
func (s *site) filledIn(policy string, path ...string) []byte {
	var out bytes.Buffer
	cli.Check(s.template(path...).Execute(&out, struct {
		*site
		Policy, Version, Site string
	}{s, policy, engine.Version, s.address}))
	return out.Bytes()
}

// sourceHash returns the source expression of the policy for a script or a style sheet in a page.
func sourceHash(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// singleName is the page in one file: for mail, for an archive, for a machine without a network.
// The page can save a copy of it that contains a link.
const singleName = "memtide.html"

// single writes the page in one file. Scripts that the browser runs from the text are allowed by their hashes. The
// workers' script, the charts and the programs are text until boot.js makes blobs of them.
func (s *site) single() {
	read := func(name string) []byte { return cli.Must(os.ReadFile(filepath.Join(s.dir, name))) }
	style, script := read(s.Style), read(s.Script)
	icon := s.static("icon.svg")
	for name, text := range map[string][]byte{s.Script: script, s.Worker: read(s.Worker), s.Charts: read(s.Charts)} {
		if bytes.Contains(bytes.ToLower(text), []byte("</script")) || bytes.Contains(text, []byte("<!--")) {
			cli.Fail("%s contains the end of a script element or the start of a comment, so it cannot stand in a page", name)
		}
	}
	page := read("index.html")
	var b strings.Builder
	for _, cut := range []struct{ from, to, put string }{
		{`content="`, `"`, singlePolicy(style, script)},
		{`<link rel="icon"`, ">", `<link rel="icon" href="data:image/svg+xml;base64,` +
			base64.StdEncoding.EncodeToString(icon[0]) + `">`},
		{`<link rel="apple-touch-icon"`, ">", ""},
		{`<link rel="manifest"`, ">", ""},
		{`<script data-wasm`, "</script>", ""}, // there is nothing to load
		{`<link rel="stylesheet"`, ">", "<style>" + string(style) + "</style>"},
		{`<script defer`, "</script>", ""},
		{"</body>", "", inline("worker", read(s.Worker)) + inline("charts", read(s.Charts)) +
			inline("wasm", []byte(base64.StdEncoding.EncodeToString(squeezeGzip(read(s.Wasm))))) +
			inline("second", []byte(base64.StdEncoding.EncodeToString(squeezeGzip(read(s.Second))))) +
			fmt.Sprintf(`<script data-wasm="#wasm" data-second="#second" data-size="%d" data-worker="#worker" data-charts="#charts">%s</script>`+"\n</body>", s.WasmSize, script)},
	} {
		before, after, ok := bytes.Cut(page, []byte(cut.from))
		if ok && cut.to != "" {
			_, after, ok = bytes.Cut(after, []byte(cut.to))
		}
		if !ok {
			cli.Fail("index.html has no %s%s in the expected place", cut.from, cut.to)
		}
		b.Write(before)
		if cut.from == `content="` {
			b.WriteString(cut.from + html.EscapeString(cut.put) + cut.to)
		} else {
			b.WriteString(cut.put)
		}
		page = after
	}
	b.Write(page)
	s.put(singleName, []byte(b.String()))
}

// inline returns a text as an element that boot.js finds by its id.
func inline(id string, text []byte) string {
	return fmt.Sprintf("<script type=\"text/plain\" id=%q>%s</script>\n", id, text)
}

// singlePolicy returns the policy of the single file, which needs no connection.
func singlePolicy(style, script []byte) string {
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + sourceHash(script) + " blob: 'wasm-unsafe-eval'",
		"style-src " + sourceHash(style),
		"style-src-attr 'unsafe-inline'",
		"img-src data: blob:",
		"worker-src blob:",
		"base-uri 'none'",
		"form-action 'none'",
	}, "; ")
}

// icons are the pictures of the installed app. The PNG files are icon.svg drawn by a browser:
// unchanged, with a wide edge for platforms that cut a shape out of it, and with square corners
// for those that round them.
var icons = []icon{
	{"icon.svg", "any", "image/svg+xml", "any"},
	{"icon-192.png", "192x192", "image/png", "any"},
	{"icon-512.png", "512x512", "image/png", "any"},
	{"icon-maskable.png", "512x512", "image/png", "maskable"},
}

// icon is an entry of the manifest, and a file in web/static.
type icon struct {
	Src     string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"`
}

// offline writes what a browser needs to keep the site: the service worker with the list of the files, and the manifest
// with which the page is installed as an app. It has to run after all other files are written.
func (s *site) offline() {
	own := []string{"offline.js", "icon-apple.png"}
	for _, i := range icons {
		own = append(own, i.Src)
	}
	texts := s.static(own...)
	for i, name := range own[1:] {
		s.put(name, texts[i+1])
	}
	manifest := cli.Must(json.MarshalIndent(map[string]any{
		"name":             "memtide",
		"description":      "How a training step fits into device memory",
		"id":               "./",
		"start_url":        "./",
		"scope":            "./",
		"display":          "standalone",
		"background_color": "#ffffff",
		"theme_color":      "#ffffff",
		"icons":            icons,
	}, "", "  "))
	s.put("memtide.webmanifest", append(manifest, '\n'))
	var files []string
	sum := sha256.New()
	for _, a := range s.written {
		if strings.HasPrefix(path.Base(a.name), ".") || strings.HasPrefix(a.name, "puzzle") || a.name == singleName {
			continue // the puzzle has a program of its own, which a visit of the page does not load
		}
		files = append(files, cmp.Or(strings.TrimSuffix(a.name, "index.html"), "./"))
		sum.Write(a.sum[:])
	}
	slices.Sort(files)
	list := cli.Must(json.Marshal(files))
	head := fmt.Sprintf("const release = %q, files = %s;\n", hex.EncodeToString(sum.Sum(nil)[:6]), list)
	s.put("offline.js", append([]byte(head), texts[0]...))
}

// pageScripts are the page's own scripts in the order in which they run, after Go's script.
// boot.js starts the program, so it is the last one.
var (
	pageScripts = []string{"dom.js", "paint.js", "boot.js"}
	styles      = []string{"shell.css", "style.css"}
)

// scripts joins the page's scripts into one file, the workers' into another, and the style sheets into a third.
func (s *site) scripts() {
	wasmExec, err := os.ReadFile(filepath.Join(goroot(), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		cli.Fail("the script of the Go installation is not where it is expected: %w", err)
	}
	page := append([][]byte{wasmExec}, s.static(pageScripts...)...)
	s.Script = s.putHashed("page", ".js", small("page.js", joinScripts(page)))
	s.PuzzleScript = s.putHashed("puzzle", ".js",
		small("puzzle.js", joinScripts([][]byte{wasmExec, s.static("puzzle.js")[0]})))
	workers := s.static("worker.js", "start.js")
	s.Worker = s.putHashed("worker", ".js", small("worker.js", joinScripts([][]byte{wasmExec, workers[0]})))
	s.Start = string(bytes.TrimSpace(small("start.js", workers[1])))
	sheets := append(s.static(styles...), []byte(display.CSS())) // colours of the prepared pictures
	s.Style = s.putHashed("style", ".css", small("style.css", bytes.Join(sheets, []byte("\n"))))
	// The name is fixed, because other sites use it.
	s.put("view.js", small("view.js", s.static("view.js")[0]))
	// The documentation looks like the page. It has no script that makes it light before
	// printing, so its dark colours are for screens only.
	colours := strings.ReplaceAll(display.CSS(), "@media (prefers-color-scheme:dark)",
		"@media screen and (prefers-color-scheme:dark)")
	sheets = append(s.static("style.css", "docs.css"), []byte(colours))
	s.DocsStyle = s.putHashed("docs", ".css", bytes.Join(sheets, []byte("\n")))
}

// static returns files of web/static.
func (s *site) static(names ...string) (out [][]byte) {
	for _, name := range names {
		out = append(out, s.read("web", "static", name))
	}
	return out
}

// small returns a minified script or style sheet.
func small(name string, text []byte) []byte {
	loader := api.LoaderJS
	if filepath.Ext(name) == ".css" {
		loader = api.LoaderCSS
	}
	out := api.Transform(string(text), api.TransformOptions{Loader: loader, MinifyWhitespace: true,
		MinifySyntax: true, MinifyIdentifiers: true})
	if len(out.Errors) > 0 {
		cli.Fail("%s: %s", name, out.Errors[0].Text)
	}
	return out.Code
}

// joinScripts joins classic scripts, each in a block of its own: a "use strict" at the start of
// one does not affect the others, and constants do not collide.
func joinScripts(scripts [][]byte) []byte {
	var b bytes.Buffer
	for _, script := range scripts {
		b.WriteString("{\n")
		b.Write(bytes.TrimSpace(script))
		b.WriteString("\n}\n")
	}
	return b.Bytes()
}

// stubs replace modules that ECharts imports everywhere and that no chart of the page uses: it draws lines and marks
// without animation and pointers, on axes of numbers. They are keyed by the end of their path, and make the charts 9 %
// smaller after compression. The bundler reports a module that exports something else in another version; charts
// reports one that no longer exists.
var stubs = map[string]string{
	"echarts/lib/i18n/langZH.js":                  `export { default } from "./langEN.js"`,
	"echarts/lib/theme/dark.js":                   `export default {}`,
	"echarts/lib/loading/default.js":              `export default () => {}`,
	"echarts/lib/preprocessor/backwardCompat.js":  `export default () => {}`, // options of versions 2 to 4
	"echarts/lib/util/decal.js":                   `export const createOrUpdatePatternFromDecal = () => null`,
	"echarts/lib/chart/helper/LargeSymbolDraw.js": `export default class {}`, // series with large: true
	"echarts/lib/scale/Time.js":                   `export default class {} export const calcNiceForTimeScale = null`,
	"echarts/lib/data/helper/transform.js":        `export const registerExternalTransform = null, applyDataTransform = null`,
	"zrender/lib/dom/HandlerProxy.js":             `export default class { dispose() {} setCursor() {} }`, // pointers
	"zrender/lib/mixin/Draggable.js":              `export default class {}`,
	"zrender/lib/core/GestureMgr.js":              `export class GestureMgr {}`,
	"zrender/lib/tool/path.js":                    `export const createFromString = null, extendFromString = null, mergePath = null`, // symbols from SVG
}

// leaveOut returns a plugin that makes the bundler load the stubs. It adds those that are loaded
// to used, from several goroutines.
func leaveOut(used *sync.Map) api.Plugin {
	return api.Plugin{Name: "stubs", Setup: func(b api.PluginBuild) {
		b.OnLoad(api.OnLoadOptions{Filter: `[\\/]node_modules[\\/].*\.js$`},
			func(a api.OnLoadArgs) (api.OnLoadResult, error) {
				_, name, _ := strings.Cut(filepath.ToSlash(a.Path), "/node_modules/")
				text, ok := stubs[name]
				if !ok {
					return api.OnLoadResult{}, nil
				}
				used.Store(name, true)
				return api.OnLoadResult{Contents: &text, ResolveDir: filepath.Dir(a.Path)}, nil
			})
	}}
}

// charts bundles the part of ECharts that web/static/charts.js imports.
func (s *site) charts() {
	s.installPackages()
	var used sync.Map
	result := api.Build(s.bundle(&used))
	if len(result.Errors) > 0 {
		text := api.FormatMessages(result.Errors, api.FormatMessagesOptions{Kind: api.ErrorMessage})
		cli.Fail("%s", strings.Join(text, "\n"))
	}
	for name := range stubs {
		if _, ok := used.Load(name); !ok {
			cli.Fail("%s is not loaded any more; remove it from stubs in cmd/build/site.go", name)
		}
	}
	s.Charts = s.putHashed("charts", ".js", result.OutputFiles[0].Contents)
}

// bundle returns the options for bundling the charts. used gets the loaded stubs.
func (s *site) bundle(used *sync.Map) api.BuildOptions {
	return api.BuildOptions{
		AbsWorkingDir:     s.root,
		EntryPoints:       []string{filepath.Join(s.root, "web", "static", "charts.js")},
		Bundle:            true,
		Format:            api.FormatIIFE,
		Target:            api.ES2020,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsEndOfFile,
		Define:            map[string]string{"process.env.NODE_ENV": `"production"`},
		Plugins:           []api.Plugin{leaveOut(used)},
	}
}

// installPackages runs npm ci unless the installed packages are newer than the lock file.
func (s *site) installPackages() {
	lock := cli.Must(os.Stat(filepath.Join(s.root, "package-lock.json")))
	done, err := os.Stat(filepath.Join(s.root, "node_modules", ".package-lock.json"))
	if err == nil && !done.ModTime().Before(lock.ModTime()) {
		return
	}
	if _, err := run(s.root, nil, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		cli.Fail("the chart library is fetched by npm, which comes with Node 20 or later: %w", err)
	}
}
