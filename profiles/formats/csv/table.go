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

// Bounds of a row of a table. A reader of CSV takes some 80 bytes for every cell,
// and holds a row whole, which a quote that is not closed makes as long as the
// file.
const (
	mostRow    = 64 << 10 // bytes
	maxColumns = 1000     // also keeps out what only looks like a table of stages
)

// Rows calls visit with the rows of a table that are not blank, as spreadsheets leave some below it, and their lines.
// The table begins on line first of its file; lines that begin with comment are left out. It ends reading where a row
// is too long, has too many cells or cannot be read, and where errs has enough. A row is valid until the next.
func Rows(data []byte, comma, comment rune, first int, errs *parse.Errors, poll *engine.Poll,
	visit func(line int, row []string)) {
	if line, found := check(data, byte(comma)); found != "" {
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
			errs.Fail(explain(err, first))
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

// check looks for a row that is too long or has too many cells. It returns what is wrong with the first one, or "",
// and the number of lines before it.
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

// explain says why a table cannot be read; first is the line where it begins.
func explain(err error, first int) *profiles.FormatError {
	e := &profiles.FormatError{Found: "The table cannot be read", Expected: "Cells with quotes need a closing quote.",
		Remedy: "Remove the quotes, or save the table as CSV again."}
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		e.Line = first - 1 + at.Line
		e.Found = "a cell cannot be read (" + at.Err.Error() + ")"
	}
	return e
}

// Columns ends reading if one of the known names appears twice in a header, or if errs has an error already. It
// returns a warning about the names that are not known.
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
