//go:build !js

package papers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"memtide/cmd/cli"
)

// experiment is an experiment of a paper that is repeated.
type experiment struct {
	name    string
	title   string
	source  string                                // authors, title, doi or arXiv number, figures and section
	theirs  string                                // the setting of the paper
	ours    string                                // what is different here
	measure func(l *lab, refs []string) *findings // an error ends the function that cli.Try runs
}

// findings are the results of an experiment: tables, by network or about all of them, and the paper's claims with
// their verdicts.
type findings struct {
	sections []string
	claims   []claim
}

// each measures every network, and adds its section to the findings.
func each[T interface{ section() string }](f *findings, refs []string, measure func(ref string) T) (all []T) {
	for _, ref := range refs {
		one := measure(ref)
		f.sections = append(f.sections, one.section())
		all = append(all, one)
	}
	return all
}

// claim is a sentence of a paper and the result here.
type claim struct {
	says    string // the claim with its place in the paper
	here    string
	verdict verdict
}

// text runs the experiment on presets and returns its report.
func (x *experiment) text(t *testing.T, refs ...string) (text string) {
	t.Helper()
	// The channel of a context belongs to the bubble in which Done is called first. This call keeps it out of the
	// bubble below.
	ctx := t.Context()
	ctx.Done()
	var err error
	// In a bubble in which nothing sleeps no time passes, so no time limit is reached.
	synctest.Test(t, func(*testing.T) {
		err = cli.Try(func() { text = x.report(x.measure(&lab{ctx: ctx}, refs)) })
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// report returns the whole text of an experiment.
func (x *experiment) report(f *findings) string {
	var b strings.Builder
	b.WriteString(x.title + "\n" + wrap(x.source, 0) + "\n")
	b.WriteString(wrap("In the paper: "+x.theirs, 0) + wrap("Here: "+x.ours, 0))
	for _, s := range f.sections {
		b.WriteString("\n" + s)
	}
	b.WriteString("\nClaims of the paper, and what comes out here\n")
	for i, c := range f.claims {
		fmt.Fprintf(&b, "%d. %s%s   It %s.\n", i+1, strings.TrimLeft(wrap(c.says, 3), " "), wrap("Here: "+c.here, 3),
			c.verdict)
	}
	return b.String()
}

// lineWidth is the largest width of the lines of a report. Tables may be wider.
const lineWidth = 100

// wrap breaks text into indented lines, but not between a number and its unit.
func wrap(text string, indent int) string {
	var b strings.Builder
	used := 0
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		word := words[i]
		if i+1 < len(words) && isUnit(strings.TrimRight(words[i+1], ".,;:)")) {
			i++
			word += " " + words[i]
		}
		n := utf8.RuneCountInString(word)
		switch {
		case used == 0:
			b.WriteString(strings.Repeat(" ", indent))
			used = indent
		case used+1+n > lineWidth:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = indent
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String() + "\n"
}

func isUnit(word string) bool {
	return slices.Contains([]string{"%", "MiB", "GiB", "GB/s"}, word)
}
