//go:build !js

// Package host serves the built site over HTTP: right types, compressed
// siblings, nothing cached without asking. Any static host will do as well;
// this one is for looking at the site at home and for the browser tests.
package host

import (
	"mime"
	"net/http"
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

// Handler serves the files of dir. Directories are answered with their
// index.html and never listed.
func Handler(dir string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD are answered", http.StatusMethodNotAllowed)
			return
		}
		name := path.Clean("/" + r.URL.Path)
		if strings.HasSuffix(r.URL.Path, "/") {
			name = path.Join(name, "index.html")
		}
		serveFile(w, r, filepath.Join(dir, filepath.FromSlash(name)))
	})
}

func serveFile(w http.ResponseWriter, r *http.Request, file string) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	// Sandboxed frames have no origin of their own and fetch like strangers.
	h.Set("Access-Control-Allow-Origin", "*")
	ext := strings.ToLower(filepath.Ext(file))
	kind := types[ext]
	if kind == "" {
		kind = mime.TypeByExtension(ext)
	}
	if kind != "" {
		h.Set("Content-Type", kind)
	}
	plain, err := os.Stat(file)
	if err != nil || plain.IsDir() {
		h.Del("Content-Type")
		http.NotFound(w, r)
		return
	}
	h.Add("Vary", "Accept-Encoding")
	for _, e := range encodings {
		if !accepts(r, e.name) {
			continue
		}
		// A sibling older than the file was made from something else; copying
		// may cut a time to whole seconds.
		st, err := os.Stat(file + e.suffix)
		if err != nil || st.ModTime().Before(plain.ModTime().Add(-2*time.Second)) {
			continue
		}
		h.Set("Content-Encoding", e.name)
		send(w, r, file+e.suffix)
		return
	}
	send(w, r, file)
}

// send leaves ranges, validators and HEAD to net/http.
func send(w http.ResponseWriter, r *http.Request, file string) {
	f, err := os.Open(file)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		http.NotFound(w, r)
		return
	}
	http.ServeContent(w, r, "", st.ModTime(), f)
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
