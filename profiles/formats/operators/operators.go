// Package operators reads the operators of a training step, as memtide_torch.py collects them:
// memtide/1 of kind operators. It derives a chain from them; plans for the model itself are made
// from the trace (see package play).
package operators

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/engine/play"
	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/profiles/jsonfile"
	"memtide/profiles/parse"
)

// most is the largest length of a list, above the sizes of a step with a hundred layers.
const most = 1 << 20

func init() {
	profiles.Register(&profiles.Format{
		Name:       "operators",
		Title:      "operators of a PyTorch step",
		Doc:        "The operators of one training step, with the calls of modules: memtide/1 of kind operators.",
		Extensions: []string{".json", ".json.gz"},
		Match: func(head []byte) bool {
			return isPacked(head) || bytes.Contains(head, []byte("operators")) &&
				native.FormatOf(head) == native.Version && native.KindOf(head) == "operators"
		},
		Decode: func(name string, data []byte, poll *engine.Poll) *profiles.Profile {
			r := read(name, data, poll)
			if text, err := r.pack(); err == nil { // it is left out if it is too large
				r.p.Packed = strings.TrimPrefix(text, profiles.PackedMagic)
			}
			return r.p
		},
	})
}

// Read returns the profile in a file, and the trace from which it is derived. The content may be
// the packed form of a link; otherwise it is not compressed.
func Read(name string, data []byte, poll *engine.Poll) (*profiles.Profile, *play.Trace, error) {
	r, err := profiles.Try(func() *reader { return read(name, data, poll) })
	if err != nil {
		return nil, nil, err
	}
	return r.p, r.t, nil
}

// read reads a whole file.
func read(name string, data []byte, poll *engine.Poll) *reader {
	data, err := plain(data)
	profiles.End(err)
	errs := parse.NewErrors(len(data))
	top, p := jsonfile.Open(data, errs), &profiles.Profile{Name: name}
	native.ReadFrame(top, p)
	r := &reader{data: data, top: top, poll: poll, p: p, t: &play.Trace{Roles: map[int]string{}}}
	for _, part := range []func(){r.frame, r.storages, r.operators, r.calls, r.keeps, r.units, r.events, r.frees} {
		part()
		errs.End()
	}
	r.t.Name = p.Name
	r.t.SHA = sha(r.t)
	top.Knows("format")
	top.Knows("kind")
	top.NoteOthers()
	p.Warnings = append(p.Warnings, top.Known.Warning("in the outer object")...)
	p.Chain = r.chain(p)
	if err := p.Chain.Validate(); err != nil {
		errs.Fail(&profiles.FormatError{Found: "the chain that follows from the operators makes no sense: " +
			err.Error(), Expected: "Sizes and times add up.", Remedy: "Collect the model again."})
	}
	return r
}

// sha returns the hash of the names of the model's forward operators, as in memtide_torch.py.
func sha(t *play.Trace) string {
	if len(t.Calls) == 0 {
		return ""
	}
	var names []string
	for i := t.Calls[0].Op; i < t.Calls[0].End; i++ {
		names = append(names, t.Ops[i].Name)
	}
	sum := sha256.Sum256([]byte(strings.Join(names, "\n")))
	return fmt.Sprintf("%x", sum[:8])
}

// reader builds a trace from the outer object.
type reader struct {
	data []byte // the file, unpacked
	top  *jsonfile.Object
	poll *engine.Poll
	p    *profiles.Profile
	t    *play.Trace
}

// wrong adds an error about a part of another type or form.
func (r *reader) wrong(path, expected string) {
	r.top.Errs.Add(&profiles.FormatError{Path: path, Found: path + " is something else", Expected: expected,
		Remedy: "Collect the model again."})
}

// each calls visit with the items of a list, which has to exist, and with their paths.
func (r *reader) each(key string, visit func(i int, path string, v any)) {
	if !r.top.EachIn(key, most, r.poll, func(i int, v any) { visit(i, fmt.Sprintf("%s[%d]", key, i), v) }) {
		r.wrong(key, "A list is expected.")
	}
}

