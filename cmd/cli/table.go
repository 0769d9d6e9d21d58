package cli

import (
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Table aligns what fill writes: cells are separated by tabs, two spaces stand
// between columns.
func Table(fill func(w *tabwriter.Writer)) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.DiscardEmptyColumns)
	fill(w)
	w.Flush() // a strings.Builder takes everything
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// Number returns a cell of a table: x with this many decimals, or a dash if x is not a positive number.
func Number(x float64, decimals int) string {
	if x <= 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

// Help returns the text of -h: the usage line, what a person needs to know beside the
// flags, the flags and examples.
func Help(usage, doc string, fs *flag.FlagSet, examples []string) string {
	return Table(func(w *tabwriter.Writer) {
		fmt.Fprintf(w, "%s\n\n%s\n", usage, doc)
		fmt.Fprint(w, "\nFlags\n")
		fs.VisitAll(func(f *flag.Flag) {
			// Descriptions begin with the value's name in back quotes.
			value, text := flag.UnquoteUsage(f)
			text = strings.TrimPrefix(text, value+" ")
			if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" {
				text += " (default " + f.DefValue + ")"
			}
			fmt.Fprintf(w, "  -%s\t%s\n", strings.TrimSpace(f.Name+" "+value), text)
		})
		fmt.Fprint(w, "\nExamples\n")
		for _, x := range examples {
			fmt.Fprintf(w, "  %s\n", x)
		}
	})
}
