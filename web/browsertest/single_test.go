//go:build !js

package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSingleFile checks that the page in a single file works from a disk: it starts, solves in a worker, draws
// the curve, and opens the link that was written into the file.
func TestSingleFile(t *testing.T) {
	t.Parallel()
	p := New(t)
	page, err := os.ReadFile(filepath.Join(shared.dist, "memtide.html"))
	if err != nil {
		t.Fatal(err)
	}
	const before, after = `<body data-state="solving">`,
		`<body data-state="solving" data-link="v=1&amp;p=vgg16-b32&amp;m=90%25&amp;s=greedy">`
	saved := strings.Replace(string(page), before, after, 1)
	if saved == string(page) {
		t.Fatalf("the page has no %s", before)
	}
	file := filepath.Join(t.TempDir(), "saved.html")
	if err := os.WriteFile(file, []byte(saved), 0o644); err != nil {
		t.Fatal(err)
	}
	p.URL = "file://" + file
	p.Navigate("")
	p.Wait(`document.body.dataset.state === "ready" && document.querySelector("[data-testid=preset]")?.textContent.includes("VGG-16")`)
	if got := p.Text(`[data-testid="verdict"]`); !strings.Contains(got, "checked") {
		t.Errorf("the verdict of the saved page is %q; want one that is checked", got)
	}
	p.Wait(`window.echarts && document.querySelector("[data-testid=tradeoff] canvas, [data-testid=tradeoff] svg")`)
	for _, address := range p.Requests() {
		if strings.HasPrefix(address, "http") {
			t.Errorf("the page asked for %s; want nothing from a network", address)
		}
	}
}
