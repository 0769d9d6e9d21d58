// Package table reads rows of tables for formats, with bounds on what a row may be.
package table

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strings"

	"memtide/profiles"
)

// Bounds of a row of a table. A reader of CSV takes some 80 bytes for every cell,
// and holds a row whole, which a quote that is not closed makes as long as the
// file.
const (
	mostRow    = 64 << 10 // bytes
	MaxColumns = 1000     // also keeps out what only looks like a table of stages
)

// Rows returns a reader of a table that begins on line first of its file, and why it is not read if a row is too long
// or has too many cells. Explain explains the errors of the reader. A row is valid until the next.
func Rows(data []byte, comma rune, first int) (*csv.Reader, *profiles.FormatError) {
	if line, found := check(data, byte(comma)); found != "" {
		return nil, &profiles.FormatError{Line: first + line, Found: found,
			Expected: fmt.Sprintf("Rows of at most %d cells and %d KiB are read.", MaxColumns, mostRow>>10),
			Remedy:   "Keep only the columns of the format, and close all quotes."}
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = comma
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	return r, nil
}

// check returns what is wrong with the first row that is too long or has too many cells, and how many lines are before
// it. It returns "" if there is none.
func check(data []byte, comma byte) (line int, found string) {
	lines := 0
	for len(data) > 0 {
		cells, quoted, comment, end := 1, false, data[0] == '#', len(data)
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
			case cells > MaxColumns:
				return line, fmt.Sprintf("a row has more than %d cells", MaxColumns)
			}
			if i+1 == end {
				break
			}
		}
		data, line = data[end:], lines
	}
	return 0, ""
}

// Explain says why a table cannot be read; first is the line where it begins.
func Explain(err error, first int) *profiles.FormatError {
	e := &profiles.FormatError{Found: "The table cannot be read", Expected: "Cells with quotes need a closing quote.",
		Remedy: "Remove the quotes, or save the table as CSV again."}
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		e.Line = first - 1 + at.Line
		e.Found = "a cell cannot be read (" + at.Err.Error() + ")"
	}
	return e
}

// IsBlank reports a row with nothing in it, as spreadsheets leave below a table.
func IsBlank(row []string) bool {
	for _, cell := range row {
		if strings.TrimSpace(cell) != "" {
			return false
		}
	}
	return true
}
