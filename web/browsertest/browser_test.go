//go:build !js

package browsertest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"memtide/web/fileserver"
)

// shared holds what all tests of a process share: the site, its server and the browser.
var shared struct {
	once sync.Once
	err  error
	dist string
	url  string
	ctx  context.Context
	stop []func()
}

// Main runs the tests and then stops the server and the browser that they shared. Call it from TestMain.
func Main(m *testing.M) {
	code := m.Run()
	for i := len(shared.stop) - 1; i >= 0; i-- {
		shared.stop[i]()
	}
	os.Exit(code)
}

// need starts the shared server and browser once. If there is no Chromium, it skips the test, or fails it if CI
// is set.
func need(t testing.TB) {
	t.Helper()
	bin := Browser()
	if bin == "" {
		const how = "no Chromium is installed: apt-get install chromium-headless-shell, or set CHROME to the path of one"
		if os.Getenv("CI") != "" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	shared.once.Do(func() { shared.err = share(bin) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
}

func share(bin string) error {
	if err := buildSite(); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: sandboxable(forgetful(fileserver.Handler(shared.dist)))}
	go server.Serve(listener)
	shared.url = "http://" + listener.Addr().String() + "/"
	profile, err := os.MkdirTemp("", "memtide-chromium-")
	if err != nil {
		return err
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), flags(bin, profile)...)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	shared.ctx = ctx
	shared.stop = append(shared.stop,
		func() { os.RemoveAll(profile) },
		func() { server.Close() },
		end, closeBrowser,
		func() {
			patient, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			_ = chromedp.Cancel(patient) // the process is killed by end in any case
		})
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		return fmt.Errorf("starting %s: %w", bin, err)
	}
	return nil
}

// forgetful serves the site with a service worker that caches nothing. Every tab makes only one visit, so the
// copy of 20 MB that the real service worker makes for the next visit would be wasted. TestOffline and
// TestQuietStart run servers of their own with the real one.
func forgetful(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/offline.js" {
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			_, _ = w.Write([]byte("// keeps nothing\n"))
			return
		}
		h.ServeHTTP(w, r)
	})
}

// sandboxable sends the page with the restrictions of a frame that has the attribute sandbox="allow-scripts" if
// its address has ?sandbox.
func sandboxable(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("sandbox") {
			w.Header().Set("Content-Security-Policy", "sandbox allow-scripts")
		}
		h.ServeHTTP(w, r)
	})
}

func flags(bin, profile string) []chromedp.ExecAllocatorOption {
	out := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(bin), chromedp.Headless, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.DisableGPU,
		chromedp.UserDataDir(profile), chromedp.WindowSize(1400, 900),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost"),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-default-apps", true), chromedp.Flag("disable-extensions", true),
		chromedp.Flag("metrics-recording-only", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("hide-scrollbars", true),
		// Optimise only code that runs for seconds. Optimising code that runs once in each tab was a fifth of all
		// work. The tests of package engines use the browser's default.
		chromedp.Flag("js-flags", "--wasm-tiering-budget=200000000"),
		// chromium-headless-shell would not give frames of other sites processes of their own, as browsers do.
		chromedp.Flag("site-per-process", true),
		// Without these options every window loads two pages for the list below its address bar and starts a
		// spare process for the next page: a quarter of all work.
		chromedp.Flag("disable-field-trial-config", true),
		chromedp.Flag("disable-features",
			"WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,SpareRendererForSitePerProcess"),
	}
	if os.Geteuid() == 0 {
		out = append(out, chromedp.NoSandbox) // Chromium refuses to start as root otherwise
	}
	return out
}

// buildSite uses the site in MEMTIDE_DIST or, if that is not set, builds one.
func buildSite() error {
	if dir := os.Getenv("MEMTIDE_DIST"); dir != "" {
		shared.dist = dir
		if !filepath.IsAbs(dir) {
			return fmt.Errorf("MEMTIDE_DIST is %q; expected an absolute path", dir)
		}
		_, err := os.Stat(filepath.Join(dir, "index.html"))
		return err
	}
	dir, err := os.MkdirTemp("", "memtide-dist-")
	if err != nil {
		return err
	}
	shared.stop = append(shared.stop, func() { os.RemoveAll(dir) })
	shared.dist = dir
	if out, err := exec.Command("go", "run", "memtide/cmd/build", "-out", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("building the site: %w\n%s", err, out)
	}
	return nil
}
