package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// snapshot converts the objects of a snapshot to lifetimes and addresses of buffers. The buffers in use before the
// trace are those in use at the end, with the events undone from the last to the first.
type snapshot struct {
	u       *unpickler
	devices []profiles.DeviceMemory // devices with events or memory
	device  int
	asked   bool   // the caller chose the device
	trace   *trace // events of the device
	final   map[int64]block
	now     []span // reserved ranges at the end

	memory     *profiles.Memory
	history    *profiles.History
	clock      int64           // recorded time of the current event; 0 before the first time
	at         []int64         // recorded address of each buffer
	live       map[int64]int32 // buffers by address
	open       map[int64]int   // open segments by their end address
	ends       *addrSet        // end addresses in open
	spans      []span          // recorded addresses of Memory.Segments
	expandable bool
	levels     []alloc.Level
	held       int64   // bytes reserved now
	total      float64 // bytes of all buffers
	ooms       int     // failed requests
	failed     *alloc.Failure
	wentOn     bool       // there are requests after failed
	emptied    []emptying // by event
	visited    int        // number of segments and blocks
	odd        int        // events that contradict others
	strays     int        // buffers outside all segments
}

// block is memory in use: its requested size and the bytes that it takes.
type block struct {
	size, took int64
	stack      int32
	stream     int16
}

// span is a range of recorded addresses.
type span struct{ at, size int64 }

func (s span) end() int64 { return s.at + s.size }

// maxTrace is how many events that allocate, free or reserve are kept: the newest ones.
const maxTrace = 1 << 20

// newSnapshot reads the values of one device; device is a number or profiles.AnyDevice.
func newSnapshot(u *unpickler, root pval, device int) *snapshot {
	s := &snapshot{u: u, trace: &trace{}, final: map[int64]block{}, live: map[int64]int32{}, open: map[int64]int{},
		history: &profiles.History{}, asked: device != profiles.AnyDevice}
	var traces, segments []pval
	switch root.kind() {
	case pvDict:
		r := u.dicts.at(root.index())
		traces, segments = u.items(r.a), u.items(r.b)
	case pvList: // the result of torch.cuda.memory_snapshot
		segments = u.items(root)
	}
	if len(traces) == 0 && len(segments) == 0 {
		e := &profiles.FormatError{Found: "This pickle holds no memory snapshot, or an empty one",
			Expected: "A dictionary with segments and device_traces is expected.", Remedy: dumpAgain}
		foreign(u.head, e)
		profiles.End(e)
	}
	s.history.Settings = profiles.Clip(profiles.CleanText(u.text(u.conf)))
	traces = traces[:min(len(traces), math.MaxInt16)]
	s.chooseDevice(traces, segments, device)
	if s.device < len(traces) {
		s.trace = cmp.Or(u.traceOf(traces[s.device]), s.trace)
	}
	if s.trace.bad != "" {
		failAt("Event", s.trace.badAt, s.trace.bad)
	}
	s.readSegments(segments)
	return s
}

// record returns v as a dictionary, or nil if it has another type.
func (s *snapshot) record(v pval) *record {
	if v.kind() != pvDict {
		return nil
	}
	return s.u.dicts.at(v.index())
}

// place returns the range of a record, and ends reading if its address or size is invalid.
func (s *snapshot) place(what string, i int, r *record) span {
	if r == nil {
		failAt(what, i, "is not a dictionary")
	}
	if bad := misplaced(r); bad != "" {
		failAt(what, i, bad)
	}
	return span{r.at, r.size}
}

// misplaced returns what is wrong with the address and the size of a record, or "".
func misplaced(r *record) string {
	switch {
	case r.has&hasAt == 0:
		return "has no address"
	case r.has&hasSize == 0:
		return "has no size"
	case r.at < 0 || r.at >= 1<<57:
		return fmt.Sprintf("has the address %d", r.at)
	case r.size < 0 || r.size > parse.MaxNumber:
		return fmt.Sprintf("has the size %d", r.size)
	}
	return ""
}

// failAt ends reading at an item with an invalid address or size.
func failAt(what string, i int, found string) {
	profiles.End(&profiles.FormatError{Found: fmt.Sprintf("%s %d %s", what, i, found),
		Expected: "Addresses and sizes below 2^57 and 2^53 are expected.", Remedy: dumpAgain})
}

// wrong ends reading because the objects contradict each other.
func (s *snapshot) wrong(found string) {
	profiles.End(&profiles.FormatError{Found: "The snapshot makes no sense: " + found,
		Expected: "A memory snapshot as PyTorch writes it is expected.", Remedy: dumpAgain})
}

// visit counts segments and blocks. There cannot be more of them than dictionaries, unless the
// file refers to the same ones repeatedly.
func (s *snapshot) visit() {
	s.visited++
	if s.visited > s.u.dicts.n {
		s.wrong("segments or blocks stand in several places")
	}
	profiles.End(s.u.poll.Err())
}

