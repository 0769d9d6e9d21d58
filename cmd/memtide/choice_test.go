package main

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/web/choice"
	"memtide/web/permalink"
)

// TestKind checks that a graph goes to the strategy for graphs unless -as says otherwise, and that a network that
// is only a chain or only a graph is not accepted as the other.
func TestKind(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string // part of the standard output or of the standard error
	}{
		{"solve -budget 100% testdata/graph.json", cli.OK, "(window)"},
		{"solve -budget 100% -as graph testdata/graph.json", cli.OK, "checked"},
		{"solve -budget 100% -as chain testdata/graph.json", cli.Usage, "only be taken as a graph"},
		{"solve -as graph testdata/net.csv", cli.Usage, "only be taken as a chain"},
		{"solve -as tree testdata/net.csv", cli.Usage, "expected chain or graph"},
		{"link -as chain testdata/net.csv", cli.OK, "&d=1."},
	} {
		o := memtide(t, t.Context(), strings.Fields(c.args)...)
		if o.code != c.code || !strings.Contains(o.stdout+o.stderr, c.want) {
			t.Errorf("%s: exit status %d; want %d and %q in\n%s%s", c.args, o.code, c.code, c.want, o.stdout, o.stderr)
		}
	}
}

// TestBase checks that -base accepts addresses of pages and refuses everything that a click could execute.
func TestBase(t *testing.T) {
	for base, ok := range map[string]bool{"": true, "https://example.org/memtide/": true,
		"http://localhost:8080/": true, "../memtide/": true, "/x": true, "//example.org/": true,
		"javascript:alert(1)//": false, "JavaScript:alert(1)": false, " javascript:alert(1)": false,
		"data:text/html,x": false, "file:///etc/": false, "https://a\x1b[2J": false, "java\nscript:x": false} {
		if err := cli.Try(func() { checkBase(base) }); (err == nil) != ok {
			t.Errorf("-base %q: %v; accepted: want %t", base, err, ok)
		}
	}
}

// TestNewField checks that a field that is added to the table of choices becomes a flag with its help text.
func TestNewField(t *testing.T) {
	old, words := choice.Fields, choice.FieldWords
	t.Cleanup(func() { choice.Fields, choice.FieldWords = old, words })
	choice.Fields = func(s *choice.Said) choice.Table {
		return append(old(s), choice.Field{Key: "zz", Value: choice.Name(&s.Transfers)})
	}
	choice.FieldWords = maps.Clone(words)
	choice.FieldWords["zz"] = choice.Words{Flag: "zeds", Help: "`ZZ` what a test adds"}
	if o := memtide(t, t.Context(), "link", "-zeds", "Streamed", "testdata/net.csv"); o.code != cli.OK ||
		!strings.Contains(o.stdout, "&xfer=streamed&") {
		t.Errorf("exit status %d; want 0 and what the flag says in\n%s%s", o.code, o.stdout, o.stderr)
	}
	if o := memtide(t, t.Context(), "link", "-h"); !strings.Contains(o.stdout, "-zeds ZZ") ||
		!strings.Contains(o.stdout, "what a test adds") {
		t.Errorf("the help has no such flag:\n%s", o.stdout)
	}
}

// TestShareOnThePage checks that a budget given in percent is the same number of bytes on the page and here,
// whether a flag or a link gives it.
func TestShareOnThePage(t *testing.T) {
	for _, share := range []string{"95.335%", "99.00001%", "99.999999%"} {
		fragment := "v=1&p=vgg16-b32&s=keepall&m=" + strings.ReplaceAll(share, "%", "%25")
		_, m, notes := permalink.Read(fragment)
		var bytes []engine.Bytes
		for _, args := range [][]string{{"-preset", "vgg16-b32", "-strategy", "rotor", "-budget", share},
			{"-from", fragment, "-strategy", "rotor"}} {
			var got struct {
				Budget  engine.Bytes `json:"budget_bytes"`
				KeepAll struct {
					Peak engine.Bytes `json:"peak_bytes"`
				} `json:"keep_all"`
			}
			o := memtide(t, t.Context(), append([]string{"solve", "-json"}, args...)...)
			if err := json.Unmarshal([]byte(o.stdout), &got); err != nil {
				t.Fatalf("%q: %v\n%s", args, err, o.stderr)
			}
			bytes = append(bytes, got.Budget)
			if page := m.Choice.Budget.Of(got.KeepAll.Peak); page != got.Budget {
				t.Errorf("%s: %d bytes on the page, %d by %q", share, page, got.Budget, args)
			}
		}
		if bytes[0] != bytes[1] || len(notes) > 0 {
			t.Errorf("%s: %v bytes by the flag and by the link, notes %q; want the same", share, bytes, notes)
		}
	}
}
