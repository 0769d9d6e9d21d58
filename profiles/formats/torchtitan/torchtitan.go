// Package torchtitan reads the list of saved activations that torchtitan's graph trainer logs.
package torchtitan

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/analytic"
	"memtide/profiles/parse"
)

func init() {
	profiles.Register(&profiles.Format{
		Name:       "torchtitan",
		Title:      "torchtitan's list of saved activations",
		Doc:        "What the forward of each layer saves for the backward, as torchtitan's graph trainer lists it.",
		Extensions: []string{".txt", ".log"},
		Match:      func(head []byte) bool { return bytes.Contains(head, []byte(columns)) },
		Decode:     decode,
	})
}

// columns is the start of the list's header line.
const columns = "    Memory  DType      Policy       Shape                     SubModule "

// mostLayers bounds the numbers of layers; it is more than any model has.
const mostLayers = 1000

// group holds the activations of one layer, of several layers with one pattern, or of modules outside of layers.
type group struct {
	line   int
	layers []int // empty for modules outside of layers
	count  int   // number of activations according to its line
	rows   []row
}

// row is one activation.
type row struct {
	bytes          engine.Bytes
	policy, module string
}

// reader holds the state of reading the list.
type reader struct {
	errs   *parse.Errors
	line   int
	groups []group
}

// fail ends reading with an error at the current line.
func (r *reader) fail(found, expected string) {
	r.errs.FailAt(r.line, &profiles.FormatError{Found: found, Expected: expected,
		Remedy: "Cut the list out of the log again, from its first line of dashes to its last."})
}

func decode(name string, data []byte, poll *engine.Poll) *profiles.Profile {
	r := &reader{errs: parse.NewErrors(len(data))}
	list, total := false, -1
	for line := range strings.Lines(string(data)) {
		profiles.End(poll.Err())
		r.line++
		line = strings.TrimRight(line, "\r\n")
		if rank, rest, ok := strings.Cut(line, "]:"); ok && strings.HasPrefix(rank, "[rank") && list {
			line = rest
		}
		switch {
		case strings.Contains(line, columns):
			list = true
		case !list || strings.Trim(line, "- ") == "":
		case strings.HasPrefix(line, "["):
			r.group(line)
		case strings.HasPrefix(line, "Total: "):
			total, _ = strconv.Atoi(strings.Fields(line + " ?")[1])
		case len(r.groups) > 0 && total < 0:
			r.row(line)
		}
		if total >= 0 {
			break
		}
	}
	sum, last := 0, r.line
	for _, g := range r.groups {
		if r.line = g.line; g.count != len(g.rows) {
			r.fail(fmt.Sprintf("%s are said, and %d listed", profiles.Count(g.count, "activation"), len(g.rows)),
				"Every activation of a layer has a line.")
		}
		sum += len(g.rows) * max(1, len(g.layers))
	}
	if r.line = last; sum != total {
		r.fail(fmt.Sprintf("%d activations are listed, and the total is %d", sum, max(0, total)),
			"A line with the total ends the list.")
	}
	return r.profile(name)
}

// group adds a group from its line, such as "[layers 0-31] (x32, same pattern) (21 activations,
// 1.50 GiB each, 48.00 GiB total)".
func (r *reader) group(line string) {
	g := group{line: r.line}
	title, rest, _ := strings.Cut(line[1:], "]")
	if at := strings.LastIndexByte(rest, '('); at >= 0 {
		g.count, _ = strconv.Atoi(strings.Fields(rest[at+1:] + " ?")[0])
	}
	first, last, times := 0, 0, 1
	switch n, _ := fmt.Sscanf(title+rest, "layers %d-%d (x%d,", &first, &last, &times); {
	case title == "non-layer":
		r.groups = append(r.groups, g)
		return
	case n != 3:
		if n, _ := fmt.Sscanf(title, "layer %d", &first); n != 1 {
			r.fail(fmt.Sprintf("this is %q", profiles.Clip(line)), "A layer is [layer 3], several are [layers 0-31].")
		}
		last = first
	}
	step := 1
	if times > 1 {
		step = (last - first) / (times - 1)
	}
	if first < 0 || last >= mostLayers || times < 1 || step < 1 || first+step*(times-1) != last {
		r.fail(fmt.Sprintf("%d layers of one pattern are %d to %d, which does not say which", times, first, last),
			fmt.Sprintf("Layers follow each other, or are every second or third, below %d.", mostLayers))
	}
	for i := range times {
		g.layers = append(g.layers, first+step*i)
	}
	r.groups = append(r.groups, g)
}

