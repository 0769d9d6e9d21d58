//go:build !js

package engines

import (
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const smallCSV = "name,forward_s,backward_s,output_bytes,saved_bytes\nconv1,0.002,0.004,1000000,3000000\nconv2,0.002,0.004,1000000,3000000\nconv3,0.003,0.005,1000000,2000000\n"

// dropping opens files in two ways: with the file input, from the disk, and with drop events made by a script,
// because no driver can drag files from outside the browser. The first file needs the second program and has to
// be opened before the running sweep goes on. The last file is bad: the page has to say what is wrong and keep
// what it shows.
func dropping(p *Page) {
	settled(p, "#v=1&p=resnet101-b32&m=60%25") // its curve is computed while the file is opened
	p.Do(noteOrder)
	file := filepath.Join(p.t.TempDir(), "mine.csv")
	p.must(os.WriteFile(file, []byte(smallCSV), 0o600))
	p.must(p.Files(p.ctx, `[data-testid="file"]`, file))
	p.Wait(ready + ` && ` + text("preset") + `.includes("mine.csv")`)
	order := Get[[]string](p, "order")
	begun, opened := slices.Index(order, "second"), slices.Index(order, "open")
	if begun < 0 || opened < begun {
		p.t.Errorf("workers were asked for %q; want the second program, and then \"open\"", order)
	} else if slices.Contains(order[begun:opened], "sweep") {
		p.t.Errorf("workers were asked for %q; want no point of the sweep between the second program and \"open\"",
			order)
	}
	if facts := Get[string](p,
		`document.querySelector(".about .facts").textContent.replace(/\s+/g, " ")`); !strings.Contains(facts,
		"blocks 3 ") {
		p.t.Errorf("the facts are %q; want 3 layers", facts)
	}
	p.Wait(`/&d=[01]\./.test(location.hash)`)
	peak, link := p.Text("peak"), Get[string](p, "location.hash")

	drop(p, "other.csv", strings.ReplaceAll(smallCSV, "conv2", "pool"))
	p.Wait(ready + ` && ` + text("preset") + `.includes("other.csv")`)
	drop(p, "bad.csv", strings.Replace(smallCSV, "0.003", "-3", 1))
	p.Wait(`/forward_s.*-3/s.test(document.querySelector('.findings[role="alert"]').textContent)`)
	if got := p.Text("preset"); !strings.Contains(got, "other.csv") {
		p.t.Errorf("after a bad file the page shows %q; want what it showed before", got)
	}
	p.Quiet()

	again := p.Another()
	settled(again, link)
	if got := again.Text("peak"); got != peak {
		p.t.Errorf("opened from its link the peak is %q; want %q", got, peak)
	}
}

// noteOrder records the requests that the page sends to its workers, and when it loads the second program, which
// reads files.
const noteOrder = `(() => {
	globalThis.order = [];
	const second = memtide.second, post = Worker.prototype.postMessage;
	memtide.second = () => { order.push("second"); return second(); };
	Worker.prototype.postMessage = function (message, ...rest) {
		if (message.body) order.push(/"op":"(\w+)"/.exec(new TextDecoder("latin1").decode(message.body))[1]);
		return post.call(this, message, ...rest);
	};
})()`

// drop drops a file on the page.
func drop(p *Page, name, content string) {
	p.t.Helper()
	p.Do(fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([%q], %q));
		for (const type of ["dragenter", "dragover", "drop"]) {
			document.body.dispatchEvent(new DragEvent(type, {bubbles: true, cancelable: true, dataTransfer: data}));
		}
	})()`, content, name))
}

// exporting saves every kind of file to the disk and checks the contents.
func exporting(p *Page) {
	settled(p, small)
	openShare(p)
	files := map[string][]byte{}
	for _, kind := range []string{"svg", "png", "json", "operations.csv", "layers.csv", "schedule.json", "html"} {
		p.Do(`document.querySelector("[data-testid=share-note]").textContent = ""`)
		p.Click(fmt.Sprintf(`[data-do="share-save"][data-arg=%q]`, kind))
		p.Wait(`document.querySelector("[data-testid=share-note]").textContent.startsWith("Saved ")`)
		note := p.Text("share-note")
		files[kind] = saved(p, strings.TrimSuffix(strings.TrimPrefix(note, "Saved "), "."))
	}
	if got := string(files["svg"]); !strings.HasPrefix(got, "<svg") ||
		!strings.HasSuffix(strings.TrimSpace(got), "</svg>") {
		p.t.Errorf("the SVG begins with %.80q; want a whole one", got)
	}
	picture, err := png.Decode(strings.NewReader(string(files["png"])))
	if err != nil {
		p.t.Errorf("the PNG cannot be read: %v", err)
	} else if size := picture.Bounds(); size.Dx() < 1000 || size.Dy() < 300 {
		p.t.Errorf("the PNG has %v pixels; want a picture for print", size)
	}
	var schedule struct {
		StepNs     int64
		Verified   bool
		Operations []struct{ Lane string }
	}
	if err := json.Unmarshal(files["json"], &schedule); err != nil || schedule.StepNs == 0 || !schedule.Verified ||
		len(schedule.Operations) < 20 {
		p.t.Errorf("the JSON says a step of %d ns, verified %t, %d operations (%v); want a verified schedule of VGG-16",
			schedule.StepNs, schedule.Verified, len(schedule.Operations), err)
	}
	for kind, head := range map[string]string{
		"operations.csv": "start (ms),end (ms),lane,what,kind,layer,why\n", "layers.csv": "layer,name,decision,",
		"html": "<!doctype html>",
	} {
		if got := string(files[kind]); !strings.HasPrefix(strings.ToLower(got), head) {
			p.t.Errorf("%s begins with %.80q; want %q", kind, got, head)
		}
	}
	if got := string(files["schedule.json"]); !strings.Contains(got, `"schema":"memtide-schedule/1"`) {
		p.t.Errorf("the schedule begins with %.200q; want its schema", got)
	}
	p.Quiet()
}

// saved waits until the browser has finished saving a file and returns its content. The file is finished when its
// .part is gone and its size is the same twice in a row.
func saved(p *Page, name string) (content []byte) {
	p.t.Helper()
	file, size := filepath.Join(p.browser.Downloads(), name), -1
	p.must(until(p.ctx, func() (err error) {
		if _, err = os.Stat(file + ".part"); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is being written (%v)", file, err)
		}
		before := size
		if content, err = os.ReadFile(file); err != nil {
			return err
		}
		if size = len(content); size == 0 || size != before {
			return fmt.Errorf("%s has %d bytes so far", file, size)
		}
		return nil
	}))
	return content
}
