package fileserver

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// site writes the named files to a new directory and returns it. The content of each file is its name.
func site(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestHandler(t *testing.T) {
	dir := site(t, "index.html", "app.wasm", "app.wasm.br", "app.wasm.gz", "page.js", "page.js.gz", "stale.css",
		"stale.css.br", "sub/index.html",
		".hidden", ".git/config", "sub/.hidden/page.js", "empty/page.js")
	old := time.Unix(0, 0)
	if err := os.Chtimes(filepath.Join(dir, "stale.css.br"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "secret.txt"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	h := Handler(dir)
	for _, c := range []struct {
		path, accept string
		code         int
		body         string
		kind, coding string
	}{
		{"/", "br", 200, "index.html", "text/html; charset=utf-8", ""},
		{"/sub/", "", 200, "sub/index.html", "text/html; charset=utf-8", ""},
		{"/app.wasm", "gzip, deflate, br", 200, "app.wasm.br", "application/wasm", "br"},
		{"/app.wasm", "gzip", 200, "app.wasm.gz", "application/wasm", "gzip"},
		{"/app.wasm", "br;q=0, gzip;q=0.5", 200, "app.wasm.gz", "application/wasm", "gzip"},
		{"/app.wasm", "", 200, "app.wasm", "application/wasm", ""},
		{"/page.js", "br", 200, "page.js", "text/javascript; charset=utf-8", ""},
		{"/stale.css", "br", 200, "stale.css", "text/css; charset=utf-8", ""},
		{"/missing.js", "br", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/sub", "", 301, "<a href=\"/sub/\">Moved Permanently</a>.\n\n", "text/html; charset=utf-8", ""},
		{"/empty", "", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/empty/", "", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/app.wasm/", "", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/.hidden", "", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/.git/config", "", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/sub/.hidden/page.js", "", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/..\\secret.txt", "", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/page.js\x00", "", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/../secret.txt", "", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
	} {
		r := httptest.NewRequest("GET", "http://host/", nil)
		r.URL.Path = c.path
		r.Header.Set("Accept-Encoding", c.accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		got := w.Result()
		if w.Code != c.code || w.Body.String() != c.body || got.Header.Get("Content-Type") != c.kind ||
			got.Header.Get("Content-Encoding") != c.coding {
			t.Errorf("GET %s, accepting %q:\n got %d %q %q %q\nwant %d %q %q %q", c.path, c.accept,
				w.Code, w.Body.String(), got.Header.Get("Content-Type"), got.Header.Get("Content-Encoding"), c.code,
				c.body, c.kind, c.coding)
		}
	}
}

// TestLocalNames checks that no address leads to a file outside of the site, on any system. Separators and
// volumes of Windows are refused everywhere.
func TestLocalNames(t *testing.T) {
	for address, want := range map[string]string{
		"/": ".", "/docs/": "docs", "/docs/model.html": filepath.Join("docs", "model.html"), "/a/../b.js": "b.js",
		"/../../b.js": "b.js", "//b.js": "b.js",
		"/..\\secret": "", "/docs\\..\\..\\secret": "", "/C:/secret": "", "/C:secret": "", "/page.js:stream": "",
		"\\\\host\\share": "",
		"/.git/config":    "", "/...": "", "/a\x00b": "", "/a\xffb": "",
	} {
		if got, ok := local(address); got != want || ok != (want != "") {
			t.Errorf("the name of %q is %q, %t; want %q", address, got, ok, want)
		}
	}
}

func TestHandlerMethods(t *testing.T) {
	h := Handler(site(t, "index.html"))
	for method, want := range map[string]int{"GET": 200, "HEAD": 200, "POST": http.StatusMethodNotAllowed} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		if w.Code != want {
			t.Errorf("%s /: got %d, want %d", method, w.Code, want)
		}
	}
}
