// Package cli is how the commands of this repository meet whoever types them:
// exit statuses, flags and files in any order, messages that a terminal cannot
// be tricked by, aligned tables, and a bar while something takes long.
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

// grace is how long a command that is interrupted may take to write what it has.
const grace = 700 * time.Millisecond

// Main runs a command with the arguments of the process and ends the process with
// the exit status that it returns. Ctrl-C and SIGTERM cancel the context; a second one
// ends the process at once. A command that goes on all the same is ended after grace.
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

// Finish tells an error on stderr, after the name of the command that has it, and
// returns the exit status: Usage for what Bad made and for requests that are
// refused as such, No for any other error.
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

// ParseMixed parses flags before, between and after the other arguments, which
// it returns.
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

// Printable writes out what a terminal would take for a command, wherever in a
// message it comes from: names of files, arguments, what is in a link.
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

// Quoted lists arguments for a message. What a terminal would take for a command
// is written out.
func Quoted(args []string) string {
	var out []string
	for _, a := range args {
		out = append(out, strconv.Quote(a))
	}
	return strings.Join(out, " and ")
}

// Table aligns what fill writes: cells are separated by tabs, two spaces stand
// between columns.
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

// Help returns the text of -h: the usage line, what a person needs to know beside the
// flags, the flags and examples.
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

// Programs that do one thing after the other, and end at the first error whatever it is,
// say so once: Try is around all of it, Check and Must are at every call that may fail,
// and Fail is what is wrong otherwise.

// Try runs do up to its first error, which it returns; see profiles.Try.
func Try(do func()) error {
	_, err := profiles.Try(func() any { do(); return nil })
	return err
}

// Within runs do within Try; an error of it ends that, with what it was about before it.
func Within(what string, do func()) {
	if err := Try(do); err != nil {
		Fail("%s: %w", what, err)
	}
}

// Check ends what Try runs with an error, if there is one.
func Check(err error) { profiles.End(err) }

// Must returns the result of a call; an error of it ends what Try runs.
func Must[T any](result T, err error) T {
	Check(err)
	return result
}

// Fail ends what Try runs with an error of these words.
func Fail(format string, args ...any) { Check(fmt.Errorf(format, args...)) }

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
