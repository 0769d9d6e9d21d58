package parse

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/profiles"
)

// StageColumns lists the numbers of a stage, under their names in the native format and in CSV.
var StageColumns = []struct {
	Name     string
	quantity Quantity
	Required bool
}{
	{"forward_s", Seconds, true},
	{"backward_s", Seconds, true},
	{"output_bytes", ByteCount, true},
	{"saved_bytes", ByteCount, false},
	{"grad_bytes", ByteCount, false},
	{"forward_temp_bytes", ByteCount, false},
	{"backward_temp_bytes", ByteCount, false},
}

// MaxStageRows is the largest number of stages in a file; it leaves room for the loss.
const MaxStageRows = engine.MaxStages - 1

// StageReader builds the stages of one file and counts what it had to assume.
type StageReader struct {
	Errs    *Errors
	noSaved int // stages without saved_bytes: the size of the output is used
	Raised  int // stages whose saved set did not hold the output
}

// StagePlace is the position of a stage in its file.
type StagePlace struct {
	Line   int    // 0 in JSON
	Path   string // empty in CSV
	Number int    // 1-based
}

// FailAt adds the place to an error and collects it.
func (r *StageReader) FailAt(at StagePlace, column, name string, e *profiles.FormatError) {
	e.Line, e.Stage, e.Name = at.Line, at.Number, name
	if at.Path != "" {
		e.Path = at.Path + "." + column
	}
	r.Errs.Add(e)
}

// UnsavedColumn is the name of the flag for Stage.Unsaved.
const UnsavedColumn = "output_unsaved"

// Read completes stage s, whose name and Unsaved are set, with its numbers. get returns the text
// of a number, and whether the file has it. names are the names that the stage has in the file. The numbers of a loss
// may all be missing.
func (r *StageReader) Read(at StagePlace, s engine.Stage, isLoss bool,
	get func(column string) (string, bool), names iter.Seq[string]) engine.Stage {
	var v [7]int64
	var have [7]bool
	ok := true
	for i, c := range StageColumns {
		text, present := get(c.Name)
		if !present {
			if c.Required && !isLoss {
				ok = false
				r.FailAt(at, c.Name, s.Name, &profiles.FormatError{Found: c.Name + " is missing",
					Expected: "Every stage needs forward_s, backward_s and output_bytes.",
					Remedy:   cmp.Or(Meant(c.Name, names), "Add the number, in "+c.quantity.Unit+"; 0 is allowed.")})
			}
			continue
		}
		n, e := c.quantity.Read(c.Name, text)
		if e != nil {
			ok = false
			r.FailAt(at, c.Name, s.Name, e)
		}
		v[i], have[i] = n, true
	}
	s.Forward, s.Back = time.Duration(v[0]), time.Duration(v[1])
	s.Out, s.Saved, s.Grad = engine.Bytes(v[2]), engine.Bytes(v[3]), engine.Bytes(v[4])
	s.FwdTemp, s.BwdTemp = engine.Bytes(v[5]), engine.Bytes(v[6])
	if !have[4] {
		s.Grad = s.Out
	}
	if s.Unsaved {
		return s // what is saved does not contain the output: it may be nothing
	}
	if !have[3] {
		s.Saved = s.Out
		if !isLoss {
			r.noSaved++
		}
	} else if ok && s.Saved < s.Out {
		s.Saved = s.Out
		r.Raised++
	}
	return s
}

