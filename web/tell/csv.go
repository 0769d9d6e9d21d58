package tell

import "strings"

// CSV is a table as comma-separated values.
func CSV(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		for i, c := range cells {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quoteCSV(c))
		}
		b.WriteByte('\n')
	}
	line(head)
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

// quoteCSV quotes a field, also where it has a # that a reader would take for the
// begin of a comment; what a spreadsheet would take for a formula is marked as text.
func quoteCSV(s string) string {
	// Some readers skip space before a formula, and what a tab was is a space in a name.
	if start := strings.TrimSpace(s); start != "" && strings.ContainsRune("=+-@", rune(start[0])) {
		s = "'" + s
	}
	if strings.ContainsAny(s, ",\"#\r\n") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
