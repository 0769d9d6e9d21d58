// Package table reads rows of tables for formats, with bounds on what a row may be.
package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
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

// errRow is why a row is not read.
type errRow struct {
	line  int // of the content, 1-based, where the row begins
	found string
}

func (e *errRow) Error() string { return e.found }

// rowGuard is a table on its way to a reader of CSV. It ends with an *errRow
// before a row that is too long or has too many cells.
type rowGuard struct {
	rest   []byte
	comma  byte
	line   int // of the next row
	passed int // bytes that have been looked at and not been read
	err    error
}

// Rows reads a table, whose errors Explain explains. A row is valid until the next.
func Rows(data []byte, comma rune) *csv.Reader {
	r := csv.NewReader(&rowGuard{rest: data, comma: byte(comma), line: 1})
	r.Comma = comma
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	return r
}

func (g *rowGuard) Read(p []byte) (int, error) {
	if g.passed == 0 && g.err == nil {
		g.err = g.row()
	}
	if g.passed == 0 {
		return 0, g.err
	}
	n := copy(p, g.rest[:g.passed])
	g.rest, g.passed = g.rest[n:], g.passed-n
	return n, nil
}

// row looks at the next row.
func (g *rowGuard) row() error {
	if len(g.rest) == 0 {
		return io.EOF
	}
	begin, cells, quoted := g.line, 1, false
	comment := g.rest[0] == '#'
	for i, c := range g.rest {
		switch {
		case c == '\n':
			g.line++
			if !quoted {
				g.passed = i + 1
				return nil
			}
		case c == '"' && !comment:
			quoted = !quoted
		case c == g.comma && !quoted && !comment:
			cells++
		}
		switch {
		case i == mostRow && quoted:
			return &errRow{begin, fmt.Sprintf("a row is longer than %d KiB; its last quote is not closed", mostRow>>10)}
		case i == mostRow:
			return &errRow{begin, fmt.Sprintf("a row is longer than %d KiB", mostRow>>10)}
		case cells > MaxColumns:
			return &errRow{begin, fmt.Sprintf("a row has more than %d cells", MaxColumns)}
		}
	}
	g.passed = len(g.rest)
	return nil
}

// Explain says why a table cannot be read; first is the line where it begins.
func Explain(err error, first int) *profiles.FormatError {
	if own, ok := errors.AsType[*errRow](err); ok {
		return &profiles.FormatError{Line: first - 1 + own.line, Found: own.found,
			Expected: fmt.Sprintf("Rows of at most %d cells and %d KiB are read.", MaxColumns, mostRow>>10),
			Remedy:   "Keep only the columns of the format, and close all quotes."}
	}
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
