package export

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"memtide/engine/sim"
)

// executor is the file without a schedule: the schedule stands between two marks.
//
//go:embed executor.py
var executor string

const (
	beginMark = "# -- schedule --\n"
	endMark   = "# -- end of schedule --\n"
)

// lineWidth is the width of the lines of a program in the Python file.
const lineWidth = 100

// Python is a Python file that does the plan's training step on an nn.Sequential
// with PyTorch 1.10 or later. It is an error if the plan is not of a chain, or if
// its transfers are streamed.
func (p *Plan) Python() (string, error) {
	tr, err := p.play()
	if err != nil {
		return "", err
	}
	program, err := p.program(tr)
	if err != nil {
		return "", err
	}
	before, rest, ok := strings.Cut(executor, beginMark)
	_, after, found := strings.Cut(rest, endMark)
	if !ok || !found {
		return "", fmt.Errorf("the executor has lost its marks %q and %q", beginMark, endMark)
	}
	var b strings.Builder
	b.WriteString(before + beginMark)
	p.writeData(&b, tr)
	writeProgram(&b, texts(p.Problem, program))
	b.WriteString(endMark + after)
	return b.String(), nil
}

// writeData writes what the executor checks and tells. What Go quotes in ASCII
// is a string of Python with the same meaning.
func (p *Plan) writeData(b *strings.Builder, tr *sim.Trace) {
	c := p.Problem.Chain.Chain
	quote := strconv.QuoteToASCII
	b.WriteString("SCHEDULE = {\n")
	field := func(name, value string) { fmt.Fprintf(b, "    %q: %s,\n", name, value) }
	number := func(name string, n int64) { field(name, strconv.FormatInt(n, 10)) }
	field("name", quote(strings.ToValidUTF8(p.Name, "?")))
	field("strategy", quote(p.Strategy))
	number("batch", int64(c.Batch))
	number("input_bytes", int64(c.Input))
	number("resident_bytes", int64(c.Resident.Total()))
	number("budget_bytes", int64(p.Problem.Budget))
	number("peak_bytes", int64(tr.Peak))
	number("host_peak_bytes", int64(tr.HostPeak))
	number("step_time_ns", int64(tr.Makespan))
	field("duplex", quote(p.Problem.Device.Duplex.String()))
	b.WriteString("}\nSTAGES = [  # name, bytes of the output, bytes kept for the backward with the output, or True: without it\n")
	for i := range c.Layers() { // the modules of the model
		st, unsaved := &c.Stages[i], ""
		if st.Unsaved {
			unsaved = ", True"
		}
		fmt.Fprintf(b, "    (%s, %d, %d%s),\n", quote(strings.ToValidUTF8(st.Name, "?")), st.Out, st.Saved, unsaved)
	}
	b.WriteString("]\n")
}

func writeProgram(b *strings.Builder, words []string) {
	b.WriteString("PROGRAM = \"\"\"\n")
	column := 0
	for _, w := range words {
		if column > 0 && column+1+len(w) > lineWidth {
			b.WriteByte('\n')
			column = 0
		}
		if column > 0 {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(w)
		column += len(w)
	}
	b.WriteString("\n\"\"\"\n")
}
