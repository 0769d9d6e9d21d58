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
// and pipes should not be filled with it. It draws at its own pace, so that it
// is up to date even when nothing new comes for a while.
type Bar struct {
	mu    sync.Mutex
	line  string // what should be on the screen
	shown string // what is
	w     io.Writer
	stop  chan struct{} // closed by Clear; nil if nothing is drawn
	ended chan struct{} // closed when nothing is drawn any more
}

const (
	barWidth = 24
	barLine  = 78                     // a line that wraps could not be taken back
	barEvery = 100 * time.Millisecond // what takes less is never shown
)

// NewBar starts a bar on w if that is a terminal.
func NewBar(w io.Writer) *Bar {
	b := &Bar{w: w}
	if isTerminal(w) {
		b.start()
	}
	return b
}

func (b *Bar) start() {
	b.stop, b.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(b.ended)
		tick := time.NewTicker(barEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				b.draw()
			case <-b.stop:
				return
			}
		}
	}()
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
	if b.line != b.shown {
		fmt.Fprintf(b.w, "\r\x1b[K%s", b.line)
		b.shown = b.line
	}
}

// Clear ends the bar and takes it off the screen.
func (b *Bar) Clear() {
	if b.stop == nil {
		return
	}
	close(b.stop)
	<-b.ended
	b.stop, b.line = nil, ""
	b.draw()
}
