package csv

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// Bounds of a row of a table. A CSV reader takes about 80 bytes for every cell and holds a whole
// row, which an unclosed quote makes as long as the file.
const (
	mostRow    = 64 << 10 // bytes
	maxColumns = 1000     // also excludes files that only look like a table of stages
)

// Rows calls visit with each row of a table and its line. It skips blank rows, which spreadsheets leave at the end, and
// lines that begin with comment. first is the line of the file on which the table begins. Rows ends reading with an
// error if a row is too long, has too many cells or cannot be read, and if errs has enough errors. A row is valid until
// the next one.
func Rows(data []byte, comma, comment rune, first int, errs *parse.Errors, poll *engine.Poll,
	visit func(line int, row []string)) {
	if line, found := check(data, byte(comma), byte(comment)); found != "" {
		errs.Fail(&profiles.FormatError{Line: first + line, Found: found,
			Expected: fmt.Sprintf("Rows of at most %d cells and %d KiB are read.", maxColumns, mostRow>>10),
			Remedy:   "Keep only the columns of the format, and close all quotes."})
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.Comment = comma, comment
	r.FieldsPerRecord, r.ReuseRecord, r.TrimLeadingSpace = -1, true, comma != '\t'
	for {
		profiles.End(poll.Err())
		row, err := r.Read()
		if err == io.EOF {
			return
		}
		if err != nil {
			e := &profiles.FormatError{Found: "The table cannot be read",
				Expected: "Cells with quotes need a closing quote.",
				Remedy:   "Remove the quotes, or save the table as CSV again."}
			if at, ok := errors.AsType[*csv.ParseError](err); ok {
				e.Line = first - 1 + at.Line
				e.Found = "a cell cannot be read (" + at.Err.Error() + ")"
			}
			errs.Fail(e)
		}
		if !slices.ContainsFunc(row, func(cell string) bool { return strings.TrimSpace(cell) != "" }) {
			continue
		}
		if errs.Enough() {
			errs.End()
		}
		line, _ := r.FieldPos(0)
		visit(first-1+line, row)
	}
}

// check looks for a row that is too long or has too many cells. It returns what is wrong with
// the first such row and the number of lines before it, or "". Rows that begin with mark are comments, unless it is 0.
func check(data []byte, comma, mark byte) (line int, found string) {
	lines := 0
	for len(data) > 0 {
		cells, quoted, comment, end := 1, false, mark > 0 && data[0] == mark, len(data)
		for i, c := range data {
			switch {
			case c == '\n':
				lines++
				if !quoted {
					end = i + 1
				}
			case c == '"' && !comment:
				quoted = !quoted
			case c == comma && !quoted && !comment:
				cells++
			}
			switch {
			case i == mostRow && quoted:
				return line, fmt.Sprintf("a row is longer than %d KiB; its last quote is not closed", mostRow>>10)
			case i == mostRow:
				return line, fmt.Sprintf("a row is longer than %d KiB", mostRow>>10)
			case cells > maxColumns:
				return line, fmt.Sprintf("a row has more than %d cells", maxColumns)
			}
			if i+1 == end {
				break
			}
		}
		data, line = data[end:], lines
	}
	return 0, ""
}

// Columns returns a warning about the columns whose names are not known. It ends reading if a
// known name appears twice in the header line, or if errs has an error already.
func Columns(columns, known []string, line int, errs *parse.Errors) (warnings []string) {
	var other []string
	for i, c := range columns {
		switch {
		case !slices.Contains(known, c):
			other = append(other, fmt.Sprintf("%q", profiles.Clip(c)))
		case slices.Index(columns, c) < i:
			errs.Add(&profiles.FormatError{Line: line, Found: "The column " + c + " appears twice",
				Expected: "Every column has its own name.", Remedy: "Remove one of them."})
		}
	}
	errs.End()
	if len(other) > 0 {
		warnings = []string{"Unknown columns were skipped: " + profiles.Clip(strings.Join(other, ", ")) + "."}
	}
	return warnings
}
