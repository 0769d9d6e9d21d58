// Package dtr reads the logs of Dynamic Tensor Rematerialization.
package dtr

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/jsonfile"
	"memtide/profiles/parse"
)

func init() {
	profiles.Register(&profiles.Format{
		Name:       "dtr",
		Title:      "DTR log (simrd)",
		Doc:        "The functions of one training step in their order, as the logger of DTR writes them: a graph, and a chain if they form one.",
		TimeUnit:   "nanoseconds",
		Extensions: []string{".log"},
		Match:      looksDTR,
		Decode:     decodeDTR,
	})
}

// looksDTR claims lines of JSON of which the first is an instruction.
func looksDTR(head []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return len(first) > 0 && first[0] == '{' && bytes.Contains(first, []byte(`"INSTRUCTION"`))
}

// dtrMost bounds functions and storages, so that the native format can hold their graph.
const dtrMost = parse.MaxGraph / 2

// dtrLongest is the longest line in bytes. It suffices for a function with ten thousand arguments.
const dtrLongest = 256 << 10

// dtrLine is one instruction: its texts, numbers and lists by key.
type dtrLine struct {
	text map[string]string
	list map[string][]string
}

// dtrCall is a function call.
type dtrCall struct {
	name   string
	took   time.Duration
	reads  []int // storages, sorted
	writes []int // storages that it makes
	alters []int // storages that it changes in place
	back   bool
}

// dtrStorage is memory with one or more names.
type dtrStorage struct {
	size     engine.Bytes
	refs     int // names
	released int // number of functions that had begun when the last name was released
	constant bool
	back     bool // made by the backward
}

// dtrLog is the content of the file, and the state of reading it.
type dtrLog struct {
	lines    int
	names    map[string]int // storage of a name
	storages []dtrStorage
	calls    []dtrCall
	back     bool          // the backward has begun
	marked   bool          // an annotation marks its start
	carry    time.Duration // time of views, which the next function gets
	views    int
	again    int // functions after the start of the first backward that belong to a forward
	input    int // storage of the network's input; -1 if unknown

	pending *dtrCall // a call whose results are not complete
	results []string // names of its missing results
	size    string   // size of the last MEMORY instruction
	sized   string   // the name that has this size
	args    []string // of the pending call

	scan *jsonfile.Stream
	errs *parse.Errors
}

func decodeDTR(name string, data []byte, poll *engine.Poll) *profiles.Profile {
	d := &dtrLog{names: map[string]int{}, input: -1, scan: &jsonfile.Stream{Eof: true},
		errs: parse.NewErrors(len(data))}
	if at := bytes.Index(data, []byte(`"START"`)); at >= 0 {
		_, step, _ := bytes.Cut(data[at:], []byte("\n")) // lines before it are not part of the step
		d.lines = bytes.Count(data[:len(data)-len(step)], []byte("\n"))
		data = step
	}
	d.marked = bytes.Contains(data, []byte(`"BACKWARD"`))
	for len(data) > 0 {
		profiles.End(poll.Err())
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		d.lines++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if len(line) > dtrLongest {
			d.fail(fmt.Sprintf("the line is %d bytes long", len(line)),
				fmt.Sprintf("Lines of at most %d bytes are read.", dtrLongest),
				"Log whole training steps with simrd's logger.")
		}
		d.read(line)
	}
	if d.pending != nil {
		d.fail("the log ends within the results of "+profiles.Clip(d.pending.name),
			"Every result has a MEMORY and an ALIAS.",
			"Copy or download the file again: it is cut off.")
	}
	d.again = d.assign()
	if !slices.ContainsFunc(d.calls, func(c dtrCall) bool { return c.back }) {
		d.fail(fmt.Sprintf("none of %s belongs to a backward", profiles.Count(len(d.calls), "function")),
			`A training step is expected: an ANNOTATE "BACKWARD", or functions named backward.`,
			"Log whole training steps.")
	}
	return d.profile(name, poll)
}

func (d *dtrLog) fail(found, expected, remedy string) {
	d.errs.Fail(&profiles.FormatError{Line: d.lines, Found: found, Expected: expected, Remedy: remedy})
}

