package profiles

// errorList collects the errors of one file, and what it may still take.
type errorList struct {
	format string
	list   []*FormatError
	more   int
	budget *Budget
	over   bool // a limit is reached: what follows is not read
}

// newErrors are those of a file of so many bytes, unpacked.
func newErrors(format string, size int) *errorList {
	return &errorList{format: format, budget: fileBudget(size)}
}

// enough says that what follows need not be read: a limit is reached, or there is
// nothing but errors.
func (l *errorList) enough() bool { return l.over || l.more > 1000 }

// stop adds an error behind which nothing is read.
func (l *errorList) stop(e *FormatError) {
	if !l.over {
		l.over = true
		l.list = l.list[:min(len(l.list), MaxErrors-1)] // it is told in any case
		l.add(e)
	}
}

func (l *errorList) add(e *FormatError) {
	if len(l.list) == MaxErrors {
		l.more++
		return
	}
	e.Format = l.format
	l.list = append(l.list, e)
}

// err is nil if nothing was added.
func (l *errorList) err() error {
	switch len(l.list) {
	case 0:
		return nil
	case 1:
		return l.list[0]
	}
	return &FormatErrors{List: l.list, More: l.more}
}

// fail is the error of a file that has just this one.
func (l *errorList) fail(e *FormatError) error {
	l.add(e)
	return l.err()
}
