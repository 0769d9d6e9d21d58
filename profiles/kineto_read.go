package profiles

import (
	"errors"
	"fmt"
	"io"

	"memtide/engine"
)

// What is kept of a trace: columns of the few kinds of events that matter. Most
// events (frames of Python, arrows) are skipped without a copy. Times are
// nanoseconds on the clock of the trace.

// ktOp is an operator of PyTorch, or a range that somebody named.
type ktOp struct {
	start, end int64
	external   int64 // External id, joins kernels; -1 if there is none
	sequence   int64 // joins forward and backward; -1 if there is none
	input      int64 // bytes of the first tensor among the inputs; 0 if unknown
	batch      int32 // first dimension of that tensor
	name       int32
	stack      int32 // call stack, the innermost frame first; 0: none
	thread     int32
	kind       ktDType
	back       bool // part of the backward: it names the thread of its forward
	named      bool // a range that somebody named, no operator
}

// ktKernel is work on the device.
type ktKernel struct {
	start, took           int64
	external, correlation int64
}

// ktLaunch is the call of the CUDA runtime behind a kernel.
type ktLaunch struct {
	start, correlation, external int64
	thread                       int32
}

// ktSpan is the call of a module.
type ktSpan struct {
	start, end   int64
	name, thread int32
}

// ktMemory is an allocation, or a release if bytes are negative.
type ktMemory struct {
	at, bytes, total int64 // total: in use afterwards, -1 if unknown
	device           int32 // type and number
}

// ktDType is the type of a tensor's elements.
type ktDType uint8

// The types whose size is known.
const (
	ktOther ktDType = iota
	ktF32
	ktF16
	ktBF16
	ktF64
	ktI64
	ktI32
	ktByte
)

var ktTypes = map[string]ktDType{
	"float": ktF32, "c10::Half": ktF16, "c10::BFloat16": ktBF16, "double": ktF64, "long int": ktI64, "long": ktI64,
	"int": ktI32, "unsigned char": ktByte, "signed char": ktByte, "bool": ktByte,
}

var ktTypeBytes = [...]int64{ktF32: 4, ktF16: 2, ktBF16: 2, ktF64: 8, ktI64: 8, ktI32: 4, ktByte: 1}

// ktTrace is the content of a trace.
type ktTrace struct {
	ops      []ktOp
	kernels  []ktKernel
	launches []ktLaunch
	spans    []ktSpan
	memory   []ktMemory
	texts    []string
	known    map[string]int32
	textRoom int
	devices  map[int64]string // names
	events   int
	read     int // bytes when charge was called
	kept     int // bytes that are charged

	stream *jsonStream
	errs   *errorList
}

const (
	ktLargest    = 1 << 30 // of a trace that is read piece by piece: what is kept of it takes less than half
	ktMostEvents = 8 << 20
	ktMostText   = 64 << 20 // of different names and call stacks
	ktMostName   = 64 << 10 // of one
	ktRoom       = 2 * 96   // of what is kept of an event, in a list that grows
)

// text numbers a text; 0 is the empty one, and all that has no room.
func (t *ktTrace) text(v []byte) int32 {
	v = v[:min(len(v), ktMostName)]
	if id, ok := t.known[string(v)]; ok {
		return id
	}
	if t.textRoom -= len(v) + 64; t.textRoom < 0 {
		return 0
	}
	s := string(v)
	id := int32(len(t.texts))
	t.texts = append(t.texts, s)
	t.known[s] = id
	return id
}

// readTrace reads all events. total is the size of the content, for progress.
func readTrace(r io.Reader, total int, poll *engine.Poll) (*ktTrace, error) {
	t := &ktTrace{known: map[string]int32{}, textRoom: ktMostText, devices: map[int64]string{},
		stream: newJSONStream(r), errs: newErrors("kineto", 0)}
	t.text(nil)
	err := t.readOuter(total, poll)
	if err == nil && t.stream.next() != 0 {
		err = errors.New("something follows its end")
	}
	if err == nil {
		err = t.stream.failed
	}
	if stop := poll.Err(); stop != nil {
		return nil, stop
	}
	if err == nil {
		return t, nil
	}
	if len(Problems(err)) > 0 {
		return nil, err
	}
	e := &FormatError{Path: fmt.Sprintf("traceEvents[%d]", t.events), Found: "the content cannot be read: " + clip(err.Error()),
		Expected: "A Chrome trace as torch.profiler writes it is expected.", Remedy: "Export the trace again."}
	switch err {
	case errEndsEarly:
		e.Found = fmt.Sprintf("the content ends early, after %s", count(t.events, "event"))
		e.Remedy = "Copy or download the file again: it is cut off."
	case errValueLarge:
		e.Found = "one event is larger than 16 MiB"
		e.Remedy = "Export the trace without call stacks or inputs."
	}
	return nil, t.errs.fail(e)
}