func (d *dtrLog) parse(line []byte) (l dtrLine, ok bool) {
	l = dtrLine{map[string]string{}, map[string][]string{}}
	ok = d.scan.EachField(line, func(key, v []byte) {
		if v[0] != '[' {
			l.text[string(key)] = string(jsonfile.PlainText(v))
			return
		}
		var list []string
		for item, rest := d.scan.NextItem(v[1:]); item != nil; item, rest = d.scan.NextItem(rest) {
			list = append(list, string(jsonfile.PlainText(item)))
		}
		l.list[string(key)] = list
	})
	return l, ok && bytes.HasSuffix(line, []byte("}"))
}

// read parses and applies one line.
func (d *dtrLog) read(line []byte) {
	l, ok := d.parse(line)
	if !ok {
		d.fail(fmt.Sprintf("the line is %q", profiles.Clip(string(line))), "Every line is one JSON object { }.",
			"Complete or remove the line.")
	}
	if d.pending != nil && l.text["INSTRUCTION"] != "MEMORY" && l.text["INSTRUCTION"] != "ALIAS" {
		d.fail(fmt.Sprintf("%s follows within the results of %s", profiles.Clip(l.text["INSTRUCTION"]),
			profiles.Clip(d.pending.name)),
			"Every result has a MEMORY and an ALIAS.", "Log the step again, or complete the lines.")
	}
	switch l.text["INSTRUCTION"] {
	case "MEMORY":
		d.size, d.sized = l.text["MEMORY"], l.text["NAME"]
		if s, ok := d.names[l.text["NAME"]]; ok && d.storages[s].constant && d.pending == nil {
			v, e := parse.ByteCount.Read("MEMORY", l.text["MEMORY"])
			d.errs.FailAt(d.lines, e)
			d.storages[s].size = engine.Bytes(v)
		}
	case "ALIAS":
		d.result(l)
	case "CONSTANT":
		d.bind(l.text["NAME"], dtrStorage{constant: true})
	case "COPY", "COPY_FROM":
		d.copyName(l)
	case "RELEASE":
		d.release(l.text["NAME"])
	case "CALL":
		d.call(l)
	case "MUTATE":
		d.mutate(l)
	case "ANNOTATE":
		d.back = d.back || l.text["ANNOTATION"] == "BACKWARD"
	default:
		d.fail(fmt.Sprintf("the instruction is %q", profiles.Clip(l.text["INSTRUCTION"])),
			"Read are CONSTANT, MEMORY, CALL, ALIAS, MUTATE, COPY, COPY_FROM, RELEASE and ANNOTATE.",
			"Remove the line, or log with the version of simrd.")
	}
}

// bind gives a name a new storage.
func (d *dtrLog) bind(name string, s dtrStorage) {
	if len(d.storages) >= dtrMost {
		d.fail(fmt.Sprintf("there are more than %d values", dtrMost), "Longer logs are not read.",
			"Log one training step.")
	}
	d.errs.FailAt(d.lines, d.errs.Budget.Name("the name of a value", len(name)))
	d.release(name)
	s.refs = 1
	d.names[name] = len(d.storages)
	d.storages = append(d.storages, s)
}

// copyName adds a name to a storage.
func (d *dtrLog) copyName(l dtrLine) {
	s, ok := d.names[l.text["SRC"]]
	if !ok {
		d.unknown(l.text["SRC"])
	}
	d.errs.FailAt(d.lines, d.errs.Budget.Name("the name of a value", len(l.text["DST"])))
	if len(d.names) >= 2*dtrMost {
		d.fail(fmt.Sprintf("there are more than %d names", 2*dtrMost), "Longer logs are not read.",
			"Log one training step.")
	}
	d.storages[s].refs++
	d.release(l.text["DST"])
	d.names[l.text["DST"]] = s
}

func (d *dtrLog) unknown(name string) {
	d.fail(fmt.Sprintf("%q is not known here", profiles.Clip(name)),
		"Names are made by CONSTANT, COPY or the results of a CALL before.",
		"Log the step from its START on.")
}

// release removes a name. It ignores unknown names, which were made before the start.
func (d *dtrLog) release(name string) {
	if s, ok := d.names[name]; ok {
		st := &d.storages[s]
		if st.refs--; st.refs == 0 {
			st.released = len(d.calls)
			if d.pending != nil {
				st.released++ // the name now belongs to its result
			}
		}
		delete(d.names, name)
	}
}

