package pipeline

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"memtide/engine"
)

// Measured is a step as a machine ran it.
type Measured struct {
	Imported
	Trace *Trace       // without bytes; time 0 is the first start, and passes of a rank may overlap
	Later int          // number of passes of later steps in the same recording, which are left out
	ended map[Pass]int // index in Trace.Ranks
}

// ReadMeasured reads the times of the passes of a step on each rank: CSV with the columns rank, pass, start and end,
// or traces of Chrome's format as ChromeTrace and PyTorch's profiler write them. Passes are named as in torch's CSV;
// in traces, PP: may come first. The rank of an event in a trace is that of distributedInfo, if each rank has a file,
// or the event's process. If a pass has events of the device, those of the host are left out. Events of one name that
// overlap are one pass. Times are in microseconds; in CSV they may have a unit ("1.5ms").
func ReadMeasured(files ...[]byte) (*Measured, error) {
	m := &Measured{Imported: *newImported(), Trace: &Trace{}, ended: map[Pass]int{}}
	var list []measuredEvent
	for _, text := range files {
		read := readMeasuredCSV
		if start := bytes.TrimLeft(text, " \t\r\n\ufeff"); len(start) > 0 && (start[0] == '{' || start[0] == '[') {
			read = readChromeTrace
		}
		got, err := read(text)
		if err != nil {
			return nil, err
		}
		list = append(list, got...)
	}
	slices.SortStableFunc(list, func(a, b measuredEvent) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	for _, e := range list {
		if err := m.take(e); err != nil {
			return nil, fmt.Errorf("%s: %w", e.where, err)
		}
	}
	if err := m.finish(); err != nil {
		return nil, err
	}
	m.settle()
	return m, nil
}

// measuredEvent is an event of a file: a pass, or two joined ones.
type measuredEvent struct {
	where, name string
	rank        int
	start, end  time.Duration
}

// take adds an event to its rank.
func (m *Measured) take(e measuredEvent) error {
	if e.rank < 0 || e.rank >= most || e.start < 0 || e.end < e.start {
		return fmt.Errorf("%s on rank %d from %v to %v; want a rank and times from 0 on, and an end behind the start",
			e.name, e.rank, e.start, e.end)
	}
	passes, err := m.cell(e.name)
	if err == nil {
		err = m.place(passes, e.rank)
	}
	if err != nil {
		return err
	}
	for len(m.Trace.Ranks) <= e.rank {
		m.Trace.Ranks = append(m.Trace.Ranks, nil)
	}
	list := &m.Trace.Ranks[e.rank]
	for _, x := range passes {
		i, ran := m.ended[x]
		switch {
		case !ran:
			m.ended[x] = len(*list)
			*list = append(*list, Span{x, e.start, e.end})
		case e.start < (*list)[i].End:
			(*list)[i].End = max((*list)[i].End, e.end)
		default:
			m.Later++
		}
	}
	return nil
}

// settle moves the first start to 0 and computes the sums.
func (m *Measured) settle() {
	t := m.Trace
	first := time.Duration(math.MaxInt64)
	for _, spans := range t.Ranks {
		for _, x := range spans {
			first = min(first, x.Start)
		}
	}
	t.Copies, t.Peak = make([][]Span, len(t.Ranks)), make([]engine.Bytes, len(t.Ranks))
	for _, spans := range t.Ranks {
		var busy, until time.Duration
		var order []Pass
		for i := range spans {
			x := &spans[i]
			x.Start, x.End = x.Start-first, x.End-first
			busy += max(0, x.End-max(x.Start, until))
			until = max(until, x.End)
			order = append(order, x.Pass)
		}
		t.Makespan = max(t.Makespan, until)
		t.Busy, t.Held, m.Order = append(t.Busy, busy), append(t.Held, held(order)), append(m.Order, order)
	}
}

// timeOf reads a time in microseconds, or with its unit.
func timeOf(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	d, err := time.ParseDuration(text + "us")
	if err != nil {
		d, err = time.ParseDuration(text)
	}
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a time; want microseconds, or a number with its unit, such as 1.5ms", text)
	}
	return d, nil
}

func readMeasuredCSV(text []byte) (out []measuredEvent, err error) {
	rd := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	rd.TrimLeadingSpace = true
	head, err := rd.Read()
	at := map[string]int{}
	for i, name := range head {
		at[strings.ToLower(strings.TrimSpace(name))] = i
	}
	for _, name := range []string{"rank", "pass", "start", "end"} {
		if _, ok := at[name]; !ok || err != nil {
			return nil,
				fmt.Errorf("row 1 is %.80q; want the columns rank, pass, start and end, or a trace in Chrome's format",
					strings.Join(head, ","))
		}
	}
	rows, err := rd.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("it is not CSV: %w", err)
	}
	for i, cells := range rows {
		row := i + 2
		rank, err := strconv.Atoi(strings.TrimSpace(cells[at["rank"]]))
		start, err2 := timeOf(cells[at["start"]])
		end, err3 := timeOf(cells[at["end"]])
		if err := errors.Join(err, err2, err3); err != nil {
			return nil, fmt.Errorf("row %d: %w", row, err)
		}
		out = append(out, measuredEvent{fmt.Sprintf("row %d", row), strings.TrimSpace(cells[at["pass"]]), rank,
			start, end})
	}
	return out, nil
}

// chromePass is an event of a trace, with the fields that distinguish passes from other events.
type chromePass struct {
	Name, Cat, Ph string
	PID, TS, Dur  json.RawMessage
}

// chromePasses are the events of a trace that are passes. Other events are dropped while the trace is read.
type chromePasses []chromePass

func (list *chromePasses) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		var e chromePass
		if err := dec.Decode(&e); err != nil {
			return err
		}
		e.Name = strings.TrimPrefix(e.Name, "PP:")
		if got, err := newImported().cell(e.Name); e.Ph == "X" && err == nil && len(got) > 0 {
			*list = append(*list, e)
		}
	}
	return nil
}

// readChromeTrace reads the passes of a trace.
func readChromeTrace(text []byte) (out []measuredEvent, err error) {
	var file struct {
		TraceEvents     chromePasses
		DistributedInfo *struct{ Rank int }
	}
	if text = bytes.TrimLeft(text, " \t\r\n\ufeff"); text[0] == '[' {
		err = json.Unmarshal(text, &file.TraceEvents)
	} else {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("it is no trace in Chrome's format: %w", err)
	}
	const device = "gpu_user_annotation" // of PyTorch's profiler
	onDevice := map[string]bool{}
	for _, e := range file.TraceEvents {
		onDevice[e.Name] = onDevice[e.Name] || e.Cat == device
	}
	for _, e := range file.TraceEvents {
		if onDevice[e.Name] && e.Cat != device {
			continue
		}
		start, err := timeOf(string(e.TS))
		took, err2 := timeOf(string(e.Dur))
		rank, err3 := 0, error(nil)
		if file.DistributedInfo != nil {
			rank = file.DistributedInfo.Rank
		} else if rank, err3 = strconv.Atoi(string(e.PID)); err3 != nil {
			err3 = fmt.Errorf("its process is %.40q; want the number of a rank, or distributedInfo with one", e.PID)
		}
		if err := errors.Join(err, err2, err3); err != nil {
			return nil, fmt.Errorf("event %s: %w", e.Name, err)
		}
		out = append(out, measuredEvent{"event " + e.Name, e.Name, rank, start, start + took})
	}
	return out, nil
}
