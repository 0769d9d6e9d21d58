//go:build !js

// Package fileserver serves the built site over HTTP: right types, compressed
// siblings, nothing cached without asking. Any static host will do as well;
// this one is for looking at the site at home and for the browser tests.
package fileserver

import (
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// types are told here because a system may have none for them, or wrong ones.
// Without application/wasm a browser does not compile while it downloads.
var types = map[string]string{
	".wasm":        "application/wasm",
	".js":          "text/javascript; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".html":        "text/html; charset=utf-8",
	".svg":         "image/svg+xml",
	".json":        "application/json",
	".txt":         "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json",
}

// encodings are the compressed siblings, the best first.
var encodings = []struct{ name, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

// Times that clients have: for a request, which is all head; for taking the answer,
// in which a line of 30 KB a second takes the largest file; and between two
// requests on one connection.
const (
	headTime = 10 * time.Second
	takeTime = 5 * time.Minute
	idleTime = 2 * time.Minute
)

// Server serves the files of dir, to clients that may be slow or silent.
func Server(dir string) *http.Server {
	return &http.Server{Handler: Handler(dir), ReadTimeout: headTime, WriteTimeout: takeTime, IdleTimeout: idleTime}
}

// Handler serves the regular files of dir and nothing else: no files whose names
// begin with a dot, and none that a link leads to outside of dir. Directories are
// answered with their index.html, after a redirect to the address with a slash at
// its end, from which the links in it start, and never listed.
func Handler(dir string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD are answered", http.StatusMethodNotAllowed)
			return
		}
		name, ok := local(r.URL.Path)
		root, err := os.OpenRoot(dir)
		if !ok || err != nil {
			http.NotFound(w, r)
			return
		}
		defer root.Close()
		slash := strings.HasSuffix(r.URL.Path, "/")
		st, err := root.Stat(name)
		if slash || err == nil && st.IsDir() {
			name = filepath.Join(name, "index.html")
		}
		file, ok := regular(root, name)
		switch {
		case !ok:
			http.NotFound(w, r)
		case !slash && st.IsDir():
			http.Redirect(w, r, (&url.URL{Path: path.Clean(r.URL.Path) + "/", RawQuery: r.URL.RawQuery}).String(),
				http.StatusMovedPermanently)
		default:
			serve(w, r, root, name, file)
		}
	})
}

// local returns the name in the site's directory that an address has, "." for the
// directory itself; false if no file of the site has such a name. Backslashes and
// colons lead elsewhere on some systems, which is refused on all; what else a
// system makes of names, filepath.Localize knows.
func local(address string) (string, bool) {
	name := strings.TrimPrefix(path.Clean("/"+address), "/")
	if name == "" {
		return ".", true
	}
	if strings.ContainsAny(name, "\\:") {
		return "", false
	}
	for element := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(element, ".") {
			return "", false
		}
	}
	name, err := filepath.Localize(name)
	return name, err == nil
}

// regular tells about a file; false if it is anything else: opening a pipe would
// wait for who writes into it. What leads out of the root is not there.
func regular(root *os.Root, name string) (fs.FileInfo, bool) {
	st, err := root.Stat(name)
	return st, err == nil && st.Mode().IsRegular()
}

func serve(w http.ResponseWriter, r *http.Request, root *os.Root, name string, file fs.FileInfo) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	// Sandboxed frames have no origin of their own and fetch like strangers.
	h.Set("Access-Control-Allow-Origin", "*")
	ext := strings.ToLower(filepath.Ext(name))
	kind := types[ext]
	if kind == "" {
		kind = mime.TypeByExtension(ext)
	}
	if kind != "" {
		h.Set("Content-Type", kind)
	}
	h.Add("Vary", "Accept-Encoding")
	oldest := file.ModTime().Add(-2 * time.Second)
	for _, e := range encodings {
		// A sibling older than the file was made from something else; copying
		// may cut a time to whole seconds.
		if st, ok := regular(root, name+e.suffix); ok && accepts(r, e.name) && !st.ModTime().Before(oldest) {
			h.Set("Content-Encoding", e.name)
			name, file = name+e.suffix, st
			break
		}
	}
	f, err := root.Open(name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	http.ServeContent(w, r, "", file.ModTime(), f) // ranges, validators and HEAD
}

func accepts(r *http.Request, encoding string) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(name) == encoding {
			return strings.ReplaceAll(quality, " ", "") != "q=0"
		}
	}
	return false
}
