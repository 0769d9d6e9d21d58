//go:build !js

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"memtide/cmd/cli"
	"memtide/web/fileserver"
)

// watcher serves the page. When a source of the page changes, it builds what depends on it, and
// the open pages load it again. It makes only what they need: programs are not rewritten, the
// second one is compiled on request, and there are no documentation, no licences and no files
// for offline use.
type watcher struct {
	site *site
	tmp  string
	list string // overlay file of described

	second sync.Mutex // held while the second program is compiled
}

// The addresses that only this server has: the second program, and a file with the time of the
// last build.
const (
	secondAddress = "second.wasm"
	builtAddress  = "built"
)

// reload is the script that loads the page again after a new build. It removes the service
// worker of a release, which would serve old files.
const reload = `let built;
setInterval(async () => {
  const now = await (await fetch("` + builtAddress + `", { cache: "no-store" })).text();
  if (built && built !== now) location.reload();
  built = now;
}, 500);
navigator.serviceWorker?.getRegistrations().then((all) => all.forEach((r) => r.unregister()));
`

// glance is the interval between two checks of the sources' times.
const glance = 200 * time.Millisecond

// watch serves the page on addr until ctx is done.
func watch(ctx context.Context, root, addr string) {
	tmp := cli.Must(os.MkdirTemp("", "memtide-watch-"))
	defer os.RemoveAll(tmp)
	s := &site{root: root, dir: filepath.Join(tmp, "site"), Second: secondAddress, extra: [][]byte{[]byte(reload)}}
	cli.Check(os.Mkdir(s.dir, 0o755))
	w := &watcher{site: s, tmp: tmp, list: described(root, tmp)}
	listener := cli.Must(net.Listen("tcp", addr))
	mux := http.NewServeMux()
	mux.Handle("/", fileserver.Handler(s.dir))
	mux.HandleFunc("/"+secondAddress, w.compileSecond)
	server := &http.Server{Handler: mux}
	defer server.Close()
	go server.Serve(listener)
	fmt.Printf("Serving the page at http://%s/ (Ctrl-C ends it)\n", listener.Addr())
	w.run(ctx)
}

// run builds everything, and then what has changed since the last successful build.
func (w *watcher) run(ctx context.Context) {
	var seen, built map[string]time.Time
	for tick := time.Tick(glance); ; {
		now := w.site.sources()
		if !maps.Equal(now, seen) {
			seen = now
			start := time.Now()
			changed := differing(built, now)
			if err := cli.Try(func() { w.build(changed) }); err != nil {
				fmt.Fprintln(os.Stderr, "build:", err)
			} else {
				built = now
				fmt.Printf("%d files, the first %s: built after %v\n", len(changed), changed[0],
					time.Since(start).Round(10*time.Millisecond))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
	}
}

// sources returns the files of which the page is made, with their times. Generated files are
// left out, because they change with these.
func (s *site) sources() map[string]time.Time {
	out := map[string]time.Time{}
	for _, name := range []string{"engine", "profiles", "wasm", "web", "index.html"} {
		cli.Check(filepath.WalkDir(filepath.Join(s.root, name), func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist): // it was removed meanwhile
				return nil
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "browsertest"):
				return filepath.SkipDir
			case d.IsDir() || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, generatedEnd):
				return nil
			}
			if info, err := d.Info(); err == nil {
				out[path] = info.ModTime()
			}
			return nil
		}))
	}
	return out
}

// differing returns the names of the files that are new, removed or have another time, sorted.
func differing(old, now map[string]time.Time) (names []string) {
	for name, at := range now {
		if !old[name].Equal(at) {
			names = append(names, name)
		}
	}
	for name := range old {
		if _, ok := now[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// build builds what depends on the changed files.
func (w *watcher) build(changed []string) {
	s := w.site
	charts := filepath.Join(s.root, "web", "static", "charts.js")
	folders := map[string]bool{}
	compiled := false
	for _, name := range changed {
		switch filepath.Ext(name) {
		case ".vugu":
			folders[filepath.Dir(name)] = true
			compiled = true
		case ".css", ".js", ".html", ".svg", ".png":
		default: // including embedded files
			compiled = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		cli.Within(dir, func() { s.generateIn(dir) })
	}
	if compiled {
		old := s.Wasm
		data := s.compile(programs[0], filepath.Join(w.tmp, "app.wasm"), w.list)
		s.Wasm, s.WasmSize = s.putHashed("app", ".wasm", data), len(data)
		if old != "" && old != s.Wasm {
			cli.Check(os.Remove(filepath.Join(s.dir, old)))
		}
	}
	if slices.Contains(changed, charts) {
		s.charts()
	}
	s.scripts()
	s.page()
	cli.Check(os.WriteFile(filepath.Join(s.dir, builtAddress), []byte(time.Now().String()), 0o644))
}

// compileSecond serves the second program, compiled from the current sources.
func (w *watcher) compileSecond(out http.ResponseWriter, r *http.Request) {
	w.second.Lock()
	defer w.second.Unlock()
	file := filepath.Join(w.tmp, secondAddress)
	if err := cli.Try(func() { w.site.compile(programs[1], file, w.list) }); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	out.Header().Set("Content-Type", "application/wasm")
	out.Header().Set("Cache-Control", "no-store")
	http.ServeFile(out, r, file)
}
