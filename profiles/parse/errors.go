// Package parse has what formats share on the way from text to a profile: collected errors,
// exact numbers, and the stages, graphs and buffers of a file, with their limits.
//
// Numbers become nanoseconds and bytes from their decimal text, without a binary fraction in
// between. Times and sizes round up.
package parse

import "memtide/profiles"

// Errors collects the errors of one file, and holds the budget that is left for reading it.
type Errors struct {
	list   []*profiles.FormatError
	more   int // errors that are not in list
	again  int // errors that are counted in those of list
	Budget *profiles.Budget
}

// NewErrors returns an empty list of errors for a file that has size bytes when it is unpacked.
func NewErrors(size int) *Errors { return &Errors{Budget: profiles.FileBudget(size)} }

// Enough reports whether reading may end because there are over 1,000 errors.
func (l *Errors) Enough() bool { return l.more+l.again > 1000 }

// Add collects an error. One that was found before is counted there, and errors after the first profiles.MaxErrors
// are only counted.
func (l *Errors) Add(e *profiles.FormatError) {
	for _, was := range l.list {
		if was.Found == e.Found && was.Expected == e.Expected && was.Remedy == e.Remedy && was.Where() != "" {
			was.Again++
			l.again++
			return
		}
	}
	if len(l.list) == profiles.MaxErrors {
		l.more++
		return
	}
	l.list = append(l.list, e)
}

// AddAt is Add with an error at a line.
func (l *Errors) AddAt(line int, e *profiles.FormatError) {
	e.Line = line
	l.Add(e)
}

// Err returns the collected errors, or nil if there are no errors.
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

// Fail ends reading with one more error, which is always among those that are reported. It does nothing if e is nil.
func (l *Errors) Fail(e *profiles.FormatError) {
	if e != nil {
		l.list = l.list[:min(len(l.list), profiles.MaxErrors-1)]
		l.Add(e)
		l.End()
	}
}

// FailAt is Fail with an error at a line.
func (l *Errors) FailAt(line int, e *profiles.FormatError) {
	if e != nil {
		e.Line = line
	}
	l.Fail(e)
}

// ReadName charges the budget for a name and returns the name without control characters.
func (l *Errors) ReadName(line int, name string) string {
	l.FailAt(line, l.Budget.Name("a name", len(name)))
	return profiles.CleanText(name)
}
