package profiles

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
)

func init() {
	Register(&Format{
		Name:  "csv",
		Title: "CSV with forward_s, backward_s, output_bytes",
		Doc: `A table of stages with a header line.

The columns are those of the native format: name, kind, forward_s, backward_s,
output_bytes, saved_bytes, grad_bytes, forward_temp_bytes, backward_temp_bytes;
the first three numbers are required. Commas, semicolons or tabs separate them;
decimals have a point. A last row named loss is the loss.

What concerns the whole network stands in comment lines before the header:

	# input_bytes: 19267584

The keys are name, batch, dtype, tool, device, input_bytes, input_grad_bytes,
weights, grads, optimizer and pinned. Other comment lines are skipped.`,
		Extensions: []string{".csv", ".tsv", ".csv.gz"},
		Match:      csvClaims,
		Decode:     decodeCSV,
	})
}

// csvClaims reports whether a head is that of a table of stages.
func csvClaims(head []byte) bool { return csvHeader(head) != nil }

// csvTable is what stands around the rows of a table of stages.
type csvTable struct {
	columns []string // names in lower case
	comma   rune
	notes   []csvNote
	rest    int // offset of the first row
	line    int // its line, 1-based
}

// csvNote is a comment line "# key: value" before the header.
type csvNote struct {
	line       int
	key, value string
}

// csvHeader reads the lines up to the header; nil if the content is no table of
// stages. One known name in the header is enough to claim it, so that a missing
// column can be told by name.
func csvHeader(data []byte) *csvTable {
	t := &csvTable{line: 1}
	for t.rest < len(data) {
		line := data[t.rest:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		t.rest += len(line)
		text := strings.TrimSpace(string(line))
		t.line++
		if comment, ok := strings.CutPrefix(text, "#"); ok {
			if key, value, ok := strings.Cut(comment, ":"); ok && len(t.notes) < MaxNotes {
				t.notes = append(t.notes, csvNote{t.line - 1, strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)})
			}
			continue
		}
		if text != "" {
			return t.readColumns(string(line))
		}
	}
	return nil
}

func (t *csvTable) readColumns(line string) *csvTable {
	// Other formats that begin with a line of text: JSON, and lists of operators.
	if strings.ContainsAny(line[:1], "[{(") || strings.Contains(line, " -- ") {
		return nil
	}
	t.comma = ','
	for _, c := range ";\t" {
		if strings.Count(line, string(c)) > strings.Count(line, string(t.comma)) {
			t.comma = c
		}
	}
	if strings.Count(line, string(t.comma)) >= maxColumns {
		return nil
	}
	known := false
	for _, cell := range strings.Split(line, string(t.comma)) {
		cell = strings.ToLower(strings.Trim(strings.TrimSpace(cell), `"`))
		t.columns = append(t.columns, cell)
		known = known || cell == "forward_s" || cell == "backward_s" || cell == "output_bytes"
	}
	if !known {
		return nil
	}
	return t
}

func decodeCSV(name string, data []byte, poll *engine.Poll) (*Profile, error) {
	errs := newErrors("csv", len(data))
	t := csvHeader(data)
	if t == nil { // the head that Match saw ends within the header
		return nil, errs.fail(&FormatError{Found: "The header line is longer than 64 KiB",
			Expected: fmt.Sprintf("At most %d columns are read.", maxColumns), Remedy: "Keep only the columns of stages."})
	}
	p := &Profile{Name: name, Chain: &engine.Chain{}}
	if err := t.checkColumns(errs, p); err != nil {
		return nil, err
	}
	t.readNotes(errs, p)
	p.Chain.Name, p.Chain.Batch = p.Name, p.Batch

	stages := &stageReader{errs: errs}
	hasLoss, err := t.readRows(data, stages, p.Chain, poll)
	if err != nil {
		return nil, err
	}
	if err := stages.finish(p.Chain, hasLoss); err != nil {
		return nil, err
	}
	p.Warnings = append(p.Warnings, stages.warnings(len(p.Chain.Stages)-1)...)
	return p, nil
}

