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

// TestScheduleFile saves a schedule. The file has to be equal to the one that the command line writes, except for
// the link that the page adds, and has to restore the page's view when it is dropped.
func TestScheduleFile(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Before(keepSaves)
	fragment := sealed("v=1&p=vgg16-b64&dev=a100-sxm-40gb&m=80%25&s=greedy")[1:]
	p.Navigate("#" + fragment)
	shown(p)
	openShare(p)
	const kind = "schedule.json"
	name, got := saved(p, kind)
	if !strings.HasSuffix(name, kind) {
		t.Errorf("%s is saved as %q", kind, name)
	}
	cmd := exec.Command("go", "run", "memtide/cmd/memtide", "export", "-from", p.URL+"#"+fragment)
	cmd.Stderr = os.Stderr
	want, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	want = link.WithJSON(want, p.URL+"#"+fragment)
	if !bytes.Equal(got, want) {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Errorf("%d bytes, the command line writes %d; they part at byte %d:\npage    %.200q\ncommand %.200q",
			len(got), len(want), at, got[max(at-60, 0):], want[max(at-60, 0):])
	}
	p.Wait(`document.querySelector("[data-testid=share-note]").textContent.startsWith("Saved ")`)
	p.Navigate("#v=1&p=vgg16-b32&s=keepall")
	p.Wait(`document.body.dataset.state === "ready" && location.hash.includes("&p=vgg16-b32")`)
	drop(p, kind, got)
	p.Wait(fmt.Sprintf(`document.body.dataset.state === "ready" && location.hash === %q`, "#"+fragment))
	p.Quiet()
}
