package pool

import (
	"strings"

	"memtide/wasm/proto"
)

// crashed returns the failure for the last lines that a dead worker wrote. The phrases are those of
// Go and of the browsers: "fatal error: ...", "panic: ...", V8's "Maximum call stack size
// exceeded", Firefox's "too much recursion".
func crashed(detail string) *proto.Failure {
	f := &proto.Failure{Kind: proto.Crash, Detail: detail}
	switch lower := strings.ToLower(detail); {
	case strings.Contains(lower, "out of memory"):
		f.Text = "This needs more memory than the browser allows."
	case strings.Contains(lower, "call stack"), strings.Contains(lower, "too much recursion"), strings.Contains(lower, "stack overflow"):
		f.Text = "The computation went deeper than the browser's stack allows."
	default:
		f.Text = "The engine stopped unexpectedly: " + firstLine(detail)
	}
	return f
}

// cannotStart returns the failure for a worker that cannot be started. Its text says why, what that
// means and what helps; the first line is a summary. detail is the browser's message.
func cannotStart(detail string) *proto.Failure {
	why := strings.TrimSuffix(strings.TrimPrefix(firstLine(detail), "JavaScript error: "), ".")
	kind, help := proto.NoWorker, "Open the page in a window of its own, without extensions that change it; if the site has a security policy of yours, add worker-src blob: to it. The command line needs no browser: memtide solve."
	if strings.Contains(why, "could not be loaded") {
		kind, help = proto.Crash, "Check the connection and try again. The command line needs no browser: memtide solve."
	}
	return &proto.Failure{Kind: kind, Detail: detail, Text: "The engine cannot start here: " + why + ".\n" +
		"Schedules are computed in workers, and the browser starts none for this page.\n" + help}
}

// firstLine returns the line of detail that says why a program ended: the first that begins like a
// Go crash, otherwise the first that is not empty.
func firstLine(detail string) string {
	first := ""
	for line := range strings.Lines(detail) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
		if first == "" {
			first = line
		}
	}
	if first == "" {
		return "it gave no reason"
	}
	return first
}