// row reads an activation. A column has at least its width, and ends at a space.
func (r *reader) row(line string) {
	cells := strings.Fields(line)
	g := &r.groups[len(r.groups)-1]
	if len(cells) < 6 || cells[0] != strconv.Itoa(len(g.rows)) {
		r.fail(fmt.Sprintf("this is %q", profiles.Clip(line)),
			fmt.Sprintf("Activation %d of its layer is expected: number, size, type, policy, shape, module, operator.", len(g.rows)))
	}
	if cells[1] == "symbolic" {
		r.fail("the size is symbolic", "Sizes of one training step are expected: trace with fixed shapes.")
	}
	said, dtype := cells[1]+" "+cells[2], cells[3]
	a := row{policy: cells[4]}
	if at := strings.IndexAny(line, "[("); at >= 0 && said != "0 B" { // a number that is not a tensor takes 0 B
		ends := map[byte]string{'[': "]", '(': ")"}[line[at]]
		end := strings.Index(line[at:], ends) + 1
		bytes, ok := shapeBytes(line[at:at+end], sizes[dtype])
		if a.bytes = bytes; !ok || written(bytes) != said {
			r.fail(fmt.Sprintf("%s of %s are said to take %s", profiles.Clip(line[at:at+end]), profiles.Clip(dtype),
				profiles.Clip(said)), "Shape and type give the size.")
		}
		if rest := line[min(len(line), at+max(25, end)+1):]; !strings.HasPrefix(rest, " ") {
			a.module, _, _ = strings.Cut(rest, " ")
		}
	}
	r.errs.FailAt(r.line, r.errs.Budget.Memory("the list", 100+len(a.module)))
	g.rows = append(g.rows, a)
}

// shapeBytes returns the bytes of a tensor, "[2, 4]", or of several, "([2, 4], [2])", whose
// elements have size bytes. ok is false if the shape is invalid or too large.
func shapeBytes(text string, size int64) (sum engine.Bytes, ok bool) {
	text = strings.Trim(text, "()")
	for text != "" {
		begin, end := strings.IndexByte(text, '['), strings.IndexByte(text, ']')
		if begin < 0 || end < begin {
			return 0, false
		}
		var dims []int64
		for _, field := range strings.FieldsFunc(text[begin+1:end], func(c rune) bool { return c == ',' || c == ' ' }) {
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, false
			}
			dims = append(dims, n)
		}
		n, fits := parse.Elements(dims)
		if !fits || size == 0 || n > parse.MaxNumber/size {
			return 0, false
		}
		sum += engine.Bytes(n * size)
		text = strings.TrimLeft(text[end+1:], ", ")
	}
	return sum, sum <= parse.MaxNumber
}

// sizes holds the bytes of an element, by type.
var sizes = map[string]int64{"float64": 8, "int64": 8, "complex64": 8, "float32": 4, "int32": 4, "bfloat16": 2,
	"float16": 2, "int16": 2, "uint8": 1, "int8": 1, "bool": 1,
	"float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e8m0fnu": 1}

// written returns a size in torchtitan's notation.
func written(b engine.Bytes) string {
	for _, u := range []struct {
		size engine.Bytes
		name string
	}{{engine.GiB, "GiB"}, {engine.MiB, "MiB"}, {engine.KiB, "KiB"}} {
		if b >= u.size {
			return fmt.Sprintf("%.2f %s", float64(b)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d B", b)
}

// profile returns the profile: the embedding, the layers by number, and the modules after them.
func (r *reader) profile(name string) *profiles.Profile {
	var before, after []row
	layers := map[int][]row{}
	for _, g := range r.groups {
		for _, n := range g.layers {
			if r.line = g.line; layers[n] != nil {
				r.fail(fmt.Sprintf("layer %d is listed twice", n), "Every layer has one pattern.")
			}
			layers[n] = g.rows
		}
		for _, a := range g.rows {
			switch {
			case len(g.layers) > 0:
			case strings.Contains(a.module, "embed"):
				before = append(before, a)
			default:
				after = append(after, a)
			}
		}
	}
	c := &engine.Chain{Name: name}
	held := engine.Bytes(0) // bytes that the policy of the run keeps on the device
	stage := func(name string, rows []row) {
		if len(rows) == 0 {
			return
		}
		s := engine.Stage{Name: name, Out: rows[len(rows)-1].bytes, Grad: rows[len(rows)-1].bytes}
		for _, a := range rows {
			t := h100.Element(analytic.Activation, float64(a.bytes))
			s.Saved, s.Forward, s.Back = s.Saved+a.bytes, s.Forward+analytic.Duration(t.Forward),
				s.Back+analytic.Duration(t.Back)
			if strings.HasPrefix(a.policy, "SAVE") {
				held += a.bytes
			}
		}
		c.Stages = append(c.Stages, s)
	}
	stage("embedding", before)
	for _, n := range slices.Sorted(maps.Keys(layers)) {
		stage(fmt.Sprintf("layers.%d", n), layers[n])
	}
	stage("output", after)
	(&parse.StageReader{Errs: r.errs}).Finish(c, false)
	return &profiles.Profile{Name: name, Chain: c,
		Source: profiles.Source{Tool: "torchtitan", Times: profiles.Estimated, Sizes: profiles.Exact, Device: "H100",
			Notes: []string{
				"The list has no times: every activation takes as long as reading and writing it, products no longer. Shares of time are a guess.",
				"The list has no weights: their memory, gradients and the optimizer's are left out.",
				"A layer's output is its last activation. Storages that views share count as often as they are listed.",
				fmt.Sprintf("The policy of the run keeps %s of these activations on the device.", written(held)),
			}}}
}

// h100 is the card whose bandwidth gives the times.
var h100 = analytic.Estimate(989e12, 3.35e12)
