//go:build !js

// Command build makes the site: everything that a static host needs, in one directory, under
// names that change with the content.
//
//	go run ./cmd/build [-out dist] [-release] [-site URL] [-packages packages]
//
// It regenerates the Vugu components, compiles the program to WebAssembly, bundles the chart
// library with esbuild, solves the first picture with the code that the page runs, and fills in
// index.html. The repository contains no third-party code: the scripts of Go and Vugu come from
// their installations, the chart library from npm as package-lock.json names it.
//
// # Size
//
// The page's program has 1.60 MB with brotli (2.31 MB with gzip); a first visit loads 1.76 MB,
// charts included. These steps make the compressed program smaller:
//
//   - functions are inlined only where that pays (inlining, 9 %);
//   - the linked program is rewritten (cmd/wasmopt, 28 %);
//   - brotli uses its largest window (1 %);
//   - the bundle has only the lines, marks and number axes of the chart library (site.go, 35 KB).
//
// Replacing files of the standard library and shortening generated components would save another 6 %, less than the
// work to keep up with both is worth. A page without the solvers would be usable after 12 % fewer bytes, but a second
// program for the solvers would contain the runtime again.
//
// cmd/wasmopt was verified for some versions of Go. For others it leaves passes out and prints
// why; guard_test.go limits the size of the program.
//
// # Programs
//
// The page and its workers are one binary. It imports only the native format, no allocator, and no strategy that only
// searches graphs of operations, because links and presets need no others. For anything else the page loads a second
// program (wasm/second), a worker that also imports engine/all, profiles/formats/all, and the parts of wasm/serve that
// answer questions about addresses, memory snapshots and training steps and that write schedules. A test lists what
// each program links. This command reads from the registries what the page must know about the second program: the file
// name endings for the file picker, which the linker sets, and the strategies and allocators, from a generated file
// (program.go). Neither program may link net/http, log/slog or protobuf. A third program, wasm/puzzle, belongs to
// puzzle.html; the page does not load it, and the service worker does not keep it.
//
// # Offline
//
// A service worker keeps the files of one release. Files with a hash in their names never change.
// A new release waits until the pages of the old one are closed, so a page always finds the files
// that it was built with. The page itself is always requested from the server; if the server does
// not answer within two seconds, the kept page opens. Frames register no service worker.
//
// # Start
//
// A script in the page's head (start.js, allowed by its hash) starts the first worker before anything else is read. The
// worker loads and compiles the program and posts it to the page, so that the page's thread is free for the prepared
// picture and the worker need not wait for a message from that busy thread. Nothing is preloaded: a browser reuses
// compiled code only for programs that were not preloaded. Bytes are counted for the progress bar on the first visit
// only, because counting takes as long as compiling. The other workers start shortly after the first answer, or when a
// request waits for them. Charts are loaded when the first schedule is on screen.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
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
	address := flag.String("site", "", "`URL` where the site will be, for the documents and packages")
	packages := flag.String("packages", "",
		"`DIR` also write what people install: command, Python wheels, npm package, the site as an archive")
	flag.Parse()
	start := time.Now()
	err := cli.Try(func() {
		s := &site{root: cli.Must(moduleRoot()), dir: *out}
		if !filepath.IsAbs(*out) {
			s.dir = filepath.Join(s.root, *out)
		}
		if *address != "" {
			s.address = strings.TrimSuffix(*address, "/") + "/"
		}
		stale := s.generate()
		single := onePython(os.DirFS(filepath.Join(s.root, pythonPackage)))
		stalePython := replace(filepath.Join(s.root, pythonFile), single)
		switch {
		case stale && *check:
			cli.Fail("the components have been regenerated: they were not up to date; commit *_gen.go in %s",
				components)
		case stalePython && *check:
			cli.Fail("%s has been regenerated from %s: it was not up to date; commit it", pythonFile, pythonPackage)
		case *generate, *check:
		default:
			s.build(*release)
			for _, a := range s.written {
				fmt.Printf("%10d  %s\n", a.size, a.name)
			}
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
