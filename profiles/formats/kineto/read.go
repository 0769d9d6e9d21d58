package kineto

import (
	"errors"
	"fmt"
	"io"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/jsonfile"
	"memtide/profiles/parse"
)

// The content of a trace that is kept: columns of the few kinds of events that matter. Most events, such as frames of
// Python and arrows, are skipped without a copy. Times are nanoseconds on the clock of the trace.

// ktOp is an operator of PyTorch, or a range that the author of the program named.
type ktOp struct {
	start, end int64
	external   int64 // External id, which joins kernels; -1 if missing
	sequence   int64 // joins forward and backward; -1 if missing
	input      int64 // bytes of the first tensor among the inputs; 0 if unknown
	batch      int32 // first dimension of that tensor
	name       int32
	stack      int32 // call stack, the innermost frame first; 0 if missing
	thread     int32
	kind       dType
	back       bool // part of the backward: the event has the thread of its forward
	named      bool // a named range, not an operator
}

// kernel is work on the device.
type kernel struct {
	start, took           int64
	external, correlation int64
	communicates          bool
}

// launch is the call of the CUDA runtime that started a kernel.
type launch struct {
	start, correlation, external int64
	thread                       int32
}

// ktSpan is the call of a module.
type ktSpan struct {
	start, end   int64
	name, thread int32
}

// memory is an allocation, or a release if bytes is negative.
type memory struct {
	at, bytes, total int64 // total: in use afterwards, -1 if unknown
	device           int32 // type and number
}

// dType is the type of a tensor's elements: an index of ktTypes, 0 if the size is unknown.
type dType uint8

// ktTypes lists the types with a known size: PyTorch's name, bytes and the word in profiles.
var ktTypes = []struct {
	name  string
	bytes int64
	word  string
}{{}, {"float", 4, "f32"}, {"c10::Half", 2, "f16"}, {"c10::BFloat16", 2, "bf16"}, {"double", 8, ""},
	{"long int", 8, ""}, {"long", 8, ""}, {"int", 4, ""}, {"unsigned char", 1, ""}, {"signed char", 1, ""},
	{"bool", 1, ""}}

func typeOf(name []byte) dType {
	for i := range ktTypes {
		if string(name) == ktTypes[i].name {
			return dType(i)
		}
	}
	return 0
}

// trace is the content of a trace.
type trace struct {
	ops      []ktOp
	kernels  []kernel
	launches []launch
	spans    []ktSpan
	memory   []memory
	texts    []string
	known    map[string]int32
	textRoom int
	devices  map[int64]string // names
	events   int
	plain    int    // operators without a category
	maker    string // the program that wrote a trace of something else; empty if unknown
	process  int32  // of operators with a sequence number; 0 if there is no such operator
	mixed    bool   // operators with a sequence number are of several processes
	rank     string
	read     int // bytes read when charge was last called
	kept     int // bytes charged by then

	stream *jsonfile.Stream
	errs   *parse.Errors
}

const (
	largest    = 1 << 30 // bytes of a trace that is streamed; the part that is kept takes less than half
	mostEvents = 8 << 20
	mostText   = 64 << 20 // bytes of different names and call stacks
	mostName   = 64 << 10 // bytes of one name or call stack
	room       = 2 * 96   // bytes of a kept event, in a list that grows
)

