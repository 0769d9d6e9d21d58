package tidy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrackedFiles checks that git tracks no file above 500 kB and, outside the data of tests, only text and
// icons: no built program was added by mistake.
func TestTrackedFiles(t *testing.T) {
	list := exec.Command("git", "ls-files", "-z")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Skipf("git ls-files: %v (the files are not a checkout of git)", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		src, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) { // deleted, and not yet committed
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(src) > 500_000 {
			t.Errorf("git tracks %s of %d bytes, want at most 500,000", name, len(src))
		}
		allowed := strings.Contains(name, "/testdata/") || filepath.Ext(name) == ".png"
		if !allowed && bytes.IndexByte(src[:min(len(src), 8000)], 0) >= 0 {
			t.Errorf("git tracks %s, which is not text; want such files only in folders testdata", name)
		}
	}
}
