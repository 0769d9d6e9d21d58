//go:build !js

package engines

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// webkit is WebKitGTK's MiniBrowser on a screen of its own (Xvfb), driven by
// WebDriver over HTTP.
type webkit struct {
	home    string
	screen  *process
	driver  *process
	session string // its address at the driver

	mu      sync.Mutex // guards current; the driver has one current tab
	current string
	first   string // the tab that the session starts with; without it the session ends
	free    bool   // no test uses the first tab
}

// WebKit starts MiniBrowser. The variable WEBKIT_DRIVER overrides the path of its driver, and WEBKIT_BROWSER that
// of the browser.
func WebKit(ctx context.Context) (Browser, error) {
	const how = "apt-get install webkit2gtk-driver xvfb (make webkit)"
	driver, screen, browser := find("WEBKIT_DRIVER", "WebKitWebDriver"), find("XVFB", "Xvfb"), miniBrowser()
	switch {
	case driver == "":
		return nil, &Missing{"WebKitWebDriver", how}
	case browser == "":
		return nil, &Missing{"MiniBrowser of WebKitGTK", how + ", or set WEBKIT_BROWSER to the path of one"}
	case screen == "":
		return nil, &Missing{"Xvfb", how}
	}
	home, err := os.MkdirTemp("", "memtide-webkit-")
	if err != nil {
		return nil, err
	}
	b := &webkit{home: home}
	if err := b.begin(ctx, driver, screen, browser); err != nil {
		b.Close()
		return nil, fmt.Errorf("starting %s: %w", browser, err)
	}
	return b, nil
}

// miniBrowser returns the path of the newest installed MiniBrowser, or "". The variable WEBKIT_BROWSER overrides
// the search.
func miniBrowser() string {
	if p := os.Getenv("WEBKIT_BROWSER"); p != "" {
		return p
	}
	var all []string
	for _, pattern := range []string{"/usr/lib/*/webkit2gtk-4.*/MiniBrowser",
		"/usr/libexec/webkit2gtk-4.*/MiniBrowser", "/usr/lib/webkit2gtk-4.*/MiniBrowser"} {
		found, _ := filepath.Glob(pattern) // the patterns are well formed
		all = append(all, found...)
	}
	if len(all) == 0 {
		return ""
	}
	return slices.Max(all)
}

func (b *webkit) begin(ctx context.Context, driver, screen, browser string) error {
	config := filepath.Join(b.home, ".config")
	if err := os.MkdirAll(b.Downloads(), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(config, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(config, "user-dirs.dirs"), []byte("XDG_DOWNLOAD_DIR=\"$HOME/Downloads\"\n"),
		0o600); err != nil {
		return err
	}
	display, err := b.display(ctx, screen)
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	b.driver, err = launch(b.home, []string{"DISPLAY=" + display, "GDK_BACKEND=x11", "LIBGL_ALWAYS_SOFTWARE=1",
		"WEBKIT_DISABLE_DMABUF_RENDERER=1",
		"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS=1", // the sandbox needs rights that containers lack
		"GSETTINGS_BACKEND=memory", "DBUS_SESSION_BUS_ADDRESS=disabled:"}, driver, fmt.Sprintf("--port=%d", port),
		"--host=127.0.0.1")
	if err != nil {
		return err
	}
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	if err := until(ctx, func() error { return b.ask(ctx, "GET", address+"/status", nil, nil) }); err != nil {
		return err
	}
	options := action{"binary": browser, "args": []string{"--automation"}}
	var made struct{ SessionID string }
	err = b.ask(ctx, "POST", address+"/session",
		action{"capabilities": action{"alwaysMatch": action{"webkitgtk:browserOptions": options}}}, &made)
	if err != nil {
		return err
	}
	b.session = address + "/session/" + made.SessionID
	const patient = 300_000 // milliseconds; the test's own limit comes first
	if err := b.ask(ctx, "POST", b.session+"/timeouts", action{"script": patient, "pageLoad": patient},
		nil); err != nil {
		return err
	}
	b.free = true
	return b.ask(ctx, "GET", b.session+"/window", nil, &b.first)
}

// display starts a screen and returns its name, such as ":3".
func (b *webkit) display(ctx context.Context, screen string) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(screen, "-displayfd", "3", "-screen", "0", "1600x1200x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{w}
	b.screen, err = begin(cmd)
	w.Close()
	if err != nil {
		return "", err
	}
	defer r.Close()
	stop := context.AfterFunc(ctx, func() { r.Close() })
	defer stop()
	var number string
	if _, err := fmt.Fscan(r, &number); err != nil {
		return "", fmt.Errorf("%s names no display: %w\n%s", screen, err, strings.Join(b.screen.lines, "\n"))
	}
	return ":" + number, nil
}

// freePort returns a port that was free a moment ago.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (b *webkit) Downloads() string { return filepath.Join(b.home, "Downloads") }

func (b *webkit) Close() {
	if b.session != "" {
		_ = b.ask(context.Background(), "DELETE", b.session, nil, nil) // ends the browser
	}
	for _, p := range []*process{b.driver, b.screen} {
		if p != nil {
			p.end()
		}
	}
	os.RemoveAll(b.home)
}

// Ears returns a script that records errors and warnings of the page itself. Those of its workers and frames are
// not recorded.
func (b *webkit) Ears() string {
	return `"use strict";
globalThis.complaints = [];
for (const kind of ["error", "warn"]) {
	const own = console[kind];
	console[kind] = (...all) => { complaints.push(kind + ": " + all.map(String).join(" ")); own.apply(console, all); };
}
addEventListener("error", (e) => complaints.push("exception: " + (e.message || "no " + (e.target.src || e.target.href))), true);
addEventListener("unhandledrejection", (e) => complaints.push("rejection: " + e.reason));
addEventListener("securitypolicyviolation", (e) => complaints.push("policy: " + e.effectiveDirective + " " + e.blockedURI));
`
}

// ask sends a command to the driver and decodes the value of its answer into out, if that is not nil.
func (b *webkit) ask(ctx context.Context, method, address string, body, out any) error {
	if body == nil && method == "POST" {
		body = action{}
	}
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, address, &content)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var answer struct{ Value json.RawMessage }
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s %s: %w", method, address, err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, address, answer.Value)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer.Value, out)
}