// Meant returns a remedy for want of column: to rename one of names, and where that ends in another unit to convert its
// numbers. Of the names that begin with the same three letters and are no columns themselves it takes the first in
// alphabetical order. It returns "" if there is no such name.
func Meant(column string, names iter.Seq[string]) string {
	like := ""
	for name := range names {
		known := name == UnsavedColumn
		for _, c := range StageColumns {
			known = known || name == c.Name
		}
		if !known && strings.HasPrefix(strings.ToLower(name), column[:3]) && (like == "" || name < like) {
			like = name
		}
	}
	if like == "" {
		return ""
	}
	unit := map[bool]string{true: "bytes", false: "seconds"}[strings.HasSuffix(column, "_bytes")]
	ending := unit + " " + strings.ToLower(like[strings.LastIndexByte(like, '_')+1:])
	if convert := conversions[ending]; convert != "" {
		return fmt.Sprintf(convert+" and name it %s.", profiles.Clip(like), column)
	}
	return fmt.Sprintf("Did you mean %q? If it holds %s, rename it to %s.", profiles.Clip(like), unit, column)
}

// conversions says how a number becomes one of seconds or bytes, by that and the ending of its name.
var conversions = map[string]string{"seconds ms": "Divide %q by 1,000", "seconds us": "Divide %q by 1,000,000",
	"seconds ns": "Divide %q by 1,000,000,000", "bytes kb": "Multiply %q by 1,000", "bytes kib": "Multiply %q by 1,024",
	"bytes mb": "Multiply %q by 1,000,000", "bytes mib": "Multiply %q by 1,048,576"}

// Warnings returns the assumptions that Read made, for people.
func (r *StageReader) Warnings(stages int) (list []string) {
	if r.noSaved > 0 {
		list = append(list, fmt.Sprintf("%s of %d had no saved_bytes: the size of the output was taken. "+
			"Most layers save more, so the memory shown is too small.", profiles.Count(r.noSaved, "stage"), stages))
	}
	if r.Raised > 0 {
		list = append(list, fmt.Sprintf("In %s, saved_bytes was smaller than output_bytes, which it contains: it was raised to output_bytes.",
			profiles.Count(r.Raised, "stage")))
	}
	return list
}

// Finish completes the chain of a file: it appends a loss that costs nothing if the file has no
// loss, and validates the chain.
func (r *StageReader) Finish(c *engine.Chain, hasLoss bool) {
	if !hasLoss && len(c.Stages) > MaxStageRows {
		r.Errs.Fail(TooManyStages())
	}
	r.Errs.End()
	if n := len(c.Stages); n == 0 || n == 1 && hasLoss {
		r.Errs.Fail(EmptyChain())
	}
	if !hasLoss && !c.LossGradAllocated {
		c.Stages = append(c.Stages, engine.Stage{Name: LossName})
	}
	if err := c.Validate(); errors.Is(err, engine.ErrRange) {
		r.Errs.Fail(outOfRange(err))
	} else if err != nil {
		r.Errs.Fail(&profiles.FormatError{Found: "The profile cannot be used: " + err.Error(),
			Expected: "The sizes of a training step are expected.", Remedy: "Check the units: sizes are in bytes."})
	}
}

// MaxSum bounds the total size of a list of buffers, far below the end of 64 bits; a float is
// exact enough to compare with it.
const MaxSum = 1 << 62

// outOfRange returns the error for a chain or a graph whose numbers are too large.
func outOfRange(err error) *profiles.FormatError {
	return &profiles.FormatError{Found: "The profile cannot be used: " + err.Error(),
		Expected: "The sizes and times of one training step are expected.",
		Remedy:   "Check the units: sizes are in bytes, and times in what the format says."}
}

// LossName is the name of the last stage of every chain that is read.
const LossName = "loss"

// EmptyChain returns the error for a chain of nothing but a loss.
func EmptyChain() *profiles.FormatError {
	return &profiles.FormatError{Found: "There are no stages",
		Expected: "At least one stage besides the loss is needed.",
		Remedy:   "Add a stage with forward_s, backward_s and output_bytes."}
}

// TooManyStages returns the error for a chain that is too long.
func TooManyStages() *profiles.FormatError {
	return &profiles.FormatError{Found: fmt.Sprintf("There are more than %d stages", MaxStageRows),
		Expected: fmt.Sprintf("At most %d are read, the loss included.", engine.MaxStages),
		Remedy:   "Join neighbouring stages."}
}

