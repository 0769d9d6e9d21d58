package dtr

import (
	"fmt"
	"testing"

	"memtide/profiles/formats/formattest"
)

// TestBombs: see formattest.Bombs.
func TestBombs(t *testing.T) {
	formattest.Bombs(t, "dtr", 2, []formattest.Bomb{
		{Name: "a line of 20 MB", Content: formattest.Content(dtrHead, `{"INSTRUCTION":"CALL", "NAME":"f", "ARGS":[`,
			formattest.Rep(`"x",`, 5<<20), `"x"], "RESULT":[], "TIME":"1"}`+"\n"), Want: "Line 3: the line is "},
		{Name: "100 functions of 20,000 arguments",
			Content: formattest.Content(dtrHead,
				formattest.Rep(`{"INSTRUCTION":"CALL", "NAME":"f", "ARGS":[`+formattest.Rep(`"x",`,
					20_000)+`"x"], "RESULT":["y"], "TIME":"1"}`+"\n"+`{"INSTRUCTION":"MEMORY", "NAME":"y", "MEMORY":"4"}`+"\n"+`{"INSTRUCTION":"ALIAS", "NAME":"y", "ALIAS":"-1"}`+"\n", 100)), Want: "none of 100 functions"},
		{Name: "a million names", Content: formattest.Content(dtrHead,
			formattest.Rows(101_000,
				func(i int) string { return fmt.Sprintf(`{"INSTRUCTION":"COPY", "DST":"c%d", "SRC":"x"}`+"\n", i) })),
			Want: "there are more than 100000 names"},
		{Name: "a name of 2 KB", Content: formattest.Content(dtrHead, `{"INSTRUCTION":"CONSTANT", "NAME":"`,
			formattest.Rep("x", 2000), `"}`+"\n"), Want: "the name of a value is 2000 bytes long"},
	})
}

const dtrHead = `{"INSTRUCTION":"CONSTANT", "NAME":"x"}` + "\n" +
	`{"INSTRUCTION":"MEMORY", "NAME":"x", "MEMORY":"4"}` + "\n"
