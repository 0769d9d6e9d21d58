package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Bar is a progress bar on a terminal. On anything else it writes nothing: logs
// and pipes should not be filled with it. What is new is drawn a little later, all at
// once.
type Bar struct {
	w     io.Writer // nil if that is no terminal
	mu    sync.Mutex
	line  string      // what should be on the screen
	shown string      // what is
	next  *time.Timer // draws it; nil if nothing new came
}

const (
	barWidth = 24
	barLine  = 78                     // a line that wraps could not be taken back
	barEvery = 100 * time.Millisecond // what takes less is never shown
)

// NewBar returns a bar on w if that is a terminal.
func NewBar(w io.Writer) *Bar {
	if !isTerminal(w) {
		return &Bar{}
	}
	return &Bar{w: w}
}

// isTerminal reports whether somebody watches w who understands "\r".
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// Set says how far the work is; total 0 is unknown.
func (b *Bar) Set(done, total int, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.line = barText(done, total, text)
	if b.w != nil && b.next == nil {
		b.next = time.AfterFunc(barEvery, b.draw)
	}
}

func barText(done, total int, text string) string {
	if total > 0 {
		done = min(max(done, 0), total)
		full := int(int64(done) * barWidth / int64(total))
		text = fmt.Sprintf("[%s%s] %d of %d  %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), done,
			total, text)
	}
	if utf8.RuneCountInString(text) > barLine {
		text = string([]rune(text)[:barLine])
	}
	return strings.TrimRight(text, " ")
}

func (b *Bar) draw() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = nil
	if b.line != b.shown {
		fmt.Fprintf(b.w, "\r\x1b[K%s", b.line)
		b.shown = b.line
	}
}

// Clear takes the bar off the screen.
func (b *Bar) Clear() {
	if b.w == nil {
		return
	}
	b.mu.Lock()
	b.line = ""
	b.mu.Unlock()
	b.draw()
}
