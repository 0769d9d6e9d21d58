package pipeline

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// torchKinds are the letters of passes in torch.distributed.pipelining. Its B is a whole backward, and its I is a
// backward of inputs.
var torchKinds = map[string]Kind{"F": Forward, "B": Backward, "I": Inputs, "W": Weights}

// torchIgnored are actions in torch's files that are not passes: messages, and the gathering or reducing of parameters.
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
	rows, err := rd.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("it is not CSV: %w", err)
	}
	for row, cells := range rows {
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
