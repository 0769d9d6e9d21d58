//go:build !js

package papers

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine/whatif"
)

// docsFile returns the text of a page of the documentation.
func docsFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	claimStart = regexp.MustCompile(`(?m)^\d+\. `)
	figures    = regexp.MustCompile(`\d+(?:\.\d+)?`)
	named      = regexp.MustCompile("`([a-z]+-[a-z0-9-]+|pofo)`")
)

// claimsOf returns the claims of an experiment in REPRODUCTIONS.md, each on a line. TestReproductions compares them
// with the command.
func claimsOf(t *testing.T, text, name string) []string {
	t.Helper()
	from, to := block(t, text, name)
	_, list, ok := strings.Cut(text[from:to], "Claims of the paper, and what comes out here\n")
	if !ok {
		t.Fatalf("%s has no claims", name)
	}
	var claims []string
	for _, c := range claimStart.Split(list, -1)[1:] {
		claims = append(claims, strings.Join(strings.Fields(c), " "))
	}
	return claims
}

// reproductionRows returns the rows of a page's table below "## Reproduction", and the names of the experiments
// in the line below the table.
func reproductionRows(t *testing.T, page, text string) (rows [][]string, names []string) {
	t.Helper()
	_, part, ok := strings.Cut(text, "\n## Reproduction\n")
	if !ok {
		t.Fatalf("%s has no section Reproduction", page)
	}
	for line := range strings.Lines(part) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| claim"):
			rows = append(rows, strings.Split(strings.Trim(line, "| "), " | "))
		case strings.HasPrefix(line, "All tables"):
			for _, m := range named.FindAllStringSubmatch(line, -1) {
				names = append(names, m[1])
			}
		}
	}
	return rows, names
}

// The tables of the papers' pages summarize the experiments: every claim has the same verdict, and all figures appear
// in the experiments.
func TestDocsReproductions(t *testing.T) {
	report, err := os.ReadFile(reproductions)
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]verdict{"agrees": agrees, "in part": partly, "does not agree": differs}
	var shown []string
	for _, page := range []string{"paper-000.md", "paper-001.md", "paper-002.md", "paper-003.md", "paper-004.md"} {
		rows, names := reproductionRows(t, page, docsFile(t, page))
		var claims []string
		for _, name := range names {
			claims = append(claims, claimsOf(t, string(report), name)...)
		}
		shown = append(shown, names...)
		if len(rows) != len(claims) || len(rows) == 0 {
			t.Errorf("%s has %d rows of claims; %v have %d", page, len(rows), names, len(claims))
			continue
		}
		for i, row := range rows {
			says, here, ok := strings.Cut(claims[i], " Here: ")
			if len(row) != 3 || !ok {
				t.Errorf("%s: row %q and claim %q; want three cells, and what comes out here", page, row, claims[i])
				continue
			}
			if v := words[row[2]]; v == "" || !strings.HasSuffix(here, "It "+string(v)+".") {
				t.Errorf("%s: %q is said to be %q; the experiment says: %s", page, row[0], row[2], claims[i])
			}
			known := figures.FindAllString(here, -1)
			for _, x := range figures.FindAllString(row[1], -1) {
				if !slices.Contains(known, x) {
					t.Errorf("%s: %q has %s, which the experiment does not: %s\n(%s)", page, row[1], x, here, says)
				}
			}
		}
	}
	for _, x := range experiments() {
		if !slices.Contains(shown, x.name) {
			t.Errorf("no page of the documentation has the table of %s", x.name)
		}
	}
}

// The two pages that define the verdicts have the numbers of the code.
func TestVerdictsAreDefined(t *testing.T) {
	report, err := os.ReadFile(reproductions)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"docs/reproductions.md": docsFile(t, "reproductions.md"),
		"REPRODUCTIONS.md": string(report)} {
		wants := []string{fmt.Sprintf("within %g %% of the paper's", publishedWithin*100),
			fmt.Sprintf("factor of %g", partlyWithin),
			map[float64]string{0.02: "within two points"}[near], "**agrees**", "in part**", "**does not agree**"}
		for _, want := range wants {
			if want == "" || !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
}

// The verdicts on numbers equal to the paper's, and a little above and below.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name string
		got  verdict
		want verdict
	}{
		{"867 for 928", closeTo(867, 928), partly},
		{"1447 for 1440", closeTo(1447, 1440), agrees},
		{"1041 for 343", closeTo(1041, 343), differs},
		{"a third of it", closeTo(1, 3), differs},
		{"a mean of 16 % for 17.2 %", meanOf(0.16, 0.172), agrees},
		{"a mean of 14.3 % for 17.2 %", meanOf(0.143, 0.172), partly},
		{"a loss for 17.2 %", meanOf(-0.01, 0.172), differs},
		{"up to 80 % for 60 %", upTo(0.8, 0.6), agrees},
		{"up to 50 % for 60 %", upTo(0.5, 0.6), partly},
		{"up to 20 % for 60 %", upTo(0.2, 0.6), differs},
	} {
		if c.got != c.want {
			t.Errorf("%s: it %s, want it %s", c.name, c.got, c.want)
		}
	}
}

// The claim about the speed with swapping consists of three numbers, and of the statement that the window keeps
// more speed than LMS.
func TestKeptClaim(t *testing.T) {
	at := func(shares map[int]float64) *swapRow {
		r := &swapRow{name: "row"}
		for _, b := range paperBatches {
			p := swapPoint{BatchPoint: whatif.BatchPoint{Batch: b}}
			if x := shares[b]; x > 0 {
				p.StepTime = time.Duration(float64(b) / x * 1e9)
			}
			r.points = append(r.points, p)
		}
		return r
	}
	for _, c := range []struct {
		name            string
		lms, window, va float64 // shares of the speed that are left, at batches of 928, 928 and 1440
		want            verdict
	}{
		{"the paper's", 0.53, 0.68, 0.55, agrees},
		{"within two points", 0.54, 0.67, 0.56, agrees},
		{"more is left, in the paper's order", 0.6, 0.78, 0.55, partly},
		{"LMS does not train", 0, 0.78, 0, partly},
		{"only VA is right", 0.78, 0.68, 0.55, differs},
	} {
		row := func(batch int, x float64) *swapRow { return at(map[int]float64{64: 0.9, batch: x}) }
		s := &swapped{ref: "net", batches: paperBatches, rows: []*swapRow{
			keepRow: at(map[int]float64{64: 1}), lmsRow: row(928, c.lms), windowRow: row(928, c.window),
			bestFitRow: at(nil), virtualRow: row(1440, c.va), smallRow: at(nil), piecesRow: at(nil),
		}}
		if got := keptClaim([]*swapped{s}); got.verdict != c.want {
			t.Errorf("%s: it %s, want it %s (%s)", c.name, got.verdict, c.want, got.here)
		}
	}
}
