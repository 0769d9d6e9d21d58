// Package fileserver serves the built site over HTTP with the right content types, compressed
// files where there are any, and caches that have to revalidate. Any other static host works as
// well; this one is for local use and for the browser tests.
package fileserver

import (
	"cmp"
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

// types are content types by extension. They are fixed because those of the system may be
// missing or wrong. Without application/wasm a browser does not compile while it downloads.
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

// encodings are the encodings of compressed files and the suffixes of their names, the best first.
var encodings = []struct{ name, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

// Timeouts for clients.
const (
	readTime  = 10 * time.Second // for a request
	writeTime = 5 * time.Minute  // for the answer: the largest file at 30 KB per second
	idleTime  = 2 * time.Minute  // between two requests on one connection
)

// Server returns a server of the files of dir, with timeouts for clients that are slow or silent.
func Server(dir string) *http.Server {
	return &http.Server{Handler: Handler(dir), ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime}
}

// Handler returns a handler that serves the regular files of dir, but no files whose names begin with a
// dot and no links that lead outside of dir. For a directory it serves index.html, after a redirect to
// the address with a final slash, which its relative links need. It never lists directories.
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

// local returns the name of an address in the site's directory, "." for the directory itself. It reports false if no
// file of the site can have such a name. Backslashes and colons, which have a meaning on some systems, are refused on
// all; filepath.Localize refuses other names that are special on this system.
func local(address string) (string, bool) {
	name := strings.TrimPrefix(path.Clean("/"+address), "/")
	if name == "" {
		return ".", true
	}
	if strings.ContainsAny(name, "\\:") || strings.Contains("/"+name, "/.") {
		return "", false
	}
	name, err := filepath.Localize(name)
	return name, err == nil
}

// regular returns the FileInfo of a file. It reports false if there is no such file within root
// or if it is not a regular file: opening a pipe would block until something writes into it.
func regular(root *os.Root, name string) (fs.FileInfo, bool) {
	st, err := root.Stat(name)
	return st, err == nil && st.Mode().IsRegular()
}

func serve(w http.ResponseWriter, r *http.Request, root *os.Root, name string, file fs.FileInfo) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	// Sandboxed frames have an opaque origin, so that all their requests are cross-origin.
	h.Set("Access-Control-Allow-Origin", "*")
	ext := strings.ToLower(filepath.Ext(name))
	if kind := cmp.Or(types[ext], mime.TypeByExtension(ext)); kind != "" {
		h.Set("Content-Type", kind)
	}
	h.Add("Vary", "Accept-Encoding")
	oldest := file.ModTime().Add(-2 * time.Second)
	for _, e := range encodings {
		// A compressed file that is older than the file was made from another version. The
		// tolerance is for copies whose times are rounded to seconds.
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