// start returns a new function call.
func (d *dtrLog) start(l dtrLine) *dtrCall {
	if len(d.calls) >= dtrMost {
		d.fail(fmt.Sprintf("there are more than %d functions", dtrMost), "Longer logs are not read.",
			"Log one training step.")
	}
	v, e := dtrTime.Read("TIME", l.text["TIME"])
	d.errs.FailAt(d.lines, e)
	// Functions with backward in their name may run in the forward (DTR's max_pool2d_backward
	// does), so names count only in logs without an annotation.
	d.back = d.back || !d.marked && strings.Contains(l.text["NAME"], "backward")
	c := &dtrCall{name: strings.ToValidUTF8(l.text["NAME"], "?"), took: time.Duration(v), back: d.back}
	d.errs.FailAt(d.lines, d.errs.Budget.Name("the name of the function", len(l.text["NAME"])))
	n := len(l.list["ARGS"]) + len(l.list["RESULT"]) + len(l.list["MUTATE"])
	d.errs.FailAt(d.lines, d.errs.Budget.Memory("this function", 200+24*n))
	for _, arg := range l.list["ARGS"] {
		s, ok := d.names[arg]
		if !ok {
			d.unknown(arg)
		}
		if d.input < 0 && d.storages[s].constant && len(l.list["RESULT"]) > 0 {
			d.input = s // the first constant that a function with results reads
		}
		c.reads = append(c.reads, s)
	}
	slices.Sort(c.reads)
	c.reads = slices.Clip(slices.Compact(c.reads))
	return c
}

// dtrTime is the unit of times in these logs.
var dtrTime = parse.Quantity{Plural: "Times", Unit: "nanoseconds", Whole: true}

func (d *dtrLog) call(l dtrLine) {
	c := d.start(l)
	d.pending, d.results, d.args, d.size, d.sized = c, l.list["RESULT"], l.list["ARGS"], "", ""
	d.close()
}

// result gives the next result of a call its storage.
func (d *dtrLog) result(l dtrLine) {
	if d.pending == nil || l.text["NAME"] != d.results[0] || l.text["NAME"] != d.sized {
		d.fail(fmt.Sprintf("ALIAS of %q follows neither its CALL nor its MEMORY", profiles.Clip(l.text["NAME"])),
			"Every result of a CALL has a MEMORY and an ALIAS, in this order.", "Log the step again.")
	}
	v, e := parse.ByteCount.Read("MEMORY", d.size)
	d.errs.FailAt(d.lines-1, e)
	if at, ok := jsonfile.Integer([]byte(l.text["ALIAS"])); ok && at >= 0 && at < int64(len(d.args)) {
		if s, known := d.names[d.args[at]]; known {
			d.storages[s].refs++
			d.release(l.text["NAME"])
			d.names[l.text["NAME"]] = s
		}
	} else {
		d.pending.writes = append(d.pending.writes, len(d.storages))
		d.bind(l.text["NAME"], dtrStorage{size: engine.Bytes(v), back: d.back})
	}
	d.results = d.results[1:]
	d.close()
}

// close ends the pending call if all its results are known. Views make no storage: their time
// goes to the next function.
func (d *dtrLog) close() {
	c := d.pending
	if len(d.results) > 0 {
		return
	}
	d.pending = nil
	if len(c.writes) == 0 && len(c.alters) == 0 {
		d.views++
		d.carry += c.took
		return
	}
	c.took += d.carry
	d.carry = 0
	d.calls = append(d.calls, *c)
}

func (d *dtrLog) mutate(l dtrLine) {
	c := d.start(l)
	for _, m := range l.list["MUTATE"] {
		at, ok := jsonfile.Integer([]byte(m))
		if !ok || at < 0 || at >= int64(len(l.list["ARGS"])) {
			d.fail("MUTATE names argument "+profiles.Clip(m),
				fmt.Sprintf("There are %d arguments, counted from 0.", len(l.list["ARGS"])), "Log the step again.")
		}
		c.alters = append(c.alters, d.names[l.list["ARGS"][at]])
	}
	slices.Sort(c.alters)
	c.alters = slices.Compact(c.alters)
	d.pending, d.results = c, nil
	d.close()
}