type webkitTab struct {
	b      *webkit
	handle string
}

func (b *webkit) Open(ctx context.Context) (Tab, error) {
	t := &webkitTab{b: b}
	if b.free {
		t.handle, b.free = b.first, false
		return t, t.Resize(ctx, 1400, 900)
	}
	var made struct{ Handle string }
	if err := b.ask(ctx, "POST", b.session+"/window/new", action{"type": "window"}, &made); err != nil {
		return nil, err
	}
	t.handle = made.Handle
	return t, t.Resize(ctx, 1400, 900)
}

func (t *webkitTab) Complaints(ctx context.Context) ([]string, error) {
	value, err := t.Eval(ctx, "globalThis.complaints ?? []")
	if err != nil {
		return nil, err
	}
	var all []string
	err = json.Unmarshal(value, &all)
	return all, err
}

// ask makes the tab current and sends a command to it.
func (t *webkitTab) ask(ctx context.Context, method, path string, body, out any) error {
	b := t.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current != t.handle {
		if err := b.ask(ctx, "POST", b.session+"/window", action{"handle": t.handle}, nil); err != nil {
			return err
		}
		b.current = t.handle
	}
	return b.ask(ctx, method, b.session+path, body, out)
}

func (t *webkitTab) Navigate(ctx context.Context, address string) error {
	return t.ask(ctx, "POST", "/url", action{"url": address}, nil)
}

func (t *webkitTab) Eval(ctx context.Context, expression string) (json.RawMessage, error) {
	script := "const done = arguments[arguments.length - 1];\n" + asJSON(expression) +
		".then((v) => done({value: v}), (e) => done({error: String(e)}))"
	var answer struct{ Value, Error string }
	err := t.ask(ctx, "POST", "/execute/async", action{"script": script, "args": []any{}}, &answer)
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	return json.RawMessage(answer.Value), err
}

func (t *webkitTab) perform(ctx context.Context, actions []action) error {
	return t.ask(ctx, "POST", "/actions", action{"actions": actions}, nil)
}

func (t *webkitTab) Drag(ctx context.Context, points ...Point) error {
	return t.perform(ctx, dragged(points))
}

// Wheel turns the wheel. With Ctrl it dispatches an event by a script, because the driver does not pass modifiers
// to the page.
func (t *webkitTab) Wheel(ctx context.Context, at Point, delta int, ctrl bool) error {
	if !ctrl {
		return t.perform(ctx, wheeled(at, delta, false))
	}
	_, err := t.Eval(ctx, fmt.Sprintf(`document.elementFromPoint(%[1]d, %[2]d).dispatchEvent(new WheelEvent("wheel",
		{clientX: %[1]d, clientY: %[2]d, deltaY: %[3]d, ctrlKey: true, bubbles: true, cancelable: true}))`, at.X, at.Y, delta))
	return err
}

func (t *webkitTab) Key(ctx context.Context, key rune, ctrl bool) error {
	return t.perform(ctx, typed(key, ctrl))
}

func (t *webkitTab) Files(ctx context.Context, selector string, paths ...string) error {
	var element map[string]string
	if err := t.ask(ctx, "POST", "/element", action{"using": "css selector", "value": selector}, &element); err != nil {
		return err
	}
	for _, id := range element {
		return t.ask(ctx, "POST", "/element/"+id+"/value", action{"text": strings.Join(paths, "\n")}, nil)
	}
	return fmt.Errorf("no element is %s", selector)
}

// Resize enlarges the window by what the viewport lacks until the viewport has the given size.
func (t *webkitTab) Resize(ctx context.Context, width, height int) error {
	var inner [2]int
	return until(ctx, func() error {
		value, err := t.Eval(ctx, "[innerWidth, innerHeight]")
		if err != nil {
			return err
		}
		if err := json.Unmarshal(value, &inner); err != nil {
			return err
		}
		if inner == [2]int{width, height} {
			return nil
		}
		var rect struct{ Width, Height int }
		if err := t.ask(ctx, "GET", "/window/rect", nil, &rect); err != nil {
			return err
		}
		rect.Width, rect.Height = rect.Width+width-inner[0], rect.Height+height-inner[1]
		if err := t.ask(ctx, "POST", "/window/rect",
			action{"width": rect.Width, "height": rect.Height, "x": 0, "y": 0}, nil); err != nil {
			return err
		}
		return fmt.Errorf("the viewport has %d × %d", inner[0], inner[1])
	})
}

func (t *webkitTab) Shot(ctx context.Context) ([]byte, error) {
	var data string
	if err := t.ask(ctx, "GET", "/screenshot", nil, &data); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(data)
}

func (t *webkitTab) Close(ctx context.Context) error {
	if t.handle == t.b.first {
		t.b.free = true
		return t.Navigate(ctx, "about:blank")
	}
	err := t.ask(ctx, "DELETE", "/window", nil, nil)
	t.b.mu.Lock()
	t.b.current = ""
	t.b.mu.Unlock()
	return err
}