// checkColumns refuses a header without the required columns, or with one twice.
func (t *csvTable) checkColumns(errs *errorList, p *Profile) error {
	known := []string{"name", "kind", unsavedColumn}
	for _, c := range stageColumns {
		known = append(known, c.name)
		if c.required && !slices.Contains(t.columns, c.name) {
			errs.add(&FormatError{Line: t.line - 1,
				Found:    fmt.Sprintf("The column %s is missing; found are %s", c.name, clip(strings.Join(t.columns, ", "))),
				Expected: "The columns forward_s, backward_s and output_bytes are required.",
				Remedy:   "Add the column, or rename the one that holds these numbers."})
		}
	}
	var other []string
	for i, c := range t.columns {
		switch {
		case !slices.Contains(known, c):
			other = append(other, fmt.Sprintf("%q", clip(c)))
		case slices.Index(t.columns, c) < i:
			errs.add(&FormatError{Line: t.line - 1, Found: "The column " + c + " stands there twice",
				Expected: "Every column has its own name.", Remedy: "Remove one of them."})
		}
	}
	if len(other) > 0 {
		p.Warnings = append(p.Warnings, "Columns that mean nothing here were skipped: "+clip(strings.Join(other, ", "))+".")
	}
	return errs.err()
}

// readNotes takes what concerns the whole network from the comment lines.
func (t *csvTable) readNotes(errs *errorList, p *Profile) {
	c := p.Chain
	sizes := map[string]*engine.Bytes{"input_bytes": &c.Input, "input_grad_bytes": &c.InputGrad,
		"weights": &c.Resident.Weights, "grads": &c.Resident.Grads,
		"optimizer": &c.Resident.Optimizer, "pinned": &c.Resident.Pinned}
	texts := map[string]*string{"name": &p.Name, "dtype": &p.DType, "tool": &p.Source.Tool, "device": &p.Source.Device}
	for _, n := range t.notes {
		q := byteCount
		if n.key == "batch" {
			q = samples
		} else if into := texts[n.key]; into != nil {
			*into = errs.readsName(n.line, n.value)
			continue
		} else if sizes[n.key] == nil {
			continue
		}
		v, e := q.read(n.key, n.value)
		if e != nil {
			e.Line = n.line
			errs.add(e)
		} else if n.key == "batch" {
			p.Batch = int(v)
		} else {
			*sizes[n.key] = engine.Bytes(v)
		}
	}
}

// readRows reads the stages; hasLoss tells whether the last one is the loss.
func (t *csvTable) readRows(data []byte, stages *stageReader, c *engine.Chain, poll *engine.Poll) (hasLoss bool, err error) {
	r := newRows(data[t.rest:], t.comma)
	r.Comment, r.TrimLeadingSpace = '#', t.comma != '\t'
	for {
		if err := poll.Err(); err != nil {
			return false, err
		}
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return false, stages.errs.fail(rowError(err, t.line))
		}
		if isBlank(row) {
			continue
		}
		if stages.errs.over {
			return false, stages.errs.err()
		}
		if len(c.Stages) > maxStageRows {
			return false, stages.errs.fail(tooManyStages())
		}
		line, _ := r.FieldPos(0)
		c.Stages = append(c.Stages, t.readRow(row, stages, stagePlace{line: t.line - 1 + line, number: len(c.Stages) + 1}))
	}
	n := len(c.Stages)
	hasLoss = n > 0 && strings.EqualFold(c.Stages[n-1].Name, lossName)
	if hasLoss {
		c.Stages[n-1].Name = lossName
	} else if n > maxStageRows {
		return false, stages.errs.fail(tooManyStages())
	}
	return hasLoss, nil
}

func (t *csvTable) readRow(row []string, stages *stageReader, at stagePlace) engine.Stage {
	if len(row) != len(t.columns) {
		remedy := "Fill in the missing cells, or remove what is too much."
		if t.comma == ',' {
			remedy += " Decimals need a point, not a comma."
		}
		stages.failAt(at, "", "", &FormatError{Found: fmt.Sprintf("there are %s, the header has %d", count(len(row), "cell"), len(t.columns)),
			Expected: "Every line has as many cells as the header.", Remedy: remedy})
		return engine.Stage{}
	}
	cell := func(column string) (string, bool) {
		i := slices.Index(t.columns, column)
		if i < 0 {
			return "", false
		}
		return strings.TrimSpace(row[i]), true
	}
	name, _ := cell("name")
	kind, _ := cell("kind")
	name, kind = stages.errs.readsName(at.line, name), stages.errs.readsName(at.line, kind)
	s := engine.Stage{Name: stageName(name, at.number), Kind: kind}
	switch word, _ := cell(unsavedColumn); strings.ToLower(word) {
	case "true":
		s.Unsaved = true
	case "false", "":
	default:
		stages.failAt(at, unsavedColumn, s.Name, &FormatError{Found: unsavedColumn + " is " + strconv.Quote(clip(word)),
			Expected: "true or false is expected.", Remedy: "Write true where no backward reads the output, and false or nothing elsewhere."})
	}
	return stages.read(at, s, false, func(column string) (string, bool) {
		text, ok := cell(column)
		required := column == "forward_s" || column == "backward_s" || column == "output_bytes"
		return text, ok && (text != "" || required)
	})
}
