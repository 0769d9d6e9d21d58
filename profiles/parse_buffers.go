package profiles

import (
	"fmt"

	"memtide/engine"
	"memtide/engine/alloc"
)

// maxBuffers is the largest number of buffers that is read: as many as there can
// be in a snapshot of maxTrace events.
const maxBuffers = 2 << 20

// bufferReader builds the buffers of a file, row by row.
type bufferReader struct {
	buffers []alloc.Buffer
	addr    []engine.Bytes // alloc.NoAddr where there is none
	took    []engine.Bytes // 0 where there is none
	forever []bool         // without an end
	last    int            // the latest moment
	total   float64
	errs    *errorList
}

func tooManyBuffers() *FormatError {
	return &FormatError{Path: "buffers", Found: fmt.Sprintf("There are more than %d buffers", maxBuffers),
		Expected: "Larger instances are not read.", Remedy: "Keep the buffers of one training step."}
}

// bufferRoom is what a row takes: itself, its request and its release, in lists
// that grow.
const bufferRoom = 150

// add takes over a row.
func (r *bufferReader) add(b alloc.Buffer, forever bool, addr, took engine.Bytes) {
	if e := r.errs.budget.Memory(count(len(r.buffers)+1, "buffer"), bufferRoom); e != nil {
		r.errs.stop(e)
		return
	}
	r.last = max(r.last, b.Start, b.End)
	r.total += float64(max(b.Bytes, took))
	r.buffers, r.forever = append(r.buffers, b), append(r.forever, forever)
	r.addr, r.took = append(r.addr, addr), append(r.took, took)
}

// requests orders what was read. Buffers without an end outlive all events.
func (r *bufferReader) requests(m *Memory) error {
	if len(r.buffers) == 0 {
		return r.errs.fail(&FormatError{Path: "buffers", Found: "There are no buffers", Expected: "At least one buffer is expected.",
			Remedy: "Add a buffer with lower, upper and size."})
	}
	if r.total > maxSum {
		return r.errs.fail(&FormatError{Path: "buffers", Found: fmt.Sprintf("The sizes add up to %.3g bytes", r.total),
			Expected: "The sizes of one training step are expected.", Remedy: "Check the units: sizes are in bytes."})
	}
	without := 0
	for i := range r.buffers {
		if r.forever[i] {
			r.buffers[i].End = r.last + 1
			without++
		}
	}
	q, err := alloc.FromLives(r.buffers)
	if err != nil {
		return r.errs.fail(&FormatError{Path: "buffers", Found: "The buffers cannot be used: " + err.Error(),
			Expected: "Buffers with a size and a life are expected.", Remedy: "Correct the list of buffers."})
	}
	q.Events = q.Events[:len(q.Events)-without] // the releases after the last moment
	m.Requests = q
	return nil
}
