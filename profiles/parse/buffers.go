package parse

import (
	"fmt"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/profiles"
)

// MaxBuffers is the largest number of buffers that is read: as many as there can
// be in a snapshot of maxTrace events.
const MaxBuffers = 2 << 20

// BufferReader builds the buffers of a file, row by row.
type BufferReader struct {
	Buffers []alloc.Buffer
	Addr    []engine.Bytes // alloc.NoAddr where there is none
	Took    []engine.Bytes // 0 where there is none
	forever []bool         // without an end
	last    int            // the latest moment
	total   float64
	Errs    *Errors
}

// TooManyBuffers returns the refusal of more than MaxBuffers buffers.
func TooManyBuffers() *profiles.FormatError {
	return &profiles.FormatError{Path: "buffers", Found: fmt.Sprintf("There are more than %d buffers", MaxBuffers),
		Expected: "Larger instances are not read.", Remedy: "Keep the buffers of one training step."}
}

// BufferRoom is what a row takes: itself, its request and its release, in lists
// that grow.
const BufferRoom = 150

// Add takes over a row.
func (r *BufferReader) Add(b alloc.Buffer, forever bool, addr, took engine.Bytes) {
	if e := r.Errs.Budget.Memory(profiles.Count(len(r.Buffers)+1, "buffer"), BufferRoom); e != nil {
		r.Errs.Stop(e)
		return
	}
	r.last = max(r.last, b.Start, b.End)
	r.total += float64(max(b.Bytes, took))
	r.Buffers, r.forever = append(r.Buffers, b), append(r.forever, forever)
	r.Addr, r.Took = append(r.Addr, addr), append(r.Took, took)
}

// Requests orders what was read. Buffers without an end outlive all events.
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
