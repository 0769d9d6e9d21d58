// Package csv reads tables with one stage in each row.
package csv

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

func init() {
	profiles.Register(&profiles.Format{
		Name:       "csv",
		Title:      "CSV with forward_s, backward_s, output_bytes",
		Doc:        "A table of stages with a header line.",
		Extensions: []string{".csv", ".tsv", ".csv.gz"},
		Match:      Claims,
		Decode:     decode,
	})
}

// Claims reports whether head is the head of a table of stages.
func Claims(head []byte) bool { return header(head) != nil }

// stageTable describes a table of stages without its rows.
type stageTable struct {
	columns []string // names in lower case
	comma   rune
	notes   []note
	rest    int // offset of the first row
	line    int // its line, 1-based
}

// note is a comment line "# key: value" before the header.
type note struct {
	line       int
	key, value string
}

// header reads the lines up to the header line. It returns nil if the content is not a table of
// stages. One name like those of stages in the header line is enough, so that decode can name a missing column.
func header(data []byte) *stageTable {
	t := &stageTable{line: 1}
	for t.rest < len(data) {
		line := data[t.rest:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		t.rest += len(line)
		text := strings.TrimSpace(string(line))
		t.line++
		if comment, ok := strings.CutPrefix(text, "#"); ok {
			if key, value, ok := strings.Cut(comment, ":"); ok && len(t.notes) < profiles.MaxNotes {
				t.notes = append(t.notes,
					note{t.line - 1, strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)})
			}
			continue
		}
		if text != "" {
			return t.readColumns(string(line))
		}
	}
	return nil
}

func (t *stageTable) readColumns(line string) *stageTable {
	// Other formats begin with a line of text, too: JSON, and lists of operators.
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
	for cell := range strings.SplitSeq(line, string(t.comma)) {
		cell = strings.ToLower(strings.Trim(strings.TrimSpace(cell), `"`))
		t.columns = append(t.columns, cell)
		known = known || cell == "output_bytes" || strings.HasPrefix(cell, "forward") ||
			strings.HasPrefix(cell, "backward")
	}
	if !known {
		return nil
	}
	return t
}

func decode(name string, data []byte, poll *engine.Poll) *profiles.Profile {
	errs := parse.NewErrors(len(data))
	if !bytes.Contains(data, []byte("\n")) && bytes.IndexByte(bytes.TrimRight(data, "\r"), '\r') >= 0 {
		errs.Fail(&profiles.FormatError{Found: "The lines end in carriage returns alone, as of old Macs",
			Expected: "Lines end in a line feed, with or without a carriage return before it.",
			Remedy:   "Save the table again with line ends of Unix or Windows."})
	}
	t := header(data)
	if t == nil { // the head that Match gets ends within the header line
		errs.Fail(&profiles.FormatError{Found: "The header line is longer than 64 KiB",
			Expected: fmt.Sprintf("At most %d columns are read.", maxColumns),
			Remedy:   "Keep only the columns of stages."})
	}
	p := &profiles.Profile{Name: name, Chain: &engine.Chain{}}
	t.checkColumns(errs, p)
	t.readNotes(errs, p)
	p.Chain.Name, p.Chain.Batch = p.Name, p.Batch

	stages := &parse.StageReader{Errs: errs}
	hasLoss := t.readRows(data, stages, p.Chain, poll)
	stages.Finish(p.Chain, hasLoss)
	p.Warnings = append(p.Warnings, stages.Warnings(len(p.Chain.Stages)-1)...)
	return p
}

// checkColumns refuses a header line without the required columns, or with a repeated column.
func (t *stageTable) checkColumns(errs *parse.Errors, p *profiles.Profile) {
	known, missing, remedies := []string{"name", "kind", parse.UnsavedColumn}, []string(nil), []string(nil)
	for _, c := range parse.StageColumns {
		known = append(known, c.Name)
		if c.Required && !slices.Contains(t.columns, c.Name) {
			missing = append(missing, c.Name)
			remedies = append(remedies, cmp.Or(parse.Meant(c.Name, slices.Values(t.columns)),
				"Add "+c.Name+", or rename the column that holds these numbers."))
		}
	}
	if missing != nil {
		errs.Add(&profiles.FormatError{Line: t.line - 1,
			Found: fmt.Sprintf("The header lacks %s; it has %s", strings.Join(missing, ", "),
				profiles.Clip(strings.Join(t.columns, ", "))),
			Expected: "Columns forward_s and backward_s, in seconds, and output_bytes are required.",
			Remedy:   strings.Join(remedies, " ")})
	}
	p.Warnings = Columns(t.columns, known, t.line-1, errs)
}

