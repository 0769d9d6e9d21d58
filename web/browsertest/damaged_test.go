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
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memtide/web/fileserver"
)

// damages are ways in which a program's file may be changed on its way to the browser.
var damages = map[string]func([]byte) []byte{
	"cut":     func(b []byte) []byte { return b[:len(b)/2] },
	"another": func([]byte) []byte { return []byte("<!doctype html><title>Sign in</title>") },
	// This one compiles and starts, but its results may be wrong.
	"altered": func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte("There is no plan yet."), []byte("There is a  plan yet."))
	},
}

// damaging serves the site and returns its address. Until mended is set, the program's file is damaged.
func damaging(t *testing.T, program string, damage func([]byte) []byte, mended *atomic.Bool) string {
	return serving(t, program, mended, func(w http.ResponseWriter, b []byte) { _, _ = w.Write(damage(b)) })
}

// serving serves the site and returns its address. Until mended is set, answer writes the response for the
// program's file.
func serving(t *testing.T, program string, mended *atomic.Bool,
	answer func(w http.ResponseWriter, file []byte)) string {
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
		w.Header().Set("Cache-Control", "max-age=31536000, immutable") // the worst case: the damaged file is cached
		w.Header().Set("Access-Control-Allow-Origin", "*")
		answer(w, b)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// hanging makes p open a site that sends half of a program's file, and the rest when on is closed. In that tab a
// timer of one second fires after 20 ms, so that the page's limit of 10 seconds is soon reached.
func hanging(t *testing.T, p *Page, program string, on chan bool) {
	t.Helper()
	p.Before(`{ const every = setInterval; globalThis.setInterval = (f, ms, ...rest) => every(f, ms === 1000 ? 20 : ms, ...rest); }`)
	p.URL = serving(t, program, new(atomic.Bool), func(w http.ResponseWriter, b []byte) {
		_, _ = w.Write(b[:len(b)/2])
		w.(http.Flusher).Flush()
		<-on
		_, _ = w.Write(b[len(b)/2:])
	})
}

// TestHangingProgram checks that the page reports a program file that stops arriving and says what to do, and
// that it starts if the rest arrives after all.
func TestHangingProgram(t *testing.T) {
	p := New(t)
	on := make(chan bool)
	end := sync.OnceFunc(func() { close(on) })
	hanging(t, p, "app", on)
	t.Cleanup(end) // runs before server.Close, which waits for open responses
	p.Navigate("")
	p.Wait(`document.querySelector('#boot[role="alert"] a')`, 90*time.Second)
	want := regexp.MustCompile(`^The program file app\.[0-9a-f]{12}\.wasm does not arrive: nothing came for 10 seconds\. Check the connection and try again\. Reload$`)
	if got := p.Text("#boot"); !want.MatchString(got) || Eval[string](p, `document.body.dataset.state`) != "error" {
		t.Errorf("the page says %q; want an error that matches %s", got, want)
	}
	end()
	p.Wait(`document.body.dataset.state === "ready" && document.querySelector("#boot").hidden`, 90*time.Second)
}

// TestHangingSecond checks the same for the second program: a file that needs it cannot be opened, the page says
// why, and the file opens when it is dropped again later.
func TestHangingSecond(t *testing.T) {
	p := New(t)
	on := make(chan bool)
	end := sync.OnceFunc(func() { close(on) })
	hanging(t, p, "second", on)
	t.Cleanup(end)
	p.Navigate("")
	p.Wait(untilReady, 90*time.Second)
	b, err := os.ReadFile("../../profiles/formats/onnx/testdata/convnet.onnx")
	if err != nil {
		t.Fatal(err)
	}
	drop(p, "net.onnx", b)
	p.Wait(alertShown, 90*time.Second)
	if text := Eval[string](p, alertText); !strings.Contains(text, "the program file second.") ||
		!strings.Contains(text, "does not arrive: nothing came for 10 seconds.") {
		t.Errorf("the page says %q; want that the second program does not arrive", text)
	}
	end()
	drop(p, "net.onnx", b)
	p.Wait(`/[&#]d=/.test(location.hash) && document.body.dataset.state === "ready"`, 90*time.Second)
}

// TestDamagedProgram checks that the page reports a damaged program file, that a reload fetches the file again in
// spite of all caches, and that the host page of an embedded view receives the error.
func TestDamagedProgram(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			if name == "another" {
				long(t)
			}
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
			p.Wait(untilReady+` && document.querySelector("#boot").hidden`, 90*time.Second)
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
		if got := Eval[string](p, `last("error").code + ": " + last("error").text`); !strings.HasPrefix(got,
			"start: The program file app.") || !strings.Contains(got, "is damaged") {
			t.Errorf("the host hears %q; want that the program is damaged", got)
		}
	})
}

// TestDamagedSecond checks that a damaged second program, which reads other formats, is reported when a file
// needs it, that what is shown stays, and that the file opens when it is dropped again.
func TestDamagedSecond(t *testing.T) {
	long(t)
	p := New(t)
	var mended atomic.Bool
	p.URL = damaging(t, "second", damages["cut"], &mended)
	p.Navigate("")
	p.Wait(untilReady, 90*time.Second)
	b, err := os.ReadFile("../../profiles/formats/onnx/testdata/convnet.onnx")
	if err != nil {
		t.Fatal(err)
	}
	drop(p, "net.onnx", b)
	p.Wait(alertShown, 90*time.Second)
	if text := Eval[string](p, alertText); !strings.Contains(text, "the program file second.") ||
		!strings.Contains(text, "is damaged") {
		t.Errorf("the page says %q; want that the second program is damaged", text)
	}
	mended.Store(true)
	drop(p, "net.onnx", b)
	p.Wait(`/[&#]d=/.test(location.hash) && document.body.dataset.state === "ready"`, 90*time.Second)
}

// TestDamagedSolver checks that a strategy of a damaged second program reports the damage, and that it can be
// tried again.
func TestDamagedSolver(t *testing.T) {
	long(t)
	p := New(t)
	var mended atomic.Bool
	p.URL = damaging(t, "second", damages["cut"], &mended)
	p.Navigate("#v=1&p=resnet50-graph-b32&m=60%25&s=blocks")
	p.Wait(alertShown, 90*time.Second)
	if text := Eval[string](p, alertText); !strings.Contains(text, "the program file second.") ||
		!strings.Contains(text, "is damaged") {
		t.Errorf("the page says %q; want that the second program is damaged", text)
	}
	mended.Store(true)
	p.Click(`.notice [data-do="act"]`)
	p.Wait(untilReady, 90*time.Second)
}