// text returns the index of a text in texts: 0 for the empty text, and for texts above the limit.
func (t *trace) text(v []byte) int32 {
	v = v[:min(len(v), mostName)]
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

// readTrace reads all events. total is the size of the content, for progress; 0 if unknown.
func readTrace(r io.Reader, total int, poll *engine.Poll) *trace {
	t := &trace{known: map[string]int32{}, textRoom: mostText, devices: map[int64]string{},
		stream: jsonfile.NewStream(r), errs: parse.NewErrors(0)}
	t.text(nil)
	_, err := profiles.Try(func() *trace { return t.readAll(total, poll) })
	profiles.End(poll.Err())
	if err == nil {
		return t
	}
	if len(profiles.Problems(err)) > 0 {
		profiles.End(err)
	}
	e := &profiles.FormatError{Path: fmt.Sprintf("traceEvents[%d]", t.events),
		Found:    "the content cannot be read: " + profiles.Clip(err.Error()),
		Expected: "A Chrome trace as torch.profiler writes it is expected.", Remedy: "Export the trace again."}
	switch err {
	case jsonfile.ErrEndsEarly:
		e.Found = fmt.Sprintf("the content ends early, after %s", profiles.Count(t.events, "event"))
		e.Remedy = "Copy or download the file again: it is cut off."
	case jsonfile.ErrValueLarge:
		e.Found = "one event is larger than 16 MiB"
		e.Remedy = "Export the trace without call stacks or inputs."
	}
	t.errs.Fail(e)
	return nil
}

// readAll reads the object around the events, or the bare list of old tools. It ends with an
// error that is not a FormatError if the content is not JSON.
func (t *trace) readAll(total int, poll *engine.Poll) *trace {
	s := t.stream
	if s.Next() == '[' {
		t.readEvents(total, poll)
	} else {
		s.Pos++ // the brace
		for t.more('"', '}', "a key", poll) {
			key := string(jsonfile.PlainText(t.value()))
			if s.Next() != ':' {
				profiles.End(fmt.Errorf("no colon follows %q", profiles.Clip(key)))
			}
			s.Pos++
			if key == "traceEvents" && s.Next() == '[' {
				t.readEvents(total, poll)
				continue
			}
			v := t.value()
			switch key {
			case "deviceProperties":
				t.readDevices(v)
			case "distributedInfo":
				t.readRank(v)
			}
		}
	}
	if s.Next() != 0 {
		profiles.End(errors.New("something follows its end"))
	}
	profiles.End(s.Failed)
	return t
}

// more reports whether another key or item, which starts with begin, precedes the closing
// bracket end. It consumes commas and end.
func (t *trace) more(begin, end byte, what string, poll *engine.Poll) bool {
	s := t.stream
	for {
		profiles.End(poll.Err())
		switch c := s.Next(); c {
		case begin:
			return true
		case end:
			s.Pos++
			return false
		case ',':
			s.Pos++
		case 0:
			profiles.End(s.Ended())
		default:
			profiles.End(fmt.Errorf("%s is expected instead of %q", what, c))
		}
	}
}

// value returns the next value of the content.
func (t *trace) value() []byte {
	v, err := t.stream.Value()
	profiles.End(err)
	return v
}

func (t *trace) readEvents(total int, poll *engine.Poll) {
	s := t.stream
	s.Pos++ // the bracket
	for t.more('{', ']', "an event", poll) {
		v := t.value()
		if t.events++; t.events > mostEvents {
			t.errs.Fail(&profiles.FormatError{Found: fmt.Sprintf("there are more than %d events", mostEvents),
				Expected: "Larger traces are not read.", Remedy: "Record fewer steps, two or three are enough."})
		}
		if t.events&0xfff == 0 {
			poll.Report(engine.Progress{Done: int(s.Offset()), Total: max(total, 0)})
			t.charge()
		}
		if !t.readEvent(v) {
			profiles.End(fmt.Errorf("an event begins with %q", profiles.Clip(string(v[:min(len(v), 60)]))))
		}
	}
}

// charge charges the budget for the kept events: at most half of the bytes read, besides the
// amount that every file may take. Operators with all their fields take a quarter.
func (t *trace) charge() {
	read := int(t.stream.Offset())
	t.errs.Budget.Grow((read - t.read) / 2)
	t.read = read
	kept := room*(len(t.ops)+(len(t.kernels)+len(t.launches)+len(t.spans)+len(t.memory))/2) + mostText - t.textRoom
	e := t.errs.Budget.Memory(profiles.Count(t.events, "event"), kept-t.kept)
	t.kept = kept
	if e != nil {
		e.Path = fmt.Sprintf("traceEvents[%d]", t.events)
		e.Remedy = "Record fewer steps, two or three are enough."
		t.errs.Fail(e)
	}
}

// readRank sets the note on which rank wrote the trace.
func (t *trace) readRank(v []byte) {
	var rank, of int64
	t.integers(v, integer{"rank", &rank}, integer{"world_size", &of})
	if of > 1 {
		t.rank = fmt.Sprintf("This is rank %d of %d (counted from 0).", rank, of)
	}
}

// readDevices reads the names of the devices.
func (t *trace) readDevices(list []byte) {
	s := t.stream
	for item, rest := s.NextItem(list[1:]); item != nil && len(t.devices) < 1024; item, rest = s.NextItem(rest) {
		var device string
		id := int64(len(t.devices))
		s.EachField(item, func(key, value []byte) {
			switch string(key) {
			case "id":
				if v, ok := jsonfile.Integer(value); ok {
					id = v
				}
			case "name":
				device = string(jsonfile.PlainText(value))
			}
		})
		t.devices[id] = device
	}
}
