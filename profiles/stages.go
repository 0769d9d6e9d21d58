package profiles

import (
	"errors"
	"fmt"
	"strings"

	"memtide/engine"
)

// stageColumns are the numbers of a stage, by the names that they have in the
// native format and in CSV.
var stageColumns = []struct {
	name     string
	quantity quantity
	required bool
}{
	{"forward_s", seconds, true},
	{"backward_s", seconds, true},
	{"output_bytes", byteCount, true},
	{"saved_bytes", byteCount, false},
	{"grad_bytes", byteCount, false},
	{"forward_temp_bytes", byteCount, false},
	{"backward_temp_bytes", byteCount, false},
}

// maxStageRows leaves room for the loss.
const maxStageRows = engine.MaxStages - 1

// stageReader builds the stages of one file and counts what it had to assume.
type stageReader struct {
	errs    *errorList
	noSaved int // stages without saved_bytes: the output was taken
	raised  int // stages whose saved set did not hold the output
}

// stagePlace is where a stage stands in its file.
type stagePlace struct {
	line   int    // 0 in JSON
	path   string // empty in CSV
	number int    // 1-based
}

// failAt adds the place to an error and collects it.
func (r *stageReader) failAt(at stagePlace, column, name string, e *FormatError) {
	e.Line, e.Stage, e.Name = at.line, at.number, name
	if at.path != "" {
		e.Path = at.path + "." + column
	}
	r.errs.add(e)
}

// unsavedColumn is the flag of Stage.Unsaved.
const unsavedColumn = "output_unsaved"

// read builds a stage from its fields; whether its output is unsaved is known. get
// returns the text of a number and whether there is one. A loss has no required
// numbers.
func (r *stageReader) read(at stagePlace, s engine.Stage, isLoss bool, get func(column string) (string, bool)) engine.Stage {
	var v [7]int64
	var have [7]bool
	ok := true
	for i, c := range stageColumns {
		text, present := get(c.name)
		if !present {
			if c.required && !isLoss {
				ok = false
				r.failAt(at, c.name, s.Name, &FormatError{Found: c.name + " is missing",
					Expected: "Every stage needs forward_s, backward_s and output_bytes.",
					Remedy:   "Add the number, in " + c.quantity.unit + "; 0 is allowed."})
			}
			continue
		}
		n, e := c.quantity.read(c.name, text)
		if e != nil {
			ok = false
			r.failAt(at, c.name, s.Name, e)
		}
		v[i], have[i] = n, true
	}
	s.Forward, s.Back = nanoseconds(v[0]), nanoseconds(v[1])
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
		r.raised++
	}
	return s
}

// warnings tells what was assumed, for people.
func (r *stageReader) warnings(stages int) (list []string) {
	if r.noSaved > 0 {
		list = append(list, fmt.Sprintf("%s of %d had no saved_bytes: the size of the output was taken. "+
			"Most layers save more, so the memory shown is too small.", count(r.noSaved, "stage"), stages))
	}
	if r.raised > 0 {
		list = append(list, fmt.Sprintf("In %s, saved_bytes was smaller than output_bytes, which it contains: it was raised to output_bytes.",
			count(r.raised, "stage")))
	}
	return list
}

// finish makes the chain of a file: it appends a loss that costs nothing if the
// file has none, and checks the whole.
func (r *stageReader) finish(c *engine.Chain, hasLoss bool) error {
	if err := r.errs.err(); err != nil {
		return err
	}
	if n := len(c.Stages); n == 0 || n == 1 && hasLoss {
		return r.errs.fail(emptyChain())
	}
	if !hasLoss && !c.LossGradAllocated {
		c.Stages = append(c.Stages, engine.Stage{Name: lossName})
	}
	if err := c.Validate(); errors.Is(err, engine.ErrRange) {
		return r.errs.fail(outOfRange(err))
	} else if err != nil {
		return r.errs.fail(&FormatError{Found: "The profile cannot be used: " + err.Error(),
			Expected: "The sizes of a training step are expected.", Remedy: "Check the units: sizes are in bytes."})
	}
	return nil
}

// maxSum bounds the sizes of a list of buffers, which nothing schedules, far from
// the end of 64 bits; floats are enough to compare with it.
const maxSum = 1 << 62

// outOfRange is the refusal of a chain or a graph whose numbers are too large.
func outOfRange(err error) *FormatError {
	return &FormatError{Found: "The profile cannot be used: " + err.Error(),
		Expected: "The sizes and times of one training step are expected.",
		Remedy:   "Check the units: sizes are in bytes, and times in what the format says."}
}

// lossName is the name of the last stage of every chain that is read.
const lossName = "loss"

func emptyChain() *FormatError {
	return &FormatError{Found: "There are no stages", Expected: "At least one stage besides the loss is needed.",
		Remedy: "Add a stage with forward_s, backward_s and output_bytes."}
}

func tooManyStages() *FormatError {
	return &FormatError{Found: fmt.Sprintf("There are more than %d stages", maxStageRows),
		Expected: fmt.Sprintf("At most %d are read, the loss included.", engine.MaxStages),
		Remedy:   "Join neighbouring stages."}
}

// stageName is the name of a stage, or a number if it has none.
func stageName(name string, number int) string {
	if name = strings.ToValidUTF8(name, "?"); name != "" {
		return name
	}
	return fmt.Sprintf("stage %d", number)
}