// readOuter reads the object around the events, or the bare list of old tools.
func (t *ktTrace) readOuter(total int, poll *engine.Poll) error {
	s := t.stream
	if s.next() == '[' {
		return t.readEvents(total, poll)
	}
	s.pos++ // the brace
	for {
		if err := poll.Err(); err != nil {
			return err
		}
		switch s.next() {
		case '}':
			s.pos++
			return nil
		case ',':
			s.pos++
			continue
		case '"':
		case 0:
			return s.ended()
		default:
			return fmt.Errorf("a key is expected instead of %q", s.next())
		}
		raw, err := s.value()
		if err != nil {
			return err
		}
		key := string(plainText(raw))
		if s.next() != ':' {
			return fmt.Errorf("no colon follows %q", clip(key))
		}
		s.pos++
		if key == "traceEvents" && s.next() == '[' {
			if err := t.readEvents(total, poll); err != nil {
				return err
			}
			continue
		}
		v, err := s.value()
		if err != nil {
			return err
		}
		if key == "deviceProperties" {
			t.readDevices(v)
		}
	}
}

// readEvents reads the list of events.
func (t *ktTrace) readEvents(total int, poll *engine.Poll) error {
	s := t.stream
	s.pos++ // the bracket
	for {
		if err := poll.Err(); err != nil {
			return err
		}
		switch s.next() {
		case ']':
			s.pos++
			return nil
		case ',':
			s.pos++
			continue
		case 0:
			return s.ended()
		case '{':
		default:
			return fmt.Errorf("an event is expected instead of %q", s.next())
		}
		v, err := s.value()
		if err != nil {
			return err
		}
		if t.events++; t.events > ktMostEvents {
			return t.errs.fail(&FormatError{Found: fmt.Sprintf("there are more than %d events", ktMostEvents),
				Expected: "Larger traces are not read.", Remedy: "Record fewer steps, two or three are enough."})
		}
		if t.events&0xfff == 0 {
			poll.Report(engine.Progress{Done: int(s.offset()), Total: max(total, 0)})
			if e := t.charge(); e != nil {
				return t.errs.fail(e)
			}
		}
		if !t.readEvent(v) {
			return fmt.Errorf("an event begins with %q", clip(string(v[:min(len(v), 60)])))
		}
	}
}

// charge charges what is kept: at most half of what has been read, beside what
// every file may take. Operators with all their fields take a quarter.
func (t *ktTrace) charge() *FormatError {
	read := int(t.stream.offset())
	t.errs.budget.grow((read - t.read) / 2)
	t.read = read
	kept := ktRoom*(len(t.ops)+(len(t.kernels)+len(t.launches)+len(t.spans)+len(t.memory))/2) + ktMostText - t.textRoom
	e := t.errs.budget.Memory(count(t.events, "event"), kept-t.kept)
	t.kept = kept
	if e != nil {
		e.Path = fmt.Sprintf("traceEvents[%d]", t.events)
		e.Remedy = "Record fewer steps, two or three are enough."
	}
	return e
}

// readDevices keeps the names of the devices.
func (t *ktTrace) readDevices(list []byte) {
	for i := 1; i < len(list); i++ {
		if list[i] != '{' {
			continue
		}
		n := t.stream.valueEnd(list[i:])
		if n < 0 {
			return
		}
		var device string
		id := int64(len(t.devices))
		t.stream.eachField(list[i:i+n], func(key, value []byte) {
			switch string(key) {
			case "id":
				if v, ok := integer(value); ok {
					id = v
				}
			case "name":
				device = string(plainText(value))
			}
		})
		if len(t.devices) < 1024 {
			t.devices[id] = device
		}
		i += n - 1
	}
}
