//go:build !js

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
	"memtide/cmd/cli"
	"memtide/web/display"
)

// pageScripts are the page's own scripts in the order in which they run, after
// Go's script. boot.js starts the program, so it is the last.
var (
	pageScripts = []string{"dom.js", "paint.js", "boot.js"}
	styles      = []string{"shell.css", "style.css"}
)

// scripts joins the page's scripts to one, the workers' to another, and the
// style sheets to a third.
func (s *site) scripts() {
	wasmExec, err := os.ReadFile(filepath.Join(goroot(), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		cli.Fail("the script of the Go installation is not where it is expected: %w", err)
	}
	page := slices.Concat([][]byte{wasmExec}, s.static(pageScripts...), s.extra)
	s.Script = s.putHashed("page", ".js", small("page.js", joinScripts(page)))
	s.PuzzleScript = s.putHashed("puzzle", ".js",
		small("puzzle.js", joinScripts([][]byte{wasmExec, s.static("puzzle.js")[0]})))
	workers := s.static("worker.js", "start.js")
	s.Worker = s.putHashed("worker", ".js", small("worker.js", joinScripts([][]byte{wasmExec, workers[0]})))
	s.Start = string(bytes.TrimSpace(small("start.js", workers[1])))
	sheets := append(s.static(styles...), []byte(display.CSS())) // of the prepared pictures
	s.Style = s.putHashed("style", ".css", small("style.css", bytes.Join(sheets, []byte("\n"))))
	// Under a fixed name, because other sites name it.
	s.put("view.js", small("view.js", s.static("view.js")[0]))
	// The documentation looks like the page. It has no script that makes it light
	// before it is printed, so its dark colours are for screens alone.
	colours := strings.ReplaceAll(display.CSS(), "@media (prefers-color-scheme:dark)",
		"@media screen and (prefers-color-scheme:dark)")
	sheets = append(s.static("style.css", "docs.css"), []byte(colours))
	s.DocsStyle = s.putHashed("docs", ".css", bytes.Join(sheets, []byte("\n")))
}

// static are files of web/static.
func (s *site) static(names ...string) (out [][]byte) {
	for _, name := range names {
		out = append(out, s.read("web", "static", name))
	}
	return out
}

// small returns a script or a style sheet without what only people read.
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

// joinScripts puts classic scripts into one, each in a block of its own: a
// "use strict" at the head of one does not reach the others, and constants do
// not collide.
func joinScripts(scripts [][]byte) []byte {
	var b bytes.Buffer
	for _, script := range scripts {
		b.WriteString("{\n")
		b.Write(bytes.TrimSpace(script))
		b.WriteString("\n}\n")
	}
	return b.Bytes()
}

// stubs stand in for modules that ECharts imports everywhere and that no chart of
// the page reaches: it draws still lines and marks that answer to no pointer, on
// axes of numbers. Named by the end of their path; they make the charts 9 %
// smaller after compression. A module that exports something else in another
// version makes the bundler complain, and one that is gone is an error too.
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

// leaveOut has the bundler load the stubs; used lists those that it has asked for,
// several at once.
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

// charts bundles the part of ECharts that web/static/charts.js names.
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
			cli.Fail("%s is not loaded any more; remove it from stubs in cmd/build/scripts.go", name)
		}
	}
	s.Charts = s.putHashed("charts", ".js", result.OutputFiles[0].Contents)
}

// bundle returns how the charts are bundled; used lists the stubs that were asked for.
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

// installPackages runs npm ci unless what is installed is newer than the lock file.
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
