package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memtide/cmd/wasmopt/module"
)

// small is a module with one page of memory and two data segments. It was not made by any version of Go.
var small = module.Write([]module.Section{
	{ID: module.Memory, Body: []byte{1, 0, 1}},
	{ID: module.Data, Body: []byte{2, 0, module.OpI32Const, 8, module.OpEnd, 1, 'a', 0, module.OpI32Const, 16,
		module.OpEnd, 1, 'b'}},
})

// TestRewrite checks the messages and the output file of the command for several arguments.
func TestRewrite(t *testing.T) {
	joined := module.Write([]module.Section{
		{ID: module.Memory, Body: []byte{1, 0, 1}},
		{ID: module.Data, Body: []byte{1, 0, module.OpI32Const, 8, module.OpEnd, 9, 'a', 0, 0, 0, 0, 0, 0, 0, 'b'}},
	})
	for _, c := range []struct {
		args string
		want []byte
		says []string
	}{
		{"", joined, []string{
			"made by an unknown version of Go; bytes with gzip:\n",
			"\n  jumps     left out: the program does not say which version of Go made it (its section producers); -go says it\n",
			"\n  segments  ",
			"/out.wasm: 30 bytes, were 28\n",
		}},
		{"-plain", small, []string{"\n  segments  left out: not asked for\n"}},
		{"-segments=false", small, []string{"\n  segments  left out: not asked for\n"}},
		{"-go go1.2", joined, []string{"made by go1.2;",
			"the layout of go1.2 has not been verified, only that of [\""}},
		{"-go go1.26.8", joined, []string{"made by go1.26.8;",
			"lines     left out: the head of the tables of functions (f1 ff ff ff 00 00 01 08) stands in the memory 0 times, want once"}},
	} {
		in, out := filepath.Join(t.TempDir(), "in.wasm"), filepath.Join(t.TempDir(), "out.wasm")
		if err := os.WriteFile(in, small, 0o644); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		if err := rewrite(append(strings.Fields(c.args), in, out), &said); err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		got, err := os.ReadFile(out)
		if err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%s: wrote % x (%v), want % x", c.args, got, err, c.want)
		}
		for _, words := range c.says {
			if !strings.Contains(said.String(), words) {
				t.Errorf("%s: said\n%s\nwant %q in it", c.args, &said, words)
			}
		}
	}
}

// TestRewriteRefuses checks that a file that is not a module, a missing file and wrong flags give an error that
// names them.
func TestRewriteRefuses(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(page, []byte("<html>"), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		page + " out":    page + ": the program is not a module",
		"nowhere out":    "open nowhere:",
		page:             "1 files are named, want one to read and one to write",
		"-jumps=x a b":   `invalid boolean value "x"`,
		"-optimize a b ": "flag provided but not defined: -optimize",
	} {
		err := rewrite(strings.Fields(args), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", args, err, want)
		}
	}
	if _, err := os.Stat("out"); err == nil {
		t.Error("something was written for what was refused")
	}
}
