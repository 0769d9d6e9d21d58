package profiles

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// FormatError says why content is refused, and where.
type FormatError struct {
	Line  int    // 1-based line of the file; 0 if Path or Stage gives the place
	Path  string // place in JSON, such as stages[2].forward_s; may be empty
	Stage int    // 1-based stage; 0 if the error is not about one
	Name  string // name of the stage, if it has one
	Again int    // number of later places with the same error

	Found    string // what is wrong, without a full stop: "forward_s is -3"
	Expected string // the rule it breaks, a sentence: "Times cannot be negative."
	Remedy   string // what to do about it, a sentence; never empty
}

// At sets the place in JSON and returns e, which may be nil.
func (e *FormatError) At(path string) *FormatError {
	if e != nil {
		e.Path = path
	}
	return e
}

// Where returns the place in words: "Line 14", "Stage 3 (layer1.0) and 7 more". It is empty if the error
// concerns the whole file.
func (e *FormatError) Where() string {
	place := e.first()
	if e.Again > 0 && place != "" {
		place += fmt.Sprintf(" and %d more", e.Again)
	}
	return place
}

// first returns words for the first place that has the error.
func (e *FormatError) first() string {
	switch {
	case e.Line > 0:
		return fmt.Sprintf("Line %d", e.Line)
	case e.Stage > 0 && e.Name != "" && e.Name != StageName("", e.Stage):
		return fmt.Sprintf("Stage %d (%s)", e.Stage, Clip(e.Name))
	case e.Stage > 0:
		return fmt.Sprintf("Stage %d", e.Stage)
	}
	if !strings.ContainsAny(e.Path, ".[") || strings.HasPrefix(e.Found, e.Path) {
		return "" // Found names the key already
	}
	return e.Path
}

// Error returns the place, what was found and what was expected, without the remedy.
func (e *FormatError) Error() string {
	msg := e.Found + ". " + e.Expected
	if w := e.Where(); w != "" {
		return w + ": " + msg
	}
	return msg
}

// FormatErrors holds several errors of one file: the first ones in full, and the number of the
// others. A single error is returned as a plain *FormatError.
type FormatErrors struct {
	List []*FormatError // at least two and at most MaxErrors, in the order of the file
	More int            // number of further errors
}

// MaxErrors is how many errors of one file are kept in full.
const MaxErrors = 5

// Error returns one error per line.
func (e *FormatErrors) Error() string {
	var lines []string
	for _, one := range e.List {
		lines = append(lines, one.Error())
	}
	if e.More > 0 {
		lines = append(lines, "And "+Count(e.More, "more error")+".")
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes errors.As find the first *FormatError.
func (e *FormatErrors) Unwrap() []error {
	all := make([]error, len(e.List))
	for i, one := range e.List {
		all[i] = one
	}
	return all
}

// Problems returns the errors within err, which Decode returned, or nil if err is of another kind.
func Problems(err error) []*FormatError {
	if many, ok := errors.AsType[*FormatErrors](err); ok {
		return many.List
	}
	if one, ok := errors.AsType[*FormatError](err); ok {
		return []*FormatError{one}
	}
	return nil
}

// Clip cleans foreign text and shortens it to 60 characters for a message.
func Clip(s string) string {
	const most = 60
	s = s[:min(len(s), 8*most)] // s may be long, and no more than this is shown
	s = strings.Map(func(r rune) rune {
		if r != utf8.RuneError && cleanRune(r) == utf8.RuneError {
			return ' '
		}
		return cleanRune(r)
	}, strings.ToValidUTF8(s, "?"))
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}

// Count writes a number of things: "1 stage", "3 stages".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// StageName returns the name of a stage, or a number if it has none.
func StageName(name string, number int) string {
	if name = strings.ToValidUTF8(name, "?"); name != "" {
		return name
	}
	return fmt.Sprintf("stage %d", number)
}

// Decoders read one element after the other and usually cannot go on without the earlier ones.
// They therefore end at the first error from any depth with End, a panic that Try recovers,
// instead of returning errors from function to function.

// ended carries an error from End to Try.
type ended struct{ err error }

// Error returns what a program says that ends outside of Try.
func (e ended) Error() string { return e.err.Error() }

// End ends the function that Try runs, and Try returns err. It does nothing if err is nil.
func End(err error) {
	if err != nil {
		panic(ended{err})
	}
}

// Try returns what read returns, or the error with which it called End. End has to be called in
// the goroutine of Try; elsewhere it is an ordinary panic.
func Try[T any](read func() T) (result T, err error) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case ended:
			err = end.err
		default:
			panic(end)
		}
	}()
	return read(), nil
}
