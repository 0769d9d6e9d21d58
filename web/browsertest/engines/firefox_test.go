//go:build !js

package engines

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/coder/websocket"
)

// firefox is driven by WebDriver BiDi, which Firefox implements itself.
type firefox struct {
	home    string
	process *process
	conn    *websocket.Conn
	stop    context.CancelFunc

	mu      sync.Mutex
	last    int
	waiting map[int]chan bidiReply
	tabs    map[string]*firefoxTab
}

type bidiReply struct {
	result json.RawMessage
	err    error
}

// firefoxPrefs stop Firefox from contacting servers and from showing dialogs.
const firefoxPrefs = `
user_pref("browser.download.folderList", 2);
user_pref("browser.download.dir", %q);
user_pref("browser.download.useDownloadDir", true);
user_pref("browser.download.always_ask_before_handling_new_types", false);
user_pref("browser.download.manager.addToRecentDocs", false);
user_pref("browser.helperApps.neverAsk.saveToDisk", "text/csv,image/svg+xml,image/png,application/json,text/html,text/x-python");
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("browser.aboutwelcome.enabled", false);
user_pref("app.update.enabled", false);
user_pref("app.normandy.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.enabled", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
user_pref("extensions.update.enabled", false);
user_pref("extensions.getAddons.cache.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("network.dns.offline-localhost", true);
user_pref("services.settings.server", "data:,#remote-settings-dummy/v1");
user_pref("browser.safebrowsing.malware.enabled", false);
user_pref("browser.safebrowsing.phishing.enabled", false);
`

// Firefox starts a headless Firefox. The variable FIREFOX overrides its path.
func Firefox(ctx context.Context) (Browser, error) {
	bin := find("FIREFOX", "firefox-esr", "firefox")
	if bin == "" {
		return nil, &Missing{"Firefox", "apt-get install firefox-esr (make firefox), or set FIREFOX to the path of one"}
	}
	home, err := os.MkdirTemp("", "memtide-firefox-")
	if err != nil {
		return nil, err
	}
	b := &firefox{home: home, waiting: map[int]chan bidiReply{}, tabs: map[string]*firefoxTab{}}
	if err := b.begin(ctx, bin); err != nil {
		b.Close()
		return nil, fmt.Errorf("starting %s: %w", bin, err)
	}
	return b, nil
}

func (b *firefox) begin(ctx context.Context, bin string) error {
	profile := filepath.Join(b.home, "profile")
	if err := os.Mkdir(profile, 0o700); err != nil {
		return err
	}
	prefs := fmt.Sprintf(firefoxPrefs, b.Downloads())
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600); err != nil {
		return err
	}
	var err error
	b.process, err = launch(b.home, []string{"MOZ_CRASHREPORTER_DISABLE=1"}, bin,
		"--headless", "--no-remote", "--profile", profile, "--width", "1400", "--height", "900",
		"--remote-debugging-port", "0", "about:blank")
	if err != nil {
		return err
	}
	address, err := b.process.says(ctx, "WebDriver BiDi listening on ")
	if err != nil {
		return err
	}
	b.conn, _, err = websocket.Dial(ctx, address+"/session", nil)
	if err != nil {
		return err
	}
	b.conn.SetReadLimit(-1)
	reading, stop := context.WithCancel(context.Background())
	b.stop = stop
	go b.read(reading)
	if err := b.call(ctx, "session.new", action{"capabilities": action{}}, nil); err != nil {
		return err
	}
	return b.call(ctx, "session.subscribe", action{"events": []string{"log.entryAdded"}}, nil)
}

func (b *firefox) Downloads() string { return filepath.Join(b.home, "Downloads") }

func (b *firefox) Ears() string { return "" }

func (b *firefox) Close() {
	if b.conn != nil {
		_ = b.conn.CloseNow()
		b.stop()
	}
	if b.process != nil {
		b.process.end()
	}
	os.RemoveAll(b.home)
}

// read receives answers and events from Firefox until the connection ends.
func (b *firefox) read(ctx context.Context) {
	for {
		_, data, err := b.conn.Read(ctx)
		if err != nil {
			b.mu.Lock()
			for id, c := range b.waiting {
				c <- bidiReply{err: errors.Join(errGone, err)}
				delete(b.waiting, id)
			}
			b.mu.Unlock()
			return
		}
		var m struct {
			Type, Error, Message, Method string
			ID                           int
			Result                       json.RawMessage
			Params                       json.RawMessage
		}
		if json.Unmarshal(data, &m) != nil {
			continue
		}
		if m.Type == "event" {
			b.heard(m.Method, m.Params)
			continue
		}
		r := bidiReply{result: m.Result}
		if m.Type == "error" {
			r.err = fmt.Errorf("%s: %s", m.Error, m.Message)
		}
		b.mu.Lock()
		if c := b.waiting[m.ID]; c != nil {
			c <- r
			delete(b.waiting, m.ID)
		}
		b.mu.Unlock()
	}
}