// readNotes reads the properties of the whole network from the comment lines.
func (t *stageTable) readNotes(errs *parse.Errors, p *profiles.Profile) {
	c := p.Chain
	sizes := map[string]*engine.Bytes{"input_bytes": &c.Input, "input_grad_bytes": &c.InputGrad,
		"weights": &c.Resident.Weights, "grads": &c.Resident.Grads,
		"optimizer": &c.Resident.Optimizer, "pinned": &c.Resident.Pinned}
	texts := map[string]*string{"name": &p.Name, "dtype": &p.DType, "tool": &p.Source.Tool, "device": &p.Source.Device}
	for _, n := range t.notes {
		q := parse.ByteCount
		if n.key == "batch" {
			q = parse.Samples
		} else if into := texts[n.key]; into != nil {
			*into = errs.ReadName(n.line, n.value)
			continue
		} else if sizes[n.key] == nil {
			continue
		}
		v, e := q.Read(n.key, n.value)
		if e != nil {
			errs.AddAt(n.line, e)
		} else if n.key == "batch" {
			p.Batch = int(v)
		} else {
			*sizes[n.key] = engine.Bytes(v)
		}
	}
}

// readRows reads the stages. hasLoss reports whether the last one is the loss.
func (t *stageTable) readRows(data []byte, stages *parse.StageReader, c *engine.Chain,
	poll *engine.Poll) (hasLoss bool) {
	Rows(data[t.rest:], t.comma, '#', t.line, stages.Errs, poll, func(line int, row []string) {
		if len(c.Stages) > parse.MaxStageRows {
			stages.Errs.Fail(parse.TooManyStages())
		}
		c.Stages = append(c.Stages, t.readRow(row, stages, parse.StagePlace{Line: line, Number: len(c.Stages) + 1}))
	})
	n := len(c.Stages)
	hasLoss = n > 0 && strings.EqualFold(c.Stages[n-1].Name, parse.LossName)
	if hasLoss {
		c.Stages[n-1].Name = parse.LossName
	}
	return hasLoss
}

func (t *stageTable) readRow(row []string, stages *parse.StageReader, at parse.StagePlace) engine.Stage {
	if len(row) != len(t.columns) {
		remedy := "Fill in the missing cells, or remove the extra ones."
		if t.comma == ',' {
			remedy += " Decimals need a point, not a comma."
		}
		stages.FailAt(at, "", "", &profiles.FormatError{Found: fmt.Sprintf("there are %s, the header has %d",
			profiles.Count(len(row), "cell"), len(t.columns)),
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
	name, kind = stages.Errs.ReadName(at.Line, name), stages.Errs.ReadName(at.Line, kind)
	s := engine.Stage{Name: profiles.StageName(name, at.Number), Kind: kind}
	switch word, _ := cell(parse.UnsavedColumn); strings.ToLower(word) {
	case "true":
		s.Unsaved = true
	case "false", "":
	default:
		stages.FailAt(at, parse.UnsavedColumn, s.Name,
			&profiles.FormatError{Found: parse.UnsavedColumn + " is " + strconv.Quote(profiles.Clip(word)),
				Expected: "true or false is expected.",
				Remedy:   "Write true where no backward reads the output, and false or nothing elsewhere."})
	}
	return stages.Read(at, s, false, func(column string) (string, bool) {
		text, ok := cell(column)
		required := column == "forward_s" || column == "backward_s" || column == "output_bytes"
		return text, ok && (text != "" || required)
	}, slices.Values[[]string](nil))
}
