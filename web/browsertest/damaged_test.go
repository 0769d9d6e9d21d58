//go:build !js

package browsertest

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memtide/web/fileserver"
)

// damages are what may become of a program's file on its way.
var damages = map[string]func([]byte) []byte{
	"cut":     func(b []byte) []byte { return b[:len(b)/2] },
	"another": func([]byte) []byte { return []byte("<!doctype html><title>Sign in</title>") },
	// It compiles and starts; what it computes may be wrong.
	"altered": func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte("There is no schedule yet."), []byte("There is a  schedule yet."))
	},
}

// damaging serves the site with a program that is damaged until mended is set.
func damaging(t *testing.T, program string, damage func([]byte) []byte, mended *atomic.Bool) string {
	t.Helper()
	site := fileserver.Handler(shared.dist)
	names := regexp.MustCompile(`^/` + program + `\.[0-9a-f]{12}\.wasm$`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !names.MatchString(r.URL.Path) || mended.Load() {
			site.ServeHTTP(w, r)
			return
		}
		b, err := os.ReadFile(filepath.Join(shared.dist, r.URL.Path))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/wasm")
		w.Header().Set("Cache-Control", "max-age=31536000, immutable") // the worst that a host may say
		w.Header().Set("Access-Control-Allow-Origin", "*")
		_, _ = w.Write(damage(b))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// A damaged program is called damaged. A reload gets it anew, past every copy that
// is kept, and a page that frames a view is told.
func TestDamagedProgram(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			p := New(t)
			var mended atomic.Bool
			p.URL = damaging(t, "app", damage, &mended)
			p.Navigate("")
			p.Wait(`document.querySelector('#boot[role="alert"]')?.textContent.includes("Reload")`, 90*time.Second)
			if got := p.Text("#boot"); !regexp.MustCompile(`^The program file app\.[0-9a-f]{12}\.wasm is damaged: it is not the one that was built\. Reload$`).MatchString(got) {
				t.Errorf("the page says %q; want that the program is damaged, and a reload", got)
			}
			mended.Store(true)
			p.Click("#boot a")
			p.Wait(`document.body?.dataset.state === "ready" && document.querySelector("#boot").hidden`, 90*time.Second)
		})
	}
	t.Run("in a frame", func(t *testing.T) {
		p := New(t)
		var mended atomic.Bool
		site := damaging(t, "app", damages["cut"], &mended)
		frame := fmt.Sprintf(`<iframe width="700" height="400" src="%s#embed=1&v=1&p=vgg16-b32"></iframe>`, site)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, heard+frame)
		}))
		t.Cleanup(server.Close)
		p.URL = server.URL + "/"
		p.Navigate("")
		p.Wait(`last("error")`, 90*time.Second)
		if got := Eval[string](p, `last("error").code + ": " + last("error").text`); !strings.HasPrefix(got, "start: The program file app.") || !strings.Contains(got, "is damaged") {
			t.Errorf("the host hears %q; want that the program is damaged", got)
		}
	})
}

// The program that reads other formats may be damaged too; a file that needs it
// says so, and what is shown stays.
func TestDamagedSecond(t *testing.T) {
	p := New(t)
	var mended atomic.Bool
	p.URL = damaging(t, "second", damages["cut"], &mended)
	p.Navigate("")
	p.Wait(`document.body?.dataset.state === "ready"`, 90*time.Second)
	b, err := os.ReadFile("../../profiles/formats/onnx/testdata/convnet.onnx")
	if err != nil {
		t.Fatal(err)
	}
	drop(p, "net.onnx", b)
	p.Wait(alertShown, 90*time.Second)
	if text := Eval[string](p, alertText); !strings.Contains(text, "the program file second.") || !strings.Contains(text, "is damaged") {
		t.Errorf("the page says %q; want that the second program is damaged", text)
	}
	mended.Store(true)
	drop(p, "net.onnx", b)
	p.Wait(`/[&#]d=/.test(location.hash) && document.body.dataset.state === "ready"`, 90*time.Second)
}

// A strategy that a damaged program has says so too, and is tried again.
func TestDamagedSolver(t *testing.T) {
	p := New(t)
	var mended atomic.Bool
	p.URL = damaging(t, "second", damages["cut"], &mended)
	p.Navigate("#v=1&p=resnet50-graph-b32&s=blocks")
	p.Wait(alertShown, 90*time.Second)
	if text := Eval[string](p, alertText); !strings.Contains(text, "the program file second.") || !strings.Contains(text, "is damaged") {
		t.Errorf("the page says %q; want that the second program is damaged", text)
	}
	mended.Store(true)
	p.Click(`[data-do="act"]`)
	p.Wait(untilReady, 90*time.Second)
}
