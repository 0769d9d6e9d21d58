//go:build !js

package browsertest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"memtide/web/link"
)

// TestScheduleFiles saves a schedule as Python and as JSON: the files are those of
// the command line, to the byte, with the link of the page besides; and they open
// the page's view again.
func TestScheduleFiles(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Before(keepSaves)
	fragment := sealed("v=1&p=vgg16-b64&dev=a100-sxm-40gb&m=80%25&s=greedy")[1:]
	p.Navigate("#" + fragment)
	shown(p)
	openShare(p)
	files := map[string][]byte{}
	for kind, format := range map[string]string{"schedule.py": "python", "schedule.json": "json"} {
		name, got := saved(p, kind)
		if !strings.HasSuffix(name, kind) {
			t.Errorf("%s is saved as %q", kind, name)
		}
		cmd := exec.Command("go", "run", "memtide/cmd/memtide", "export", "-format", format, "-from", p.URL+"#"+fragment)
		cmd.Stderr = os.Stderr
		want, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", cmd.Args, err)
		}
		if format == "python" {
			want = link.WithFirstLine(want, p.URL+"#"+fragment)
		} else {
			want = link.WithJSON(want, p.URL+"#"+fragment)
		}
		if !bytes.Equal(got, want) {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Errorf("%s: %d bytes, the command line writes %d; they part at byte %d:\npage    %.200q\ncommand %.200q", kind, len(got), len(want), at, got[max(at-60, 0):], want[max(at-60, 0):])
		}
		p.Wait(`document.querySelector("[data-testid=share-note]").textContent.startsWith("Saved ")`)
		files[kind] = got
	}
	for kind, content := range files {
		p.Navigate("#v=1&p=vgg16-b32&s=keepall")
		p.Wait(`document.body.dataset.state === "ready" && location.hash.includes("&p=vgg16-b32")`)
		drop(p, kind, content)
		p.Wait(fmt.Sprintf(`document.body.dataset.state === "ready" && location.hash === %q`, "#"+fragment))
	}
	p.Quiet()
}

// TestScheduleRefused looks for the reason where a schedule is no program.
func TestScheduleRefused(t *testing.T) {
	t.Parallel()
	p := Open(t, "#v=1&p=vgg16-b64&m=80%25&s=greedy&xfer=streamed")
	shown(p)
	openShare(p)
	p.Wait(`document.querySelector("[data-testid=share-refused]").textContent.includes("whole transfers")`)
	if !Eval[bool](p, `document.querySelector("[data-arg='schedule.py']").disabled && !document.querySelector("[data-arg='schedule.json']").disabled`) {
		t.Error("a streamed schedule: Python should be off and JSON on")
	}
}
