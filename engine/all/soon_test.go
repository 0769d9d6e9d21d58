//go:build !js

package all_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/enginetest/work"
)

// mostLate is the most work that a strategy may do after its deadline, in units of work. A unit is a loop iteration or
// a call, which takes a few nanoseconds, so this is less than a tenth of a second.
const mostLate = 20_000_000

// TestStopsSoon checks that every strategy, and the search for the smallest pool, stops soon after its deadline. It
// counts work instead of measuring time: it builds itself again from a copy of the engine that counts loop iterations
// and calls, each of which takes one nanosecond of a fake clock. Work within the standard library, such as clearing
// and sorting, is not counted.
func TestStopsSoon(t *testing.T) {
	if os.Getenv("MEMTIDE_COUNTED") != "" {
		stopSoon(t)
		return
	}
	cmd := exec.Command("go", "test", "-vet=off", "-v", "-timeout=30m", "-run=^TestStopsSoon$",
		"-overlay="+counting(t), "memtide/engine/all")
	cmd.Env = append(os.Environ(), "MEMTIDE_COUNTED=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %v\n%s", cmd, err, out)
	}
	t.Logf("%s", out)
}

func stopSoon(t *testing.T) {
	var many []alloc.Buffer
	for i := range 3000 {
		many = append(many, alloc.Buffer{Bytes: engine.Bytes(1 + i*7919%1000), Start: i, End: i + 1 + i*104729%97})
	}
	requests, err := alloc.FromLives(many)
	if err != nil {
		t.Fatal(err)
	}
	problems := longProblems()
	for _, given := range []time.Duration{0, 5_000_000} {
		see := func(what string, do func(context.Context)) int64 {
			late := overrun(t, given, do)
			if late > mostLate {
				t.Errorf("%s with %d units of work: returned after %d more; want at most %d", what, given, late,
					mostLate)
			}
			return late
		}
		for _, s := range engine.Strategies() {
			latest := int64(0)
			for _, p := range problems {
				what := fmt.Sprintf("%s for %d stages within %d bytes", s.Name, p.Chain.Chain.Len(), p.Budget)
				latest = max(latest, see(what, func(ctx context.Context) { solveLimited(t, s, p, ctx) }))
			}
			t.Logf("%s with %d units of work: returned after %d more at the latest", s.Name, given, latest)
		}
		late := see("optimal placement", func(ctx context.Context) {
			if l, err := alloc.Lookup("optimal").Place(requests, engine.NoLimit, nil,
				engine.NewPoll(ctx, nil)); !errors.Is(err, context.DeadlineExceeded) || l == nil {
				t.Errorf("optimal placement with %d units of work: got %v, %v; want a layout and %v", given, l, err,
					context.DeadlineExceeded)
			}
		})
		t.Logf("optimal placement with %d units of work: returned after %d more", given, late)
	}
}

// overrun runs do with a deadline after a number of units of work, and returns how many more units it used.
func overrun(t *testing.T, given time.Duration, do func(context.Context)) (late int64) {
	synctest.Test(t, func(t *testing.T) {
		began, last := work.Units, work.Units
		ctx := context.WithValue(t.Context(), engine.Yield{}, func() {
			time.Sleep(time.Duration(work.Units - last))
			last = work.Units
		})
		ctx, cancel := context.WithTimeout(ctx, given)
		defer cancel()
		do(ctx)
		if late = work.Units - began - int64(given); work.Units == began {
			t.Error("nothing is counted")
		}
	})
	return late
}

// counting writes a copy of the engine that counts its work, and returns the overlay file for the go command.
func counting(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		counted, err := countWork(path, src)
		if err != nil || bytes.Equal(counted, src) {
			return err
		}
		original, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		replace[original] = filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		return os.WriteFile(replace[original], counted, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// countWork writes a count at the start of every function and every loop.
func countWork(path string, src []byte) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var starts []int
	at := func(b *ast.BlockStmt) {
		if b != nil {
			starts = append(starts, fset.Position(b.Lbrace).Offset+1)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			at(n.Body)
		case *ast.FuncLit:
			at(n.Body)
		case *ast.ForStmt:
			at(n.Body)
		case *ast.RangeStmt:
			at(n.Body)
		}
		return true
	})
	if len(starts) == 0 {
		return src, nil
	}
	slices.Sort(starts)
	head := fset.Position(f.Name.End()).Offset
	var out bytes.Buffer
	out.Write(src[:head])
	out.WriteString(`; import work__ "memtide/engine/enginetest/work"`)
	for _, to := range starts {
		out.Write(src[head:to])
		out.WriteString("work__.Units++;")
		head = to
	}
	out.Write(src[head:])
	return out.Bytes(), nil
}