// heard records the errors and warnings of the console.
func (b *firefox) heard(method string, params json.RawMessage) {
	var entry struct {
		Level, Text, Type string
		Source            struct{ Context string }
	}
	if method != "log.entryAdded" || json.Unmarshal(params, &entry) != nil || entry.Level != "error" &&
		entry.Level != "warn" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.tabs[entry.Source.Context]; t != nil {
		t.complaints = append(t.complaints, entry.Type+" "+entry.Level+": "+entry.Text)
	}
}

// call sends a command and decodes its result into out, if that is not nil.
func (b *firefox) call(ctx context.Context, method string, params, out any) error {
	c := make(chan bidiReply, 1)
	b.mu.Lock()
	b.last++
	id := b.last
	b.waiting[id] = c
	b.mu.Unlock()
	message, err := json.Marshal(action{"id": id, "method": method, "params": params})
	if err != nil {
		return err
	}
	if err := b.conn.Write(ctx, websocket.MessageText, message); err != nil {
		return err
	}
	select {
	case r := <-c:
		if r.err != nil {
			return fmt.Errorf("%s: %w", method, r.err)
		}
		if out == nil {
			return nil
		}
		return json.Unmarshal(r.result, out)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

type firefoxTab struct {
	b          *firefox
	id         string
	complaints []string // guarded by b.mu
}

func (b *firefox) Open(ctx context.Context) (Tab, error) {
	var made struct{ Context string }
	if err := b.call(ctx, "browsingContext.create", action{"type": "tab"}, &made); err != nil {
		return nil, err
	}
	t := &firefoxTab{b: b, id: made.Context}
	b.mu.Lock()
	b.tabs[t.id] = t
	b.mu.Unlock()
	return t, t.Resize(ctx, 1400, 900)
}

func (t *firefoxTab) Complaints(context.Context) ([]string, error) {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	return append([]string(nil), t.complaints...), nil
}

func (t *firefoxTab) Navigate(ctx context.Context, address string) error {
	return t.b.call(ctx, "browsingContext.navigate",
		action{"context": t.id, "url": address, "wait": "interactive"}, nil)
}

// evaluated is the result of script.evaluate.
type evaluated struct {
	Result struct {
		Value    json.RawMessage
		SharedID string `json:"sharedId"`
	}
	ExceptionDetails *struct{ Text string }
}

func (t *firefoxTab) evaluate(ctx context.Context, script string) (evaluated, error) {
	var v evaluated
	err := t.b.call(ctx, "script.evaluate",
		action{"expression": script, "target": action{"context": t.id}, "awaitPromise": true}, &v)
	if err == nil && v.ExceptionDetails != nil {
		err = errors.New(v.ExceptionDetails.Text)
	}
	return v, err
}

func (t *firefoxTab) Eval(ctx context.Context, expression string) (json.RawMessage, error) {
	v, err := t.evaluate(ctx, asJSON(expression))
	if err != nil {
		return nil, err
	}
	var s string
	err = json.Unmarshal(v.Result.Value, &s)
	return json.RawMessage(s), err
}

func (t *firefoxTab) perform(ctx context.Context, actions []action) error {
	return t.b.call(ctx, "input.performActions", action{"context": t.id, "actions": actions}, nil)
}

func (t *firefoxTab) Drag(ctx context.Context, points ...Point) error {
	return t.perform(ctx, dragged(points))
}

func (t *firefoxTab) Wheel(ctx context.Context, at Point, delta int, ctrl bool) error {
	return t.perform(ctx, wheeled(at, delta, ctrl))
}

func (t *firefoxTab) Key(ctx context.Context, key rune, ctrl bool) error {
	return t.perform(ctx, typed(key, ctrl))
}

func (t *firefoxTab) Files(ctx context.Context, selector string, paths ...string) error {
	field, err := t.evaluate(ctx, fmt.Sprintf("document.querySelector(%q)", selector))
	if err != nil {
		return err
	}
	return t.b.call(ctx, "input.setFiles",
		action{"context": t.id, "element": action{"sharedId": field.Result.SharedID}, "files": paths}, nil)
}

func (t *firefoxTab) Resize(ctx context.Context, width, height int) error {
	return t.b.call(ctx, "browsingContext.setViewport",
		action{"context": t.id, "viewport": action{"width": width, "height": height}}, nil)
}

func (t *firefoxTab) Shot(ctx context.Context) ([]byte, error) {
	var shot struct{ Data string }
	if err := t.b.call(ctx, "browsingContext.captureScreenshot", action{"context": t.id}, &shot); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(strings.TrimPrefix(shot.Data, "data:image/png;base64,"))
}

func (t *firefoxTab) Close(ctx context.Context) error {
	return t.b.call(ctx, "browsingContext.close", action{"context": t.id}, nil)
}
