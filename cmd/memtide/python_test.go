package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestPythonKnowsTheCommands checks that the Python package passes on exactly the commands that exist.
func TestPythonKnowsTheCommands(t *testing.T) {
	text, err := os.ReadFile("../../profiles/python/memtide/command.py")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "COMMANDS = (")
	list, _, _ = strings.Cut(list, ")")
	got := strings.Split(strings.ReplaceAll(list, `"`, ""), ", ")
	want := append(commandNames(), "help")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("COMMANDS of command.py\n got  %v\n want %v", got, want)
	}
}
