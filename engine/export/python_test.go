//go:build !js

package export_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"memtide/engine/enginetest/golden"
)

// TestPythonData compares what stands between the marks: the rest is the executor.
func TestPythonData(t *testing.T) {
	text, err := small().Python()
	if err != nil {
		t.Fatal(err)
	}
	_, data, _ := strings.Cut(text, "# -- schedule --\n")
	data, rest, ok := strings.Cut(data, "# -- end of schedule --\n")
	if !ok {
		t.Fatalf("the file has lost its marks:\n%s", text)
	}
	golden.File(t, "testdata/small.data", data)
	if strings.Contains(rest, "SCHEDULE = {") || !strings.Contains(rest, "class Executor:") {
		t.Error("the executor does not follow the schedule")
	}
}

// TestPythonCompiles needs a Python 3, but no PyTorch. What the file does is
// tested by profiles/torchtest.
func TestPythonCompiles(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	text, err := small().Python()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "schedule.py")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, "-m", "py_compile", file).CombinedOutput(); err != nil {
		t.Errorf("python3 -m py_compile: %v\n%s", err, out)
	}
}