// row returns a list of n items. For any other value it adds an error and returns nil.
func (r *reader) row(v any, n int, path, expected string) []any {
	row, _ := v.([]any)
	if len(row) != n {
		r.wrong(path, expected)
		return nil
	}
	return row
}

// number reads v as an index of a list of n items. If v is not an index, it adds an error and returns -1.
func (r *reader) number(v any, n int, path string) int {
	text, _ := v.(json.Number)
	k, err := strconv.Atoi(text.String())
	if err != nil || k < 0 || k >= n {
		r.wrong(path, fmt.Sprintf("A whole number below %d is expected.", n))
		return -1
	}
	return k
}

// numbers reads v as a list of indices of a list of n items.
func (r *reader) numbers(v any, n int, path string) []int {
	list, ok := v.([]any)
	if !ok && v != nil {
		r.wrong(path, "A list of numbers is expected.")
	}
	out := make([]int, 0, len(list))
	for _, item := range list {
		if k := r.number(item, n, path); k >= 0 {
			out = append(out, k)
		}
	}
	return out
}

func (r *reader) name(v any, path string) string {
	s, ok := v.(string)
	if !ok {
		r.wrong(path, "A text in quotes is expected.")
		return ""
	}
	r.top.Errs.Fail(r.top.Errs.Budget.Name(path, len(s)).At(path))
	return profiles.CleanText(s)
}

func (r *reader) frame() {
	r.t.Autocast, r.t.Modules, r.t.Warnings = r.top.Text("autocast"), r.top.Text("modules_sha"), r.top.Texts("warnings")
	for i, v := range r.top.List("inputs") {
		path := fmt.Sprintf("inputs[%d]", i)
		row := r.row(v, 3, path, "A name, a shape and a type are expected.")
		if row == nil {
			continue
		}
		in := play.Input{Name: r.name(row[0], path), DType: r.name(row[2], path)}
		for _, n := range r.numbers(row[1], 1<<31-1, path) {
			in.Shape = append(in.Shape, int64(n))
		}
		r.t.Inputs = append(r.t.Inputs, in)
	}
}

func (r *reader) storages() {
	r.each("storages", func(_ int, path string, v any) {
		n, e := parse.ByteCount.Read("a storage", jsonfile.Text(v))
		if e != nil {
			r.top.Errs.Add(e.At(path))
		}
		r.t.Storages = append(r.t.Storages, engine.Bytes(n))
	})
	r.t.Resident = make([]bool, len(r.t.Storages))
	r.each("resident", func(_ int, path string, v any) {
		if n := r.number(v, len(r.t.Storages), path); n >= 0 {
			r.t.Resident[n] = true
		}
	})
	roles, _ := r.top.Value("roles").(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(roles)) {
		if n, err := strconv.Atoi(key); err == nil {
			r.t.Roles[n], _ = roles[key].(string)
		}
	}
}

func (r *reader) operators() {
	n := len(r.t.Storages)
	r.each("ops", func(_ int, path string, v any) {
		fields, _ := v.(map[string]any)
		o := &jsonfile.Object{Path: path, Fields: fields, Errs: r.top.Errs, Known: &jsonfile.Keys{}}
		r.t.Ops = append(r.t.Ops, play.Op{Name: r.name(o.Value("name"), path+".name"),
			New: r.numbers(o.Value("new"), n, path+".new"),
			In:  r.numbers(o.Value("in"), n, path+".in"), Write: r.numbers(o.Value("write"), n, path+".write"),
			Time: o.Time("time_s"), Temp: o.Size("temp_bytes")})
	})
	r.t.Forward = r.number(r.top.Value("forward_ops"), len(r.t.Ops)+1, "forward_ops")
}

