package profiles

import (
	"fmt"
	"testing"
)

// TestBombs: see formattest.Bombs.
func TestBombs_dtr(t *testing.T) {
	runBombs(t, "dtr", 2, []bomb{
		{"a line of 20 MB", content(dtrHead, `{"INSTRUCTION":"CALL", "NAME":"f", "ARGS":[`, rep(`"x",`, 5<<20), `"x"], "RESULT":[], "TIME":"1"}`+"\n"), "Line 3: the line is "},
		{"100 functions of 20,000 arguments", content(dtrHead, rep(`{"INSTRUCTION":"CALL", "NAME":"f", "ARGS":[`+rep(`"x",`, 20_000)+`"x"], "RESULT":["y"], "TIME":"1"}`+"\n"+`{"INSTRUCTION":"MEMORY", "NAME":"y", "MEMORY":"4"}`+"\n"+`{"INSTRUCTION":"ALIAS", "NAME":"y", "ALIAS":"-1"}`+"\n", 100)), "none of 100 functions"},
		{"a million names", content(dtrHead, rows(101_000, func(i int) string { return fmt.Sprintf(`{"INSTRUCTION":"COPY", "DST":"c%d", "SRC":"x"}`+"\n", i) })), "there are more than 100000 names"},
		{"a name of 2 KB", content(dtrHead, `{"INSTRUCTION":"CONSTANT", "NAME":"`, rep("x", 2000), `"}`+"\n"), "the name of a value is 2000 bytes long"},
	})
}

const dtrHead = `{"INSTRUCTION":"CONSTANT", "NAME":"x"}` + "\n" + `{"INSTRUCTION":"MEMORY", "NAME":"x", "MEMORY":"4"}` + "\n"
