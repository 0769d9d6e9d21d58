package all

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// script controls a mutation: bytes from a fuzzer, each of which makes a decision.
type script struct{ B []byte }

// more reports whether the script has bytes left.
func (s *script) more() bool { return len(s.B) > 0 }

// N returns a number below k, which is 0 at the end of the script.
func (s *script) N(k int) int {
	if k <= 1 || len(s.B) == 0 {
		return 0
	}
	v := int(s.B[0])
	s.B = s.B[1:]
	if k > 256 && len(s.B) > 0 {
		v, s.B = v<<8|int(s.B[0]), s.B[1:]
	}
	return v % k
}

// pick returns an element of list.
func (s *script) pick(list []string) string { return list[s.N(len(list))] }

// extremes are numbers that files contain when something went wrong.
var extremes = []string{"0", "1", "-1", "3", "0.5", "1e-9", "255", "20000", "2147483648", "9007199254740991",
	"9007199254740992", "9223372036854775807", "9223372036854775808",
	"-9223372036854775808", "18446744073709551616", "1e18", "1e300", "1e-300", "1e999999", "00", "NaN", "Infinity",
	strings.Repeat("9", 999), strings.Repeat("1", 1001)}

// oddTexts are names that no program writes. They must be read or refused.
var oddTexts = []string{"", " ", "a", "x1", "0", "loss", "null", "\x1b[2J", "\u202ea", "\xff", "a\"b", "a,b", "a;b",
	"a\tb", "#", "--", "node1", strings.Repeat("n", 999), strings.Repeat("n", 1001), strings.Repeat("long", 20_000)}

var mutations = flag.Int("mutations", 200, "random mutations of the samples of each format that an ordinary run tries")

// programs returns as many scripts for mutators as -mutations says. They are the same in every run.
func programs() (list [][]byte) {
	rng := rand.New(rand.NewPCG(7, 11))
	for range *mutations {
		program := make([]byte, 1+rng.IntN(40))
		for i := range program {
			program[i] = byte(rng.IntN(256))
		}
		list = append(list, program)
	}
	return list
}

