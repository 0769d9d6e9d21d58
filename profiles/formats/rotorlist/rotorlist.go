// Package rotorlist reads the list of tuples that rotor's profiler prints.
package rotorlist

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

func init() {
	profiles.Register(&profiles.Format{
		Name:       "rotor",
		Title:      "rotor's list of tuples",
		Doc:        "The list (uF, uB, x, xbar, tmpF, tmpB) that the tool rotor prints for a chain.",
		TimeUnit:   "milliseconds",
		Extensions: []string{".txt", ".py", ".json"},
		Match:      matchRotor,
		Decode:     decodeRotor,
	})
}

// matchRotor claims a list whose first element is a list that begins with a number or None.
func matchRotor(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	for range 2 {
		if len(head) == 0 || head[0] != '[' && head[0] != '(' {
			return false
		}
		head = bytes.TrimLeft(head[1:], " \t\r\n")
	}
	if clock := len(head) - len(bytes.TrimLeft(head, "0123456789")); clock >= 12 && clock <= 19 {
		return false // a time since 1970: a memory timeline of PyTorch
	}
	return len(head) > 0 && bytes.IndexByte([]byte("0123456789.+-Nnif"), head[0]) >= 0
}

// fields lists the parts of an entry.
var fields = [6]string{"uF", "uB", "x", "xbar", "tmpF", "tmpB"}

// entry is one tuple; a cell is the text of a number, or "" for None.
type entry struct {
	line  int
	cells []string
}

// decodeRotor reads entries 0..L as stages 1..L and the loss.
func decodeRotor(name string, data []byte, poll *engine.Poll) *profiles.Profile {
	errs := parse.NewErrors(len(data))
	entries := splitRotor(data, errs, poll)
	if len(entries) < 2 {
		errs.Fail(parse.EmptyChain())
	}
	v := make([][6]int64, len(entries))
	for i, e := range entries {
		profiles.End(poll.Err())
		v[i] = e.read(errs, i, i == len(entries)-1)
	}
	errs.End()
	stages := &parse.StageReader{Errs: errs}
	c := chain(v, stages)
	c.Name = name
	stages.Finish(c, true)
	return &profiles.Profile{Name: name, Chain: c, Warnings: stages.Warnings(len(entries) - 1),
		Source: profiles.Source{Tool: "rotor", Times: profiles.Measured, Sizes: profiles.Measured, Notes: []string{
			"A rotor list carries no units: times are read as milliseconds and sizes as bytes.",
			"Gradients are as large as the activations they belong to, the input's included.",
		}}}
}

// chain returns the chain of the entries' numbers.
func chain(v [][6]int64, stages *parse.StageReader) *engine.Chain {
	last := len(v) - 1
	c := &engine.Chain{Input: engine.Bytes(v[0][2]), InputGrad: engine.Bytes(v[0][2])}
	for i := range last {
		s := engine.Stage{Name: profiles.StageName("", i+1), Forward: time.Duration(v[i][0]),
			Back: time.Duration(v[i][1]),
			Out:  engine.Bytes(v[i+1][2]), Saved: engine.Bytes(v[i+1][3]), Grad: engine.Bytes(v[i+1][2]),
			FwdTemp: engine.Bytes(v[i][4]), BwdTemp: engine.Bytes(v[i][5])}
		if s.Saved < s.Out {
			s.Saved = s.Out
			stages.Raised++
		}
		c.Stages = append(c.Stages, s)
	}
	// rotor's loss has neither a forward nor an output of its own.
	c.Stages = append(c.Stages, engine.Stage{Name: parse.LossName, Back: time.Duration(v[last][1]),
		BwdTemp: engine.Bytes(v[last][5])})
	return c
}

// read parses the numbers of entry i; uF and tmpF of the loss have no number.
func (e *entry) read(errs *parse.Errors, i int, isLoss bool) (v [6]int64) {
	fail := func(bad *profiles.FormatError) {
		bad.Line, bad.Stage, bad.Path = e.line, i+1, fmt.Sprintf("[%d]", i)
		errs.Add(bad)
	}
	if len(e.cells) != len(fields) {
		fail(&profiles.FormatError{Found: fmt.Sprintf("entry %d has %s", i, profiles.Count(len(e.cells), "number")),
			Expected: "An entry is (uF, uB, x, xbar, tmpF, tmpB).", Remedy: "Write all six numbers."})
		return v
	}
	for k, text := range e.cells {
		field, absent := fmt.Sprintf("%s of entry %d", fields[k], i), k == 0 || k == 4
		switch {
		case absent && isLoss && text != "":
			fail(&profiles.FormatError{Found: field + " is " + profiles.Clip(text),
				Expected: "The last entry is the loss, whose uF and tmpF are None.",
				Remedy:   "Append the entry of the loss: (None, 0, x, xbar, None, 0), where x and xbar belong to the last layer."})
		case text == "" && !(absent && isLoss):
			fail(&profiles.FormatError{Found: field + " is None",
				Expected: "Only uF and tmpF of the last entry, the loss, are None.",
				Remedy:   "Fill in the number; 0 is allowed."})
		case text != "":
			q := parse.ByteCount
			if k < 2 {
				q = parse.Milliseconds
			}
			n, bad := q.Read(field, text)
			if bad != nil {
				fail(bad)
			}
			v[k] = n
		}
	}
	return v
}

// splitRotor splits the list into entries. Depth 1 is the list, depth 2 an entry.
func splitRotor(data []byte, errs *parse.Errors, poll *engine.Poll) (entries []entry) {
	line, depth := 1, 0
	syntax := func(found string) {
		errs.Fail(&profiles.FormatError{Line: line, Found: found,
			Expected: "A list of entries (uF, uB, x, xbar, tmpF, tmpB) is expected.",
			Remedy:   "Paste the whole list as Python prints it."})
	}
	for i := 0; i < len(data); i++ {
		profiles.End(poll.Err())
		switch c := data[i]; {
		case c == '\n':
			line++
		case c == ' ' || c == '\t' || c == '\r' || c == ',':
		case depth == 0 && entries != nil:
			syntax("there is more after the end of the list")
		case (c == '[' || c == '(') && depth < 2:
			if depth++; depth == 2 {
				if len(entries) > parse.MaxStageRows {
					errs.Fail(parse.TooManyStages())
				}
				entries = append(entries, entry{line: line})
			}
		case (c == ']' || c == ')') && depth > 0:
			depth--
		case depth == 2 && isWord(c):
			start := i
			for i+1 < len(data) && isWord(data[i+1]) {
				i++
			}
			if i-start > parse.MostDigits {
				syntax(fmt.Sprintf("there is a word of %d characters", i-start+1))
			}
			word := string(data[start : i+1])
			if word == "None" || word == "null" {
				word = ""
			}
			e := &entries[len(entries)-1]
			if e.cells = append(e.cells, word); len(e.cells) > len(fields) {
				syntax("an entry has more than six numbers")
			}
		default:
			syntax("there is " + quoteByte(data[i:]) + " where none can be")
		}
	}
	if depth != 0 {
		syntax("the list ends early")
	}
	return entries
}

// isWord reports whether c occurs in numbers and names.
func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '+' || c == '-' ||
		c == '_'
}

// quoteByte returns the first character of text in quotes.
func quoteByte(text []byte) string {
	for _, r := range strings.ToValidUTF8(string(text[:min(4, len(text))]), "?") {
		return fmt.Sprintf("%q", profiles.Clip(string(r)))
	}
	return "something"
}
