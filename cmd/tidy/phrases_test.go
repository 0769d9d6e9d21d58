package tidy

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// oddPhrases maps phrases that made readers stumble to what to write instead.
var oddPhrases = map[string]string{
	"stands there":      `"appears", "is"`,
	"stands twice":      `"appears twice"`,
	"is no moment":      `"is not a time"`,
	"stretch of time":   `"time range"`,
	"what is too much":  `what it is that is too much: "the extra cells", "what exceeds the budget"`,
	"at its begin":      `"at its start"`,
	"on a link of":      `"at %s to the host and %s back"`,
	"has ended the":     `"stopped before"`,
	"that mean nothing": `"unknown"`,
	"is no list":        `"is not a list"`,
	"or no list":        `"or not a list"`,
	"is no dictionary":  `"is not a dictionary"`,
	"is no chain":       `"is not a chain"`,
	"is no slowdown":    `"is not a slowdown"`,
	"is no share":       `"is not a share"`,
	"second way":        `"second algorithm"`,
	"cannot run lean":   `"cannot keep only its output"`,
	"hangs together":    `"is connected"`,
	"be outwitted":      `"there is a way around"`,
	"what lives at a":   `"the total alive at one moment"`,
	"what else stays":   `"other resident memory"`,
	"loss counted":      `"counting the loss"`,
	"knows no site":     `"without an address"`,
}

// TestPhrases checks that texts for people have no odd phrases. It reads the strings of programs, scripts,
// components, help texts and documents, but not the comments in Go.
func TestPhrases(t *testing.T) {
	read := 0
	tell := func(at, text string) {
		read++
		for _, phrase := range oddIn(text) {
			t.Errorf("%s says %q: write %s", at, phrase, oddPhrases[phrase])
		}
	}
	for _, f := range sources(t) {
		if f.test() {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				tell(f.path+":"+strconv.Itoa(f.fset.Position(lit.Pos()).Line), text)
			}
			return true
		})
	}
	walk(t, func(p string, src []byte) {
		readable := slices.Contains([]string{".vugu", ".html", ".py"}, path.Ext(p)) || path.Ext(p) == ".js" &&
			strings.HasPrefix(p, "web/static/") ||
			path.Ext(p) == ".txt" && strings.HasPrefix(p, "cmd/memtide/") ||
			path.Ext(p) == ".md" && (strings.HasPrefix(p, "docs/") || p == "README.md")
		if readable && !strings.Contains(p, "/testdata/") {
			tell(p, string(src))
		}
	})
	if read < 5000 {
		t.Errorf("read %d texts; want those of the whole repository, thousands", read)
	}
}

// oddComments maps phrases that comments must not have to what to write instead.
var oddComments = map[string]string{
	"is none":      `"there is no ...", or "0 if ...", "nil if ..."`,
	"are none":     `"there are no ...", or "nil if ..."`,
	"is there for": `"is for"`,
	"of no matter": `"does not matter"`,
	"nobody":       `what is not done, and by what: "is not read", "no caller needs"`,
	"so many":      `the name of the parameter that says how many`,
}

// TestCommentPhrases checks that the comments of programs have none of the phrases of oddComments.
func TestCommentPhrases(t *testing.T) {
	read := 0
	for _, f := range sources(t) {
		if f.test() || f.generated() {
			continue
		}
		for _, c := range f.ast.Comments {
			read++
			for _, phrase := range oddInComment(c.Text()) {
				t.Errorf("%s:%d: the comment says %q; write %s", f.path, f.fset.Position(c.Pos()).Line, phrase,
					oddComments[phrase])
			}
		}
	}
	if read < 300 {
		t.Errorf("read %d comments; want those of whole packages, hundreds", read)
	}
}

// TestCommentPhrasesSees checks oddInComment on examples.
func TestCommentPhrasesSees(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"step is the distance, of so many\nunits", "so many"},
		{"There are so many that a map is faster.", ""},
		{"A zero IS NONE; Nobody reads it. It is nil if there is none.", "is none; nobody"},
		{"There is nonetheless a second pass.", ""},
	} {
		if got := strings.Join(oddInComment(c.text), "; "); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// oddInComment returns the phrases of oddComments that text has as whole words, sorted.
func oddInComment(text string) (found []string) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
	text = " " + strings.Join(words, " ") + " "
	for _, plain := range []string{" so many that ", " there is none ", " there are none "} {
		text = strings.ReplaceAll(text, plain, " ")
	}
	for phrase := range oddComments {
		if strings.Contains(text, " "+phrase+" ") {
			found = append(found, phrase)
		}
	}
	slices.Sort(found)
	return found
}

// TestPhrasesSees checks oddIn on examples.
func TestPhrasesSees(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`the id "a" stands there again`, "stands there"},
		{"it takes more than at\n\tits begin", "at its begin"},
		{"Is no list", "is no list"},
		{"This is no longer a list of what stands.", ""},
	} {
		if got := strings.Join(oddIn(c.text), "; "); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// oddIn returns the phrases of oddPhrases that text contains, sorted. Line breaks in text count as spaces.
func oddIn(text string) (found []string) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for phrase := range oddPhrases {
		if strings.Contains(text, phrase) {
			found = append(found, phrase)
		}
	}
	slices.Sort(found)
	return found
}
