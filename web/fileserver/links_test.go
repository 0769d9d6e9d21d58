//go:build unix

package fileserver

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRegularFilesOnly checks that only regular files below the directory of the site are served. A pipe would
// block the request until something is written into it.
func TestRegularFilesOnly(t *testing.T) {
	dir := site(t, "index.html", "page.js")
	outside := site(t, "secret.txt", "index.html")
	for name, to := range map[string]string{
		"inside.js":   "page.js",
		"up.txt":      filepath.Join("..", filepath.Base(outside), "secret.txt"),
		"outside.txt": filepath.Join(outside, "secret.txt"),
		"folder":      outside,
		"loop.js":     "loop.js",
		"page.js.gz":  filepath.Join(outside, "secret.txt"),
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, pipe := range []string{"pipe", "page.js.br"} {
		if err := syscall.Mkfifo(filepath.Join(dir, pipe), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := Handler(dir)
	for _, c := range []struct {
		path, body string
		code       int
	}{
		{"/inside.js", "page.js", 200},
		{"/page.js", "page.js", 200}, // its compressed variants are a link to the outside and a pipe
		{"/up.txt", "404 page not found\n", 404},
		{"/outside.txt", "404 page not found\n", 404},
		{"/folder", "404 page not found\n", 404},
		{"/folder/", "404 page not found\n", 404},
		{"/folder/secret.txt", "404 page not found\n", 404},
		{"/loop.js", "404 page not found\n", 404},
		{"/pipe", "404 page not found\n", 404},
	} {
		r := httptest.NewRequest("GET", c.path, nil)
		r.Header.Set("Accept-Encoding", "gzip, br")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.code || w.Body.String() != c.body {
			t.Errorf("GET %s: got %d %q, want %d %q", c.path, w.Code, w.Body.String(), c.code, c.body)
		}
	}
}