// FuzzMutated checks the results of decoding mutated samples. The mutators belong to the formats.
func FuzzMutated(f *testing.F) {
	type sample struct {
		data   []byte
		mutate func(sample []byte, s *script) []byte
	}
	var samples []sample
	for _, format := range slices.Sorted(maps.Keys(owns)) {
		o := owns[format]
		first := len(samples)
		for _, name := range o.samples {
			samples = append(samples, sample{testdata(f, format, name), o.mutate})
		}
		n := len(samples) - first
		for i := range n {
			f.Add(byte(first+i), []byte{})
			f.Add(byte(first+i), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
		}
		for op := range 12 {
			if n > 0 {
				f.Add(byte(first+op%n), []byte{byte(op), byte(7 * op), byte(3 * op), byte(op), byte(5 * op), byte(op + 1),
					byte(11 * op), byte(op)})
			}
		}
		for i, program := range programs() {
			if n > 0 {
				f.Add(byte(first+i%n), program)
			}
		}
	}
	f.Fuzz(func(t *testing.T, number byte, program []byte) {
		if len(program) > 100 {
			return
		}
		of := samples[int(number)%len(samples)]
		checkDecoded(t, of.mutate(bytes.Clone(of.data), &script{program}))
	})
}

// jsonNode is a JSON value that can be written incorrectly: its keys keep their order and may occur twice.
type jsonNode struct {
	open byte // '{', '[', or 0
	keys []string
	kids []*jsonNode
	raw  string // text of a value that is neither a list nor an object
}

func parseNode(d *json.Decoder) *jsonNode {
	token, err := d.Token()
	if err != nil {
		return &jsonNode{raw: "null"}
	}
	open, ok := token.(json.Delim)
	if !ok {
		raw, _ := json.Marshal(token)
		return &jsonNode{raw: string(raw)}
	}
	n := &jsonNode{open: byte(open)}
	for d.More() {
		if open == '{' {
			key, _ := d.Token()
			text, _ := key.(string)
			n.keys = append(n.keys, text)
		}
		n.kids = append(n.kids, parseNode(d))
	}
	_, _ = d.Token() // the end
	return n
}

func (n *jsonNode) write(b *bytes.Buffer, depth int) {
	if n.open == 0 || depth > 80 || b.Len() > 1<<20 { // shared nodes may multiply the output
		b.WriteString(cmp.Or(n.raw, "null"))
		return
	}
	b.WriteByte(n.open)
	for i, kid := range n.kids {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.open == '{' {
			key, _ := json.Marshal(n.keys[i])
			b.Write(key)
			b.WriteByte(':')
		}
		kid.write(b, depth+1)
	}
	b.WriteByte(n.open + 2)
}

// mutateNode edits one place of the tree. keys and texts are words of the format.
func mutateNode(root *jsonNode, s *script, keys, texts []string) {
	at := root
	for at.open != 0 && len(at.kids) > 0 {
		i := s.N(len(at.kids))
		if kid := at.kids[i]; kid.open != 0 && s.N(4) > 0 {
			at = kid
			continue
		}
		at.edit(i, s, keys, texts)
		return
	}
	if at.open == '[' {
		at.kids = append(at.kids, &jsonNode{raw: s.pick(extremes)})
	}
}

func (n *jsonNode) edit(i int, s *script, keys, texts []string) {
	quoted := func(text string) *jsonNode { return &jsonNode{raw: strconv.Quote(text)} }
	insert := func(key string, kid *jsonNode) {
		n.kids = append(n.kids, kid)
		if n.open == '{' {
			n.keys = append(n.keys, key)
		}
	}
	switch s.N(11) {
	case 0: // delete
		n.kids = append(n.kids[:i:i], n.kids[i+1:]...)
		if n.open == '{' {
			n.keys = append(n.keys[:i:i], n.keys[i+1:]...)
		}
	case 1: // duplicate, also the key
		key := ""
		if n.open == '{' {
			key = n.keys[i]
		}
		insert(key, n.kids[i])
	case 2:
		n.kids[i] = &jsonNode{raw: s.pick(extremes)}
	case 3:
		n.kids[i] = quoted(s.pick(oddTexts))
	case 4:
		n.kids[i] = quoted(s.pick(texts))
	case 5: // reorder
		if j := s.N(len(n.kids)); n.open == '[' {
			n.kids[i], n.kids[j] = n.kids[j], n.kids[i]
		} else {
			n.keys[i], n.keys[j] = n.keys[j], n.keys[i]
		}
	case 6: // nest
		kid := n.kids[i]
		for range 1 + s.N(70) {
			kid = &jsonNode{open: '[', kids: []*jsonNode{kid}}
		}
		n.kids[i] = kid
	case 7:
		insert(s.pick(keys), &jsonNode{raw: s.pick(extremes)})
	case 8:
		insert(s.pick(keys), quoted(s.pick(texts)))
	case 9: // another kind of value
		n.kids[i] = &jsonNode{raw: s.pick([]string{"null", "true", "false", "{}", "[]", `""`, "[null]", `{"":0}`})}
	case 10: // many
		for range 1 + s.N(40) {
			insert(s.pick(keys), n.kids[i])
		}
	}
}

// mutateJSON edits a JSON value up to six times.
func mutateJSON(sample []byte, s *script, keys, texts []string) []byte {
	if !json.Valid(sample) { // old traces have bare backslashes
		if sample = bytes.ReplaceAll(sample, []byte(`\`), []byte(`\\`)); !json.Valid(sample) {
			return sample // a line that has been mutated already
		}
	}
	d := json.NewDecoder(bytes.NewReader(sample))
	d.UseNumber()
	root := parseNode(d)
	for range 6 {
		if !s.more() {
			break
		}
		mutateNode(root, s, keys, texts)
	}
	var b bytes.Buffer
	root.write(&b, 0)
	return b.Bytes()
}

// mutateCells edits a table whose rows have cells separated by comma.
func mutateCells(sample []byte, s *script, comma string, names []string) []byte {
	rows := strings.Split(strings.TrimSuffix(string(sample), "\n"), "\n")
	for range 6 {
		if !s.more() {
			break
		}
		i := s.N(len(rows))
		cells := strings.Split(rows[i], comma)
		j := s.N(len(cells))
		switch s.N(9) {
		case 0:
			rows = append(rows[:i:i], rows[i+1:]...)
			if len(rows) == 0 {
				return nil
			}
			continue
		case 1:
			rows = append(rows, rows[i])
			continue
		case 2:
			k := s.N(len(rows))
			rows[i], rows[k] = rows[k], rows[i]
			continue
		case 3:
			cells[j] = s.pick(extremes)
		case 4:
			cells[j] = s.pick(oddTexts)
		case 5:
			cells[j] = s.pick(names)
		case 6:
			cells = append(cells[:j:j], cells[j+1:]...)
		case 7:
			cells = append(cells, cells[j])
		case 8:
			cells[j] = `"` + cells[j]
		}
		rows[i] = strings.Join(cells, comma)
	}
	return []byte(strings.Join(rows, "\n") + "\n")
}

// meaningful are bytes that have a meaning in some format.
const meaningful = "0123456789-.e[]{},\":\x00\x7f\x80\xff"

// damage changes one to four places of data: a bit, a byte, a number, or a piece that is removed, doubled or
// copied from elsewhere. Equal seeds make equal changes.
func damage(data []byte, seed uint64) []byte {
	out := bytes.Clone(data)
	state := seed*0x9e3779b97f4a7c15 + 1
	next := func(n int) int { // xorshift* (Vigna, doi:10.1145/2845077)
		state ^= state >> 12
		state ^= state << 25
		state ^= state >> 27
		return int((state * 0x2545f4914f6cdd1d) >> 33 % uint64(max(1, n)))
	}
	for range 1 + next(4) {
		if len(out) == 0 {
			return out
		}
		at := next(len(out))
		size := min(1+next(16), len(out)-at)
		switch next(7) {
		case 0:
			out[at] ^= 1 << next(8)
		case 1:
			out[at] = byte(next(256))
		case 2:
			out[at] = meaningful[next(len(meaningful))]
		case 3:
			out = append(out[:at:at], out[at+size:]...)
		case 4:
			out = append(out[:at+size:at+size], out[at:]...)
		case 5:
			from := next(len(out) - size + 1)
			copy(out[at:at+size], bytes.Clone(out[from:from+size]))
		case 6: // a number that is much longer
			out = append(out[:at:at], append([]byte("9999999999"), out[at:]...)...)
		}
	}
	return out
}
