//go:build !js

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

// bar is a progress bar on a terminal. On anything else it writes nothing: logs
// and pipes should not be filled with it.
type bar struct {
	w     io.Writer // nil: nothing is written
	next  time.Time
	shown bool
}

const (
	barWidth = 24
	barEvery = 50 * time.Millisecond
	barAfter = 200 * time.Millisecond // what takes less needs no bar
	barLine  = 78                     // a line that wraps could not be taken back
)

func newBar(w io.Writer) *bar {
	if !isTerminal(w) {
		w = nil
	}
	return &bar{w: w, next: time.Now().Add(barAfter)}
}

// isTerminal says whether somebody watches w who understands "\r".
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// set shows how far the work is; total 0 is unknown. It writes at most every
// barEvery.
func (b *bar) set(done, total int, text string) {
	now := time.Now()
	if b.w == nil || now.Before(b.next) {
		return
	}
	b.next = now.Add(barEvery)
	b.shown = true
	line := text
	if total > 0 {
		done = min(max(done, 0), total)
		full := int(int64(done) * barWidth / int64(total))
		line = fmt.Sprintf("[%s%s] %d of %d  %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), done, total, text)
	}
	if utf8.RuneCountInString(line) > barLine {
		line = string([]rune(line)[:barLine])
	}
	fmt.Fprintf(b.w, "\r\x1b[K%s", line)
}

// clear takes the bar off the screen.
func (b *bar) clear() {
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
		b.shown = false
	}
}
