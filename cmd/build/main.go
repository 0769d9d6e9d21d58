//go:build !js

// Command build makes the site: everything that a static host needs, in one
// directory, with names that change when the content does.
//
//	go run ./cmd/build [-out dist] [-release] [-site URL] [-packages packages]
//	go run ./cmd/build -watch localhost:8080
//
// It regenerates the Vugu components, compiles the program to WebAssembly,
// bundles the chart library with esbuild, solves the first picture with the
// very code that the page runs, and fills in index.html. Nothing third-party is
// kept in the repository: Go's and Vugu's scripts come from where they are
// installed, the charts from npm by package-lock.json.
//
// # Watching
//
// With -watch (make watch) the page is served from a folder of its own, as the compiler
// leaves the program, and whatever is changed in a component, a Go file, a script or a
// style sheet is built and loaded again by the open pages (watch.go). What this command
// itself is compiled with stays as it was at the start: the picture before any script
// runs, the colours, the lists of strategies and formats.
//
// # Size
//
// The page's program is 1.60 MB with brotli (2.31 MB with gzip), and all that a first
// visit loads 1.76 MB, charts included. What makes it smaller than the compiler leaves
// it, after compression:
//
//   - functions are inlined only where that pays (inlining, 9 %);
//   - the linked program is rewritten (cmd/wasmopt, 28 %);
//   - brotli gets its largest window (1 %);
//   - of the chart library only lines, marks and axes of numbers are in the bundle
//     (site.go, 35 KB).
//
// Replacing files of the standard library, and the generated components by shorter ones,
// would take 6 % more, which is not worth what it costs to keep up with both.
//
// What cmd/wasmopt does depends on the version of Go: it is verified, and left out with a
// word for another; the ceilings in guard_test.go then say how much that is. A page without the
// solvers would weigh 12 % less before it can be used, but a second program for the
// solvers would bring the runtime again.
//
// # Two programs
//
// The page and its workers are one binary, which imports no format but our own, no
// allocator, and of the strategies none that only searches graphs of operations: links
// and presets need no other, and what is not imported is not linked. Whatever else is
// asked for loads a second program (wasm/second), the same worker without the page, which
// imports engine/all, profiles/formats/all, and the parts of wasm/serve that answer about
// addresses, memory snapshots and training steps, and write schedules: what most visitors
// never need. A test says which program links what. What the page has to know of the rest is read from
// the registries here: the endings that its file picker offers are put in by the linker,
// the strategies and allocators that it can name as a file that describes them
// (program.go). Must not
// be linked into either: net/http, log/slog and protobuf. A third program, wasm/puzzle, is
// that of puzzle.html alone: no visit of the page loads it, and it is not kept offline.
//
// # Offline
//
// A service worker keeps the files of one release. Names with a hash never change; a
// new release waits until the pages of the old one are closed, so that a page always
// finds the files it was built with. The page itself is always asked for; where the
// server has not answered after two seconds, the kept one opens. Frames register none.
//
// # Start
//
// A script in the page's head (start.js, allowed by its hash) starts the first worker
// before anything else is read. The worker loads and compiles the program and posts it
// to the page: the page's own thread is free for the prepared picture, and the worker
// waits for no message of the page, which would have to pass through that busy thread.
// Nothing is preloaded, because a browser finds
// compiled code again only for a program that was not. Bytes are counted for the
// progress bar on the first visit only, because counting takes as long as compiling. The
// other workers start a moment after the first answer, or when something waits for them.
// Charts are loaded when the first schedule is on screen.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"memtide/cmd/cli"
)

func main() {
	out := flag.String("out", "dist", "directory to write to, from the module's root if not absolute")
	release := flag.Bool("release", false, "also write .gz and .br files beside the large ones")
	check := flag.Bool("check", false, "only say whether the generated components and memtide_torch.py are up to date")
	generate := flag.Bool("generate", false, "only bring the generated components and memtide_torch.py up to date")
	watched := flag.String("watch", "",
		"serve the page on `HOST:PORT` and bring changes of its sources into the open pages")
	address := flag.String("site", "", "`URL` where the site will be, for the documents and packages")
	packages := flag.String("packages", "",
		"`DIR` also write what people install: command, Python wheels, npm package, the site as an archive")
	flag.Parse()
	start := time.Now()
	err := cli.Try(func() {
		s := newSite(*out)
		if *address != "" {
			s.address = strings.TrimSuffix(*address, "/") + "/"
		}
		if *watched != "" {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			watch(ctx, s.root, *watched)
			return
		}
		stale, stalePython := s.generate(), s.singlePython()
		switch {
		case stale && *check:
			cli.Fail("the components have been regenerated: they were not up to date; commit *_gen.go in %s",
				components)
		case stalePython && *check:
			cli.Fail("%s has been regenerated from %s: it was not up to date; commit it", pythonFile, pythonPackage)
		case *generate, *check:
		default:
			s.build(*release)
			s.report(os.Stdout)
			if *packages != "" {
				s.packages(filepath.Join(s.root, *packages))
			}
			fmt.Printf("%s is ready after %v\n", s.dir, time.Since(start).Round(10*time.Millisecond))
		}
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// newSite returns a site in the directory out, relative to the module's root unless absolute.
func newSite(out string) *site {
	root := cli.Must(moduleRoot())
	if !filepath.IsAbs(out) {
		out = filepath.Join(root, out)
	}
	return &site{root: root, dir: out}
}

// build runs the steps in order. An error has the step that it ended.
func (s *site) build(release bool) {
	cli.Check(os.MkdirAll(s.dir, 0o755))
	for _, step := range []struct {
		what string
		do   func()
	}{
		{"compiling the program", s.program},
		{"collecting the scripts", s.scripts},
		{"bundling the charts", s.charts},
		{"collecting the licences", s.licences},
		{"filling in the page", s.page},
		{"putting the page into one file", s.single},
		{"making the documentation", s.docs},
		{"filling in the puzzle", s.puzzle},
		{"listing what is kept offline", s.offline},
		{"removing what is out of date", s.sweep},
		{"compressing", func() {
			if release {
				s.compress()
			}
		}},
	} {
		cli.Within(step.what, step.do)
	}
}

func moduleRoot() (string, error) {
	mod, err := run("", nil, "go", "env", "GOMOD")
	if err == nil && (mod == "" || mod == os.DevNull) {
		err = errors.New("this is not inside the module; change to the directory that has go.mod")
	}
	return filepath.Dir(mod), err
}

// run runs a command and returns its output, trimmed. An error contains the command's messages.
func run(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var out, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, complaints.String(), out.String())
	}
	return strings.TrimSpace(out.String()), nil
}