// ModuleKind returns the kind of a stage from the class of its module, or from the file of the
// class. It returns "" for an unknown class.
func ModuleKind(class string) string {
	class = strings.ToLower(class)
	for _, k := range []struct{ has, kind string }{
		{"conv", "conv"}, {"linear", "fc"}, {"pool", "pool"}, {"norm", "norm"}, {"relu", "act"}, {"gelu", "act"},
		{"silu", "act"}, {"activation", "act"}, {"embed", "embed"}, {"lstm", "rnn"}, {"gru", "rnn"}, {"rnn", "rnn"},
	} {
		if strings.Contains(class, k.has) {
			return k.kind
		}
	}
	return ""
}

// MaxGraph is the largest number of values and of operations that is read.
const MaxGraph = 100_000

// CheckGraph refuses a graph whose numbers are above the range of the strategies.
func (l *Errors) CheckGraph(g *engine.Graph) {
	if err := g.Validate(); errors.Is(err, engine.ErrRange) {
		l.Fail(outOfRange(err))
	}
}

// MaxBuffers is the largest number of buffers that is read. A snapshot of maxTrace events has no more.
const MaxBuffers = 2 << 20

// BufferReader builds the buffers of a file, row by row.
type BufferReader struct {
	Buffers []alloc.Buffer
	Addr    []engine.Bytes // alloc.NoAddr for a buffer without an address
	Took    []engine.Bytes // 0 if the file does not say it
	forever []bool         // for each buffer: it has no end
	last    int            // the latest start or end
	total   float64
	Errs    *Errors
}

// TooManyBuffers returns the error for more than MaxBuffers buffers.
func TooManyBuffers() *profiles.FormatError {
	return &profiles.FormatError{Path: "buffers", Found: fmt.Sprintf("There are more than %d buffers", MaxBuffers),
		Expected: "Larger instances are not read.", Remedy: "Keep the buffers of one training step."}
}

// BufferRoom is the memory of one row in bytes: the buffer, its request and its release, in lists that grow.
const BufferRoom = 150

// Add adds a row.
func (r *BufferReader) Add(b alloc.Buffer, forever bool, addr, took engine.Bytes) {
	r.Errs.Fail(r.Errs.Budget.Memory(profiles.Count(len(r.Buffers)+1, "buffer"), BufferRoom))
	r.last = max(r.last, b.Start, b.End)
	r.total += float64(max(b.Bytes, took))
	r.Buffers, r.forever = append(r.Buffers, b), append(r.forever, forever)
	r.Addr, r.Took = append(r.Addr, addr), append(r.Took, took)
}

// Requests sets m.Requests to the buffers that were added. Buffers without an end outlive all events.
func (r *BufferReader) Requests(m *profiles.Memory) {
	if len(r.Buffers) == 0 {
		r.Errs.Fail(&profiles.FormatError{Path: "buffers", Found: "There are no buffers",
			Expected: "At least one buffer is expected.",
			Remedy:   "Add a buffer with lower, upper and size."})
	}
	if r.total > MaxSum {
		r.Errs.Fail(&profiles.FormatError{Path: "buffers",
			Found:    fmt.Sprintf("The sizes add up to %.3g bytes", r.total),
			Expected: "The sizes of one training step are expected.", Remedy: "Check the units: sizes are in bytes."})
	}
	without := 0
	for i := range r.Buffers {
		if r.forever[i] {
			r.Buffers[i].End = r.last + 1
			without++
		}
	}
	q, err := alloc.FromLives(r.Buffers)
	if err != nil {
		r.Errs.Fail(&profiles.FormatError{Path: "buffers", Found: "The buffers cannot be used: " + err.Error(),
			Expected: "Buffers with a size and a life are expected.", Remedy: "Correct the list of buffers."})
	}
	q.Events = q.Events[:len(q.Events)-without] // the releases after the last moment
	m.Requests = q
}