// readSegments reads the segments and blocks at the end.
func (s *snapshot) readSegments(list []pval) {
	var total float64
	for i, v := range list {
		s.visit()
		r := s.record(v)
		if r != nil && max(0, int(r.device)) != s.device {
			continue
		}
		seg := s.place("Segment", i, r)
		total += float64(seg.size)
		if total > parse.MaxSum {
			s.wrong("the segments add up to more than 2^62 bytes")
		}
		s.now = append(s.now, seg)
		s.expandable = s.expandable || r.has&isExpandable != 0
		at := seg.at
		for k, v := range s.u.items(r.b) {
			s.visit()
			b := s.record(v)
			if b != nil && b.has&hasAt == 0 { // before PyTorch 2.1
				b.at, b.has = at, b.has|hasAt
			}
			where := s.place(fmt.Sprintf("Segment %d: block", i), k, b)
			at = where.end()
			if b.is == stateUsed {
				size := where.size
				if n := b.b; n.kind() == pvInt && n.int() > 0 && n.int() <= size {
					size = n.int()
				}
				s.final[where.at] = block{size, where.size, s.u.stackOf(b.a), r.stream}
			}
		}
	}
	slices.SortStableFunc(s.now, func(a, b span) int { return cmp.Compare(a.at, b.at) })
	kept := s.now[:0] // segments that do not overlap the one before
	for _, seg := range s.now {
		if n := len(kept); n > 0 && seg.at < kept[n-1].end() {
			s.odd++
			continue
		}
		kept = append(kept, seg)
	}
	s.now = kept
}

// before returns the blocks that were in use when the trace began, by address.
func (s *snapshot) before() map[int64]block {
	blocks := maps.Clone(s.final)
	for e := range s.trace.backward() {
		profiles.End(s.u.poll.Err())
		switch e.is {
		case actionAlloc:
			delete(blocks, e.at)
		case actionFree:
			blocks[e.at] = block{size: e.size, stream: e.stream}
		}
	}
	return blocks
}

// play builds the buffers and their addresses from the events.
func (s *snapshot) play() {
	blocks := s.before()
	s.makeRoom(len(blocks))
	for _, at := range slices.Sorted(maps.Keys(blocks)) {
		s.begin(at, blocks[at])
	}
	s.memory.Before = len(s.memory.Requests.Events)
	s.holdBefore()
	s.ends = s.segmentBounds()
	empty := newEmptyings(s)
	var last *event // the last failed request
	for e := range s.trace.all() {
		if e.is == actionOOM {
			last = e
			s.ooms++
		}
	}
	for e := range s.trace.all() {
		profiles.End(s.u.poll.Err())
		s.clock = max(s.clock, e.time)
		empty.see(e)
		switch e.is {
		case actionAlloc:
			if s.failed != nil && !s.wentOn {
				s.wentOn = true // the program continued without the failed request
				s.memory.Requests.Buffers[s.failed.Buffer].End = len(s.memory.Requests.Events)
				s.event(alloc.Event{Buffer: s.failed.Buffer, Free: true})
			}
			s.begin(e.at, block{size: e.size, stack: e.stack, stream: e.stream})
		case actionFree:
			s.release(e.at)
		case actionReserve, actionUnreserve:
			s.reserve(span{e.at, e.size}, e.is == actionReserve)
		case actionOOM:
			if e == last {
				q := s.memory.Requests
				s.failed = &alloc.Failure{Event: len(q.Events), Buffer: len(q.Buffers), Bytes: engine.Bytes(e.size),
					Unreserved: engine.Bytes(e.at)}
				s.request(-1, block{size: e.size, stack: e.stack, stream: e.stream})
			}
		}
	}
	s.finish()
}

// makeRoom allocates the requests, for buffers in use before the trace and for all events.
func (s *snapshot) makeRoom(before int) {
	buffers, events := before, before
	for e := range s.trace.all() {
		switch e.is {
		case actionAlloc, actionOOM:
			buffers, events = buffers+1, events+1
		case actionFree:
			events++
		}
	}
	s.memory = &profiles.Memory{Requests: &alloc.Requests{Buffers: make([]alloc.Buffer, 0, buffers),
		Events: make([]alloc.Event, 0, events)}}
	s.at, s.history.Stack, s.history.Streams = make([]int64, 0, buffers), make([]int32, 0, buffers),
		make([]int16, 0, buffers)
	s.history.Times = make([]int64, 0, events)
}

// begin adds a buffer at an address.
func (s *snapshot) begin(at int64, b block) {
	if _, taken := s.live[at]; taken {
		s.odd++
		s.release(at)
	}
	s.total += float64(b.size)
	s.live[at] = int32(len(s.memory.Requests.Buffers))
	s.request(at, b)
}

