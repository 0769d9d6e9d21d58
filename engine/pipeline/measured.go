package pipeline

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// readMeasuredCSV reads a table.
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
	for row := 2; ; row++ {
		cells, err := rd.Read()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("it is not CSV: %w", err)
		}
		rank, err := strconv.Atoi(strings.TrimSpace(cells[at["rank"]]))
		start, err2 := timeOf(cells[at["start"]])
		end, err3 := timeOf(cells[at["end"]])
		if err := errors.Join(err, err2, err3); err != nil {
			return nil, fmt.Errorf("row %d: %w", row, err)
		}
		out = append(out, measuredEvent{fmt.Sprintf("row %d", row), strings.TrimSpace(cells[at["pass"]]), rank,
			start, end})
	}
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

// torchKinds are the letters of passes in torch.distributed.pipelining. Its B is a whole backward, and its I is a
// backward of inputs.
var torchKinds = map[string]Kind{"F": Forward, "B": Backward, "I": Inputs, "W": Weights}

// torchIgnored are actions in torch's files that are not passes: messages, and the gathering or reducing of
// parameters.
var torchIgnored = []string{"SEND_F", "RECV_F", "SEND_B", "RECV_B", "UNSHARD", "RESHARD", "REDUCE_GRAD"}

// WriteCSV writes an order in the format of torch.distributed.pipelining (compute_only): a line for each rank, a cell
// for each pass. It returns an error for an order with two paths, with passes that run again or with copies.
func WriteCSV(p *Problem, order [][]Pass) ([]byte, error) {
	if len(p.Micro) > 1 {
		return nil, errors.New("torch's CSV has one path of stages; this schedule has two")
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for r, list := range order {
		var row []string
		for i := 0; i < len(list); i++ {
			cell, err := torchAction(list[i])
			if err != nil {
				return nil, fmt.Errorf("rank %d, place %d: %w", r, i, err)
			}
			if list[i].Joined {
				i++
				other, _ := torchAction(list[i])
				cell = "(" + cell + ";" + other + ")OVERLAP_F_B"
			}
			row = append(row, cell)
		}
		w.Write(row)
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

// torchAction returns a pass in torch's notation, such as 0F3.
func torchAction(x Pass) (string, error) {
	for letter, k := range torchKinds {
		if k == x.Kind {
			return fmt.Sprintf("%d%s%d", x.Stage, letter, x.Micro), nil
		}
	}
	return "", fmt.Errorf("%v cannot be written: torch's CSV has forwards and backwards alone", x)
}

// Imported is the order of a file: one path of stages, and the order of each rank.
type Imported struct {
	Rank    []int          // by stage: its rank
	Micro   int            // number of micro batches
	Order   [][]Pass       // by rank
	Ignored map[string]int // numbers of actions that are not passes, by name
	rows    map[int]int    // by stage: its rank, while the file is read
	passes  int            // number of passes read
}

// ReadCSV reads a file of torch.distributed.pipelining. It skips empty cells and known actions that are not passes.
// An error for any other cell names its row and column, from 1.
func ReadCSV(text []byte) (*Imported, error) {
	in := newImported()
	rd := csv.NewReader(bytes.NewReader(text))
	rd.FieldsPerRecord, rd.TrimLeadingSpace = -1, true
	for row := 0; ; row++ {
		cells, err := rd.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("it is not CSV: %w", err)
		}
		var list []Pass
		for column, cell := range cells {
			got, err := in.cell(strings.TrimSpace(cell))
			if err == nil {
				err = in.place(got, row)
			}
			if err != nil {
				return nil, fmt.Errorf("row %d, column %d: %w", row+1, column+1, err)
			}
			list = append(list, got...)
		}
		in.Order = append(in.Order, list)
	}
	return in, in.finish()
}

func newImported() *Imported { return &Imported{Ignored: map[string]int{}, rows: map[int]int{}} }

// place records that passes run on a rank.
func (in *Imported) place(list []Pass, rank int) error {
	for _, x := range list {
		if r, known := in.rows[x.Stage]; known && r != rank {
			return fmt.Errorf("stage %d is on rank %d already, from 0; want every stage on one rank", x.Stage, r)
		}
		in.rows[x.Stage] = rank
		in.Micro = max(in.Micro, x.Micro+1)
	}
	if in.passes += len(list); in.passes > 3*most {
		return fmt.Errorf("more than %d passes", 3*most)
	}
	return nil
}

// finish sets Rank. It returns an error if the stages are not numbered from 0 on without gaps.
func (in *Imported) finish() error {
	for s := range len(in.rows) {
		r, ok := in.rows[s]
		if !ok {
			return fmt.Errorf("there are %d stages, and none is called %d; want numbers from 0 on", len(in.rows), s)
		}
		in.Rank = append(in.Rank, r)
	}
	if len(in.Rank) == 0 {
		return errors.New("the file has no pass; want actions such as 0F3, 2I0, 2W0 or 1B4, in CSV a line for each rank")
	}
	return nil
}

// cell returns the passes of one action: two for a joined pass, none for an action that is not a pass.
func (in *Imported) cell(text string) ([]Pass, error) {
	if text == "" {
		return nil, nil
	}
	if inner, ok := strings.CutSuffix(text, ")OVERLAP_F_B"); ok && strings.HasPrefix(inner, "(") {
		first, second, _ := strings.Cut(inner[1:], ";")
		f, err := readAction(strings.TrimSpace(first))
		a, err2 := readAction(strings.TrimSpace(second))
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		if f.Kind != Forward || a.Kind != Backward {
			return nil, fmt.Errorf("%q joins %v and %v; want a forward and a whole backward", text, f.Kind, a.Kind)
		}
		f.Joined = true
		return []Pass{f, a}, nil
	}
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if name := strings.TrimRight(text[digits:], "0123456789"); slices.Contains(torchIgnored, name) {
		in.Ignored[name]++
		return nil, nil
	}
	x, err := readAction(text)
	return []Pass{x}, err
}

// readAction reads a stage, a letter and a micro batch.
func readAction(text string) (x Pass, err error) {
	i := strings.IndexAny(text, "FBIW")
	if i < 0 {
		return x, fmt.Errorf("%.40q is not an action; want a stage, F, B, I or W, and a micro batch, such as 0F3", text)
	}
	stage, err := strconv.ParseUint(text[:i], 10, 20)
	micro, err2 := strconv.ParseUint(text[i+1:], 10, 20)
	if err != nil || err2 != nil {
		return x, fmt.Errorf("%.40q is not an action; want a stage, F, B, I or W, and a micro batch, such as 0F3, both below %d", text, most)
	}
	return Pass{Kind: torchKinds[text[i:i+1]], Micro: int(micro), Stage: int(stage)}, nil
}

// ChromeTrace returns a step in the trace format of Chrome and Perfetto: a process for each rank, with passes named
// as in torch's files, and with copies on lines of their own. Times are in microseconds.
func (t *Trace) ChromeTrace() []byte {
	type event struct {
		Name  string  `json:"name"`
		Phase string  `json:"ph"`
		Rank  int     `json:"pid"`
		Line  int     `json:"tid"` // 0 passes, 1 copies out, 2 copies back
		Start float64 `json:"ts"`
		Took  float64 `json:"dur"`
	}
	list := []event{}
	for r := range t.Ranks {
		for _, x := range slices.Concat(t.Ranks[r], t.Copies[r]) {
			name, err := torchAction(x.Pass)
			if err != nil {
				name = fmt.Sprintf("%d%s%d", x.Stage, x.Kind.Letter(), x.Micro)
			}
			line := 0
			if x.Kind.copies() {
				line = 1 + int(x.Kind-Out)
			}
			list = append(list, event{name, "X", r, line, float64(x.Start) / 1e3, float64(x.End-x.Start) / 1e3})
		}
	}
	text, err := json.Marshal(map[string]any{"traceEvents": list, "displayTimeUnit": "ms"})
	if err != nil {
		panic("pipeline: " + err.Error()) // numbers are finite
	}
	return text
}
