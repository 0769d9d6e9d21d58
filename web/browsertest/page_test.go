//go:build !js

package browsertest

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

const untilReady = `document.body.dataset.state === "ready" && document.querySelector(".paint canvas")`

// settledPage opens an address and waits for the first schedule.
func settledPage(t *testing.T, address string) *Page {
	t.Helper()
	p := Open(t, address)
	p.Wait(untilReady, 30*time.Second)
	return p
}

// TestShots writes pictures of the page for people to look at, to the directory
// named by MEMTIDE_SHOTS.
func TestShots(t *testing.T) {
	dir := os.Getenv("MEMTIDE_SHOTS")
	if dir == "" {
		t.Skip("MEMTIDE_SHOTS names no directory")
	}
	for _, c := range []struct {
		name          string
		address       string
		width, height int64
		dark          bool
	}{
		{"light", "", 1440, 1000, false},
		{"dark", "", 1440, 1000, true},
		{"offload", "#v=1&p=vgg16-b64&s=greedy&m=60%", 1440, 1000, false},
		{"small", "#v=1&p=resnet101-b32&m=100MiB", 1280, 900, false},
		{"mobile", "", 390, 1900, false},
		{"mobiledark", "", 390, 844, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := New(t)
			p.Viewport(c.width, c.height)
			p.Dark(c.dark)
			p.Navigate(c.address)
			p.Wait(`document.querySelector(".paint canvas") && document.querySelector(".curve-status progress").hidden`, time.Minute)
			time.Sleep(700 * time.Millisecond)
			if err := os.WriteFile(filepath.Join(dir, c.name+".png"), p.Shot(), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Log(p.Console())
		})
	}
}