func (r *reader) calls() {
	n, ops, last := len(r.t.Storages), len(r.t.Ops), 0
	r.each("calls", func(i int, path string, v any) {
		fields, _ := v.(map[string]any)
		c := play.Call{Path: r.name(fields["path"], path+".path"), Class: r.name(fields["class"], path+".class"),
			Op: r.number(fields["op"], ops+1, path+".op"), End: r.number(fields["end"], ops+1, path+".end")}
		if c.Op < last || c.End < c.Op || c.End > r.t.Forward {
			r.wrong(path, "Calls lie in the forward, in the order in which they begin.")
		}
		last = c.Op
		args, _ := fields["args"].([]any)
		for _, a := range args {
			row := r.row(a, 2, path+".args", "A storage and a list are expected.")
			if row == nil {
				continue
			}
			arg := play.Arg{Storage: max(0, r.number(row[0], n, path+".args"))}
			made, _ := row[1].([]any)
			for _, m := range made {
				if two, _ := m.([]any); len(two) == 2 {
					arg.Made = append(arg.Made, max(0, r.number(two[0], i, path+".args")))
				}
			}
			c.Args = append(c.Args, arg)
		}
		r.t.Calls = append(r.t.Calls, c)
	})
}

func (r *reader) keeps() {
	r.each("keeps", func(_ int, path string, v any) {
		row := r.row(v, 2, path, "A storage and a call are expected.")
		if row == nil {
			return
		}
		k := play.Keep{Storage: max(0, r.number(row[0], len(r.t.Storages), path)), Call: -1}
		if row[1] != nil {
			k.Call = r.number(row[1], len(r.t.Calls), path)
		}
		r.t.Keeps = append(r.t.Keeps, k)
	})
}

func (r *reader) units() {
	r.t.Units = r.numbers(r.top.Value("units"), len(r.t.Calls), "units")
	r.t.Tied = r.numbers(r.top.Value("tied"), len(r.t.Units), "tied")
	if !slices.IsSorted(r.t.Units) {
		r.wrong("units", "Units stand in the order of the calls.")
	}
}

// kind returns the kind of event with this word, and how many items the event can refer to: 0 for other words.
func (r *reader) kind(word string) (kind play.EventKind, n int) {
	numbered := [len(words)]int{play.EventOp: len(r.t.Ops), play.EventEnter: len(r.t.Calls),
		play.EventLeave: len(r.t.Calls), play.EventFree: len(r.t.Storages),
		play.EventPack: len(r.t.Keeps), play.EventUnpack: len(r.t.Keeps), play.EventRelease: len(r.t.Keeps),
		play.EventBackward: 1}
	at := slices.Index(words[:], word)
	if at < 0 {
		return 0, 0
	}
	return play.EventKind(at), numbered[at]
}

func (r *reader) events() {
	backward := 0
	entered, left := make([]int, len(r.t.Calls)), make([]int, len(r.t.Calls))
	r.each("events", func(_ int, path string, v any) {
		row := r.row(v, 2, path, "A word and a number are expected.")
		if row == nil {
			return
		}
		word, _ := row[0].(string)
		kind, n := r.kind(word)
		id := max(0, r.number(row[1], n, path))
		if n == 0 {
			return
		}
		switch kind {
		case play.EventBackward:
			backward++
		case play.EventEnter:
			entered[id]++
		case play.EventLeave:
			if left[id]++; entered[id] != left[id] {
				r.wrong(path, "A call is entered before it is left.")
			}
		}
		r.t.Events = append(r.t.Events, play.Event{Kind: kind, ID: id})
	})
	if backward != 1 {
		r.wrong("events", "The backward begins once.")
	}
	for i := range entered {
		if entered[i] != 1 || left[i] != 1 {
			r.wrong(fmt.Sprintf("calls[%d]", i), "Every call is entered and left once, in events.")
			break
		}
	}
}

func (r *reader) frees() {
	r.each("python_frees", func(_ int, path string, v any) {
		row := r.numbers(v, max(len(r.t.Storages), len(r.t.Ops)+1), path)
		if len(row) != 2 || row[0] >= len(r.t.Storages) {
			r.wrong(path, "A storage and an operator are expected.")
			return
		}
		r.t.Frees = append(r.t.Frees, play.Free{Storage: row[0], Op: row[1]})
	})
}
