//go:build !js

package main

import (
	"strings"
	"testing"

	"memtide/cmd/cli"
)

// A network is taken as what it is: a graph goes to the strategy for graphs, and
// what is only one of the two is not taken for the other.
func TestKind(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string // in either output
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

// A picture leads to a page, and to nothing that a click would run.
func TestBase(t *testing.T) {
	for base, ok := range map[string]bool{"": true, "https://example.org/memtide/": true, "http://localhost:8080/": true, "../memtide/": true, "/x": true, "//example.org/": true,
		"javascript:alert(1)//": false, "JavaScript:alert(1)": false, " javascript:alert(1)": false, "data:text/html,x": false, "file:///etc/": false, "https://a\x1b[2J": false, "java\nscript:x": false} {
		if err := checkBase(base); (err == nil) != ok {
			t.Errorf("-base %q: %v; accepted: want %t", base, err, ok)
		}
	}
}
