package main

import (
	"strings"
	"testing"

	"memtide/cmd/cli"
)

// TestSides checks that commands take the side that -side names if a link compares two, and that without -side
// they say which one they take.
func TestSides(t *testing.T) {
	const both = "#v=1&p=vgg16-b32&m=95%25&s=sequential&s.segments=4&dev=a100-sxm-40gb&b.s=sequential&b.s.segments=8&b.m=100%25&b.dev=p100-pcie-16gb"
	for _, c := range []struct {
		command, from, side string
		code                int
		stdout, stderr      string
	}{
		{"link", both, "", cli.OK, "&b.s=sequential&b.s.segments=8", ""},
		{"link", both, "a", cli.OK,
			"#v=1&sum=47b9ef&p=vgg16-b32&dev=a100-sxm-40gb&m=95%25&s=sequential&s.segments=4\n", ""},
		{"link", both, "b", cli.OK,
			"#v=1&sum=bda005&p=vgg16-b32&dev=p100-pcie-16gb&m=100%25&s=sequential&s.segments=8\n", ""},
		{"link", "#v=1&p=vgg16-b32&s=greedy&bw=6GBps&b.p=resnet50-b8", "b", cli.OK,
			"#v=1&sum=ba173e&p=resnet50-b8&m=14233MiB&s=greedy&bw=6GBps\n", ""},
		{"solve", both, "", cli.OK, "95 % of keeping everything", "note: the link compares two; this is about A alone"},
		{"solve", both, "a", cli.OK, "95 % of keeping everything", ""},
		{"solve", both, "b", cli.OK, "100 % of keeping everything", ""},
		{"svg", both, "b", cli.OK, "plan may use 3.74 GiB", ""},
		{"solve", "#v=1&p=vgg16-b32", "b", cli.Usage, "", "the link compares nothing"},
		{"solve", "#v=1&p=vgg16-b32&b.from=file", "b", cli.Usage, "", "name the FILE itself"},
		{"solve", both, "c", cli.Usage, "", "expected a or b"},
	} {
		args := []string{c.command, "-from", c.from}
		if c.side != "" {
			args = append(args, "-side", c.side)
		}
		o := memtide(t, t.Context(), args...)
		if o.code != c.code || !strings.Contains(o.stdout, c.stdout) || !strings.Contains(o.stderr, c.stderr) {
			t.Errorf("%q: exit status %d; want %d, %q in\n%s\nand %q in\n%s", args, o.code, c.code, c.stdout,
				o.stdout, c.stderr, o.stderr)
		}
		if strings.Contains(o.stderr, "note: the link compares") != (c.command != "link" && c.from == both &&
			c.side == "") {
			t.Errorf("%q: says on the standard error %q; want the note only where it was not asked for a side", args,
				o.stderr)
		}
	}
	if o := memtide(t, t.Context(), "solve", "-preset", "vgg16-b32", "-side", "b"); o.code != cli.Usage ||
		!strings.Contains(o.stderr, "there is no -from") {
		t.Errorf("-side without -from: exit status %d, %q; want %d and why", o.code, o.stderr, cli.Usage)
	}
}
