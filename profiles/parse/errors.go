// Package parse has what formats share on the way from text to a profile: collected
// errors, exact numbers, and the stages, graphs and buffers that a file
// may describe, with their limits.
//
// Numbers become nanoseconds and bytes from their decimal text, so that no binary
// fraction gets in between; times and sizes round up.
package parse

import "memtide/profiles"

// Errors collects the errors of one file, and what it may still take.
type Errors struct {
	list   []*profiles.FormatError
	more   int
	Budget *profiles.Budget
	Over   bool // a limit is reached: what follows is not read
}

// NewErrors returns an empty list of errors for a file that has size bytes when it is unpacked.
func NewErrors(size int) *Errors {
	return &Errors{Budget: profiles.FileBudget(size)}
}

// Enough reports whether what follows need not be read: a limit is reached, or there is
// nothing but errors.
func (l *Errors) Enough() bool { return l.Over || l.more > 1000 }

// Stop adds an error behind which nothing is read.
func (l *Errors) Stop(e *profiles.FormatError) {
	if !l.Over {
		l.Over = true
		l.list = l.list[:min(len(l.list), profiles.MaxErrors-1)] // it is told in any case
		l.Add(e)
	}
}

// Add collects an error; of more than profiles.MaxErrors only the number is kept.
func (l *Errors) Add(e *profiles.FormatError) {
	if len(l.list) == profiles.MaxErrors {
		l.more++
		return
	}
	l.list = append(l.list, e)
}

// Err is nil if nothing was added.
func (l *Errors) Err() error {
	switch len(l.list) {
	case 0:
		return nil
	case 1:
		return l.list[0]
	}
	return &profiles.FormatErrors{List: l.list, More: l.more}
}

// End ends reading if an error was added.
func (l *Errors) End() { profiles.End(l.Err()) }

// Fail ends reading with one more error.
func (l *Errors) Fail(e *profiles.FormatError) {
	l.Add(e)
	l.End()
}

// FailAt is Fail with an error of a line, if there is one.
func (l *Errors) FailAt(line int, e *profiles.FormatError) {
	if e != nil {
		e.Line = line
		l.Fail(e)
	}
}

// ReadName charges a name and makes it clean.
func (l *Errors) ReadName(line int, name string) string {
	if e := l.Budget.Name("a name", len(name)); e != nil {
		e.Line = line
		l.Stop(e)
		return ""
	}
	return profiles.CleanText(name)
}