// request adds the request for a buffer; at is its address, or -1 if the request failed.
func (s *snapshot) request(at int64, b block) {
	q, h := s.memory.Requests, s.history
	q.Buffers = append(q.Buffers, alloc.Buffer{Name: s.u.stacks.name(b.stack), Bytes: engine.Bytes(b.size),
		Kind: sim.Activation, Start: len(q.Events), End: math.MaxInt})
	s.event(alloc.Event{Buffer: len(q.Buffers) - 1})
	s.at = append(s.at, at)
	h.Stack, h.Streams = append(h.Stack, b.stack), append(h.Streams, b.stream)
}

// release ends the buffer at an address.
func (s *snapshot) release(at int64) {
	r := s.memory.Requests
	id, ok := s.live[at]
	if !ok {
		s.odd++
		return
	}
	delete(s.live, at)
	r.Buffers[id].End = len(r.Events)
	s.event(alloc.Event{Buffer: int(id), Free: true})
}

// event adds an event at the current time.
func (s *snapshot) event(e alloc.Event) {
	s.memory.Requests.Events = append(s.memory.Requests.Events, e)
	s.history.Times = append(s.history.Times, s.clock)
}

// finishHistory completes the history. Its times start at 0.
func (s *snapshot) finishHistory() {
	h := s.history
	h.Device, h.Devices, h.Stacks, h.Expandable = s.device, s.devices, s.u.stacks.Stacks, s.expandable
	h.Emptied, h.Pressed = s.emptyings()
	began := slices.IndexFunc(h.Times, func(t int64) bool { return t > 0 })
	if began < 0 {
		h.Times = nil
		return
	}
	first := h.Times[began]
	for i := range h.Times {
		h.Times[i] = max(0, h.Times[i]-first)
	}
}

// chooseDevice sets the device: the one that the caller chose or else, among those with events or memory in use, one
// with a failed request, then the one with the most reserved memory, then the one with the most events.
func (s *snapshot) chooseDevice(traces, segments []pval, asked int) {
	all := map[int]*profiles.DeviceMemory{}
	of := func(d int) *profiles.DeviceMemory {
		if all[d] == nil {
			all[d] = &profiles.DeviceMemory{Device: d}
		}
		return all[d]
	}
	for i, t := range traces {
		if t := s.u.traceOf(t); t != nil {
			m := of(i)
			m.Events, m.Failed = t.count, t.failed
		}
	}
	for _, v := range segments {
		r := s.record(v)
		if r == nil {
			continue
		}
		m := of(max(0, int(r.device)))
		m.Reserved = sum(m.Reserved, r.size)
		for _, v := range s.u.items(r.b) {
			if b := s.record(v); b != nil && b.is == stateUsed {
				m.InUse = sum(m.InUse, b.size)
			}
		}
	}
	for _, d := range slices.Sorted(maps.Keys(all)) {
		s.devices = append(s.devices, *all[d])
	}
	s.takeDevice(asked)
}

func (s *snapshot) takeDevice(asked int) {
	if asked == profiles.AnyDevice {
		if len(s.devices) > 0 {
			s.device = slices.MaxFunc(s.devices, deviceOrder).Device
		}
		return
	}
	var known []string
	for _, d := range s.devices {
		if d.Device == asked {
			s.device = asked
			return
		}
		known = append(known, fmt.Sprint(d.Device))
	}
	profiles.End(&profiles.FormatError{Found: fmt.Sprintf("The snapshot says nothing about device %d", asked),
		Expected: "It covers " + strings.Join(known, ", ") + ".", Remedy: "Choose one of these."})
}

// deviceOrder compares devices; the one to show is the greatest.
func deviceOrder(a, b profiles.DeviceMemory) int {
	rank := func(d profiles.DeviceMemory) int {
		switch {
		case d.Failed && (d.Events > 0 || d.InUse > 0):
			return 3
		case d.Failed:
			return 2
		case d.Events > 0 || d.InUse > 0:
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Reserved, b.Reserved), cmp.Compare(a.Events, b.Events))
}

// sum adds a size that is not checked yet.
func sum(all engine.Bytes, size int64) engine.Bytes {
	return min(all+engine.Bytes(max(0, min(size, parse.MaxNumber))), parse.MaxSum)
}

// deviceWarning returns a warning on which of several devices is shown and what the others hold, or "".
func (s *snapshot) deviceWarning() string {
	if len(s.devices) < 2 {
		return ""
	}
	why, others := "which has the most memory", []string{}
	for _, d := range s.devices {
		switch {
		case d.Device != s.device:
			others = append(others, fmt.Sprintf("device %d has %s reserved and %s", d.Device, d.Reserved.Text(),
				profiles.Count(d.Events, "event")))
		case s.asked:
			why = "as asked for"
		case d.Failed:
			why = "on which a request found no room"
		}
	}
	rest := ""
	if n := len(others) - mostTold; n > 0 {
		others, rest = others[:mostTold], fmt.Sprintf(", and %d more", n)
	}
	return fmt.Sprintf("The snapshot covers %d devices: shown is device %d, %s; %s%s.", len(s.devices), s.device, why,
		strings.Join(others, ", "), rest)
}

// mostTold is how many other devices the warning describes one by one.
const mostTold = 8
