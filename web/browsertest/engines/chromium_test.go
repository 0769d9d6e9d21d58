//go:build !js

package engines

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"memtide/web/browsertest"
)

// chromium is driven by Chrome's DevTools protocol.
type chromium struct {
	home string
	ctx  context.Context
	end  []context.CancelFunc
}

// Chromium starts a headless Chromium. The variable CHROME overrides its path.
func Chromium(ctx context.Context) (Browser, error) {
	bin := browsertest.Browser()
	if bin == "" {
		return nil, &Missing{"Chromium", "apt-get install chromium-headless-shell (make chromium), or set CHROME to the path of one"}
	}
	home, err := os.MkdirTemp("", "memtide-chromium-")
	if err != nil {
		return nil, err
	}
	b := &chromium{home: home}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(bin), chromedp.Headless, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.DisableGPU,
		chromedp.UserDataDir(filepath.Join(home, "profile")), chromedp.WindowSize(1400, 900),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-extensions", true), chromedp.Flag("disable-dev-shm-usage", true),
	}
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses to start as root otherwise
	}
	allocator, end := chromedp.NewExecAllocator(context.WithoutCancel(ctx), options...) // ctx limits only the start
	first, closeBrowser := chromedp.NewContext(allocator)
	b.ctx, b.end = first, []context.CancelFunc{closeBrowser, end}
	if err = chromedp.Do(first, chromedp.Navigate("about:blank")); err == nil {
		_, err = chromedp.CallBrowser(first, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: b.Downloads()})
	}
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("starting %s: %w", bin, err)
	}
	return b, nil
}

func (b *chromium) Downloads() string { return filepath.Join(b.home, "Downloads") }

func (b *chromium) Ears() string { return "" }

func (b *chromium) Close() {
	for _, f := range b.end {
		f()
	}
	os.RemoveAll(b.home)
}

type chromiumTab struct {
	ctx   context.Context
	close context.CancelFunc

	mu         sync.Mutex
	complaints []string
}

func (b *chromium) Open(context.Context) (Tab, error) {
	ctx, closeTab := chromedp.NewContext(b.ctx)
	t := &chromiumTab{ctx: ctx, close: closeTab}
	if err := chromedp.Listen(ctx, t.note); err != nil {
		closeTab()
		return nil, err
	}
	return t, chromedp.Do(ctx, chromedp.Navigate("about:blank"))
}

func (t *chromiumTab) note(ev any) {
	line := ""
	switch e := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type != "error" && e.Type != "warning" && e.Type != "assert" {
			return
		}
		line = string(e.Type) + ":"
		for _, a := range e.Args {
			line += " " + strings.Trim(string(a.Value), `"`) + a.Description
		}
	case *runtime.EventExceptionThrown:
		line = "exception: " + (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error()
	case *cdplog.EventEntryAdded:
		if e.Entry.Level != "error" && e.Entry.Level != "warning" {
			return
		}
		line = string(e.Entry.Level) + ": " + e.Entry.Text + " " + e.Entry.URL
	default:
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.complaints = append(t.complaints, line)
}

func (t *chromiumTab) Complaints(context.Context) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.complaints...), nil
}

// within returns the tab's context, which is also cancelled when ctx ends. The caller has to call the function.
func (t *chromiumTab) within(ctx context.Context) (context.Context, func()) {
	own, cancel := context.WithCancel(t.ctx)
	stop := context.AfterFunc(ctx, cancel)
	return own, func() { stop(); cancel() }
}

func (t *chromiumTab) Navigate(ctx context.Context, address string) error {
	own, end := t.within(ctx)
	defer end()
	return chromedp.Do(own, chromedp.Navigate(address))
}

func (t *chromiumTab) Eval(ctx context.Context, expression string) (json.RawMessage, error) {
	own, end := t.within(ctx)
	defer end()
	s, err := chromedp.Run(own, chromedp.Evaluate[string](asJSON(expression), chromedp.EvalAwaitPromise))
	return json.RawMessage(s), err
}

func (t *chromiumTab) Drag(ctx context.Context, points ...Point) error {
	own, end := t.within(ctx)
	defer end()
	send := func(kind input.DispatchMouseEventType, at Point, buttons int64) error {
		params := input.DispatchMouseEventParams{Type: kind, X: float64(at.X), Y: float64(at.Y), Buttons: buttons,
			Button: input.MouseButtonLeft}
		switch {
		case kind != input.DispatchMouseEventTypeMouseMoved:
			params.ClickCount = 1
		case buttons == 0:
			params.Button = input.MouseButtonNone
		}
		_, err := chromedp.Call(own, input.DispatchMouseEvent, params)
		return err
	}
	err := send(input.DispatchMouseEventTypeMouseMoved, points[0], 0)
	if err == nil {
		err = send(input.DispatchMouseEventTypeMousePressed, points[0], 1)
	}
	for _, at := range points[1:] {
		if err == nil {
			err = send(input.DispatchMouseEventTypeMouseMoved, at, 1)
		}
	}
	if err == nil {
		err = send(input.DispatchMouseEventTypeMouseReleased, points[len(points)-1], 0)
	}
	return err
}

func modifiers(ctrl bool) int64 {
	if ctrl {
		return kb.ModifierCtrl.Int64()
	}
	return 0
}

func (t *chromiumTab) Wheel(ctx context.Context, at Point, delta int, ctrl bool) error {
	own, end := t.within(ctx)
	defer end()
	_, err := chromedp.Call(own, input.DispatchMouseEvent,
		input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel,
			X: float64(at.X), Y: float64(at.Y), DeltaX: 1, DeltaY: float64(delta), Modifiers: modifiers(ctrl)})
	return err
}

func (t *chromiumTab) Key(ctx context.Context, key rune, ctrl bool) error {
	own, end := t.within(ctx)
	defer end()
	for _, k := range kb.Encode(key) {
		k.Modifiers |= modifiers(ctrl)
		switch {
		case !ctrl:
		case k.Type == kb.KeyChar:
			continue // with Ctrl a key types no character
		case key == 'v' && k.Type != input.DispatchKeyEventTypeKeyUp:
			k.Commands = []string{"paste"} // the browser's window turns Ctrl+V into this command
		}
		if _, err := chromedp.Call(own, input.DispatchKeyEvent, *k); err != nil {
			return err
		}
	}
	return nil
}

func (t *chromiumTab) Files(ctx context.Context, selector string, paths ...string) error {
	own, end := t.within(ctx)
	defer end()
	field, err := chromedp.Run(own, chromedp.Evaluate[*runtime.RemoteObject](fmt.Sprintf("document.querySelector(%q)",
		selector)))
	if err != nil {
		return err
	}
	_, err = chromedp.Call(own, dom.SetFileInputFiles,
		dom.SetFileInputFilesParams{Files: paths, ObjectID: field.ObjectID})
	return err
}

func (t *chromiumTab) Resize(ctx context.Context, width, height int) error {
	own, end := t.within(ctx)
	defer end()
	return chromedp.Do(own, chromedp.EmulateViewport(int64(width), int64(height)))
}

func (t *chromiumTab) Shot(ctx context.Context) ([]byte, error) {
	own, end := t.within(ctx)
	defer end()
	return chromedp.Run(own, chromedp.CaptureScreenshot())
}

func (t *chromiumTab) Close(context.Context) error {
	t.close()
	return nil
}
