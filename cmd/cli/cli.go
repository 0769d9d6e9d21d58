// Package cli has what the commands of this repository share: exit statuses, flags and files in any order, messages
// without control characters for a terminal, aligned tables, and a progress bar.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"memtide/profiles"
	"memtide/wasm/proto"
)

// The exit statuses.
const (
	OK    = 0
	No    = 1 // it cannot be done, or was stopped early
	Usage = 2 // the command line or the input is wrong
)

// grace is how long an interrupted command may take to write what it has.
const grace = 700 * time.Millisecond

// Main runs a command with the arguments of the process and exits with the status that it returns. Ctrl-C and SIGTERM
// cancel the context; a second signal ends the process at once. A command that does not end within grace is ended.
func Main(run func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop()
		time.AfterFunc(grace, func() {
			fmt.Fprintln(os.Stderr, "interrupted")
			os.Exit(No)
		})
	})
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// badInput is an error of the command line or of the input: exit status Usage.
type badInput struct{ text string }

func (e *badInput) Error() string { return e.text }

// Bad returns an error of the command line or of the input.
func Bad(format string, args ...any) error { return &badInput{fmt.Sprintf(format, args...)} }

// Finish writes an error to stderr, after the name of the command, and returns the exit status:
// OK for nil, Usage for an error of Bad and for requests that are refused as such, No for any other error.
func Finish(stderr io.Writer, who string, err error) int {
	if err == nil {
		return OK
	}
	fmt.Fprintf(stderr, "%s: %s\n", who, Printable(err.Error()))
	if _, ok := errors.AsType[*badInput](err); ok {
		return Usage
	}
	if fail, ok := errors.AsType[*proto.Failure](err); ok && fail.Kind == proto.BadRequest {
		return Usage
	}
	return No
}

// ParseMixed parses flags before, between and after the other arguments, which it returns.
func ParseMixed(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		if fs.NArg() == 0 {
			return rest, nil
		}
		// Parse swallows "--", after which everything is an argument.
		if n := len(args) - fs.NArg(); n > 0 && args[n-1] == "--" {
			return append(rest, fs.Args()...), nil
		}
		rest = append(rest, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// Printable returns text with control characters escaped, for a terminal. Names of files,
// arguments and links may contain them.
func Printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || r == '\t' || strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// Quoted lists arguments for a message, with control characters escaped.
func Quoted(args []string) string {
	var out []string
	for _, a := range args {
		out = append(out, strconv.Quote(a))
	}
	return strings.Join(out, " and ")
}

// Table returns what fill writes with aligned columns: cells are separated by tabs, columns by two spaces.
func Table(fill func(w *tabwriter.Writer)) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.DiscardEmptyColumns)
	fill(w)
	w.Flush() // a strings.Builder takes everything
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// Number returns a cell of a table: x with one decimal, or a dash if x is not a positive number.
func Number(x float64) string {
	if x <= 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

// Help returns the text of -h: the usage line, doc, the flags and examples.
func Help(usage, doc string, fs *flag.FlagSet, examples []string) string {
	return Table(func(w *tabwriter.Writer) {
		fmt.Fprintf(w, "%s\n\n%s\n", usage, doc)
		fmt.Fprint(w, "\nFlags\n")
		fs.VisitAll(func(f *flag.Flag) {
			// Descriptions begin with the value's name in back quotes.
			value, text := flag.UnquoteUsage(f)
			text = strings.TrimPrefix(text, value+" ")
			if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" {
				text += " (default " + f.DefValue + ")"
			}
			fmt.Fprintf(w, "  -%s\t%s\n", strings.TrimSpace(f.Name+" "+value), text)
		})
		fmt.Fprint(w, "\nExamples\n")
		for _, x := range examples {
			fmt.Fprintf(w, "  %s\n", x)
		}
	})
}

// Programs that end at the first error handle it once: Try runs the whole program, Check and
// Must end it at a call that fails, and Fail ends it with another error.

// Try runs do up to its first error, which it returns; see profiles.Try.
func Try(do func()) error {
	_, err := profiles.Try(func() any { do(); return nil })
	return err
}

// Within is Try within Try: an error of do ends the outer one, with what before its text.
func Within(what string, do func()) {
	if err := Try(do); err != nil {
		Fail("%s: %w", what, err)
	}
}

// Check ends the function that Try runs with err, if err is not nil.
func Check(err error) { profiles.End(err) }

// Must returns result. If err is not nil, it ends the function that Try runs.
func Must[T any](result T, err error) T {
	Check(err)
	return result
}

// Fail ends the function that Try runs with a new error.
func Fail(format string, args ...any) { Check(fmt.Errorf(format, args...)) }

// Bar is a progress bar on a terminal. Elsewhere it writes nothing, to keep logs and pipes
// clean. It draws at most every barEvery.
type Bar struct {
	w     io.Writer // nil if not a terminal
	mu    sync.Mutex
	line  string      // the current text
	shown string      // the text on the screen
	next  *time.Timer // the next drawing; nil if the screen is up to date
}

const (
	barWidth = 24
	barLine  = 78                     // a line that wraps could not be erased
	barEvery = 100 * time.Millisecond // shorter work shows no bar
)

// NewBar returns a bar on w if that is a terminal.
func NewBar(w io.Writer) *Bar {
	if !isTerminal(w) {
		return &Bar{}
	}
	return &Bar{w: w}
}

// isTerminal reports whether w is a terminal that understands "\r".
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// Set sets the progress; total is 0 if unknown.
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

// Clear removes the bar from the screen.
func (b *Bar) Clear() {
	if b.w == nil {
		return
	}
	b.mu.Lock()
	b.line = ""
	b.mu.Unlock()
	b.draw()
}
