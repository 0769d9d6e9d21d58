package link

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/web/choice"
)

// writer encodes a body.
type writer struct {
	b    []byte
	pack *packer
}

func (w *writer) uint(n uint64) { w.b = binary.AppendUvarint(w.b, n) }

func (w *writer) text(s string) { w.uint(uint64(len(s))); w.b = append(w.b, s...) }

// Flags of a chain.
const (
	flagBorn  = 1 << iota // LossGradAllocated
	flagNamed             // the name of the chain differs from the profile's
)

func (w *writer) texts(list []string) {
	w.uint(uint64(len(list)))
	for _, s := range list {
		w.text(s)
	}
}

func (w *writer) device(d *engine.Device) {
	if d == nil {
		w.uint(0)
		return
	}
	w.uint(1)
	w.text(d.Name)
	for _, n := range []uint64{uint64(d.Memory), uint64(d.ToHost), uint64(d.ToDev), uint64(d.Duplex)} {
		w.uint(n)
	}
}

// predict returns the prediction of predictor k for row i of a column: 0 (k is 0), the row
// before (1), or once or twice the value of an earlier column (2 and above).
func predict(k int, earlier [][]int64, column []int64, i int) int64 {
	switch {
	case k >= 2:
		return earlier[(k-2)/2][i] * int64(1+k%2)
	case k == 1 && i > 0:
		return column[i-1]
	}
	return 0
}

func predictors(earlier [][]int64) int { return 2 + 2*len(earlier) }

// column writes a column with the predictor and the packing that make it shortest after deflate.
func (w *writer) column(earlier [][]int64, values []int64) {
	some := values[:min(len(values), tried)]
	var best []byte
	var least, predictor, packing int
	for k := range predictors(earlier) {
		head, rest := residue(k, earlier, some)
		for i, pack := range packings {
			b := pack(head, rest)
			if n := len(w.pack.deflate(b)); best == nil || n < least {
				best, least, predictor, packing = b, n, k, i
			}
		}
	}
	if len(some) < len(values) {
		best = packings[packing](residue(predictor, earlier, values))
	}
	w.b = append(w.b, best...)
}

// tried is how many values of a column are used to choose its predictor and packing, which
// takes most of the time of encoding a long profile.
const tried = 2048

var packings = [...]func(head []byte, values []int64) []byte{appendVarints, appendBits}

// residue returns the differences of a column from predictor k, without their least value and
// divided by their greatest common divisor. head encodes these three numbers.
func residue(k int, earlier [][]int64, values []int64) (head []byte, rest []int64) {
	rest = make([]int64, len(values))
	for i, v := range values {
		rest[i] = v - predict(k, earlier, values, i)
	}
	low := slices.Min(rest)
	var g uint64
	for i := range rest {
		rest[i] -= low
		g = engine.GCD(g, uint64(rest[i]))
	}
	head = binary.AppendVarint([]byte{byte(k)}, low)
	head = binary.AppendUvarint(head, g)
	for i := range rest {
		rest[i] /= int64(max(g, 1))
	}
	return head, rest
}

// appendVarints packs numbers as the width 0 and a varint each, for repeated numbers that deflate
// finds. If all are 0, it writes only the width: the divisor 0 implies the rest.
func appendVarints(head []byte, values []int64) []byte {
	b := append(slices.Clone(head), 0)
	if slices.Max(values) == 0 {
		return b
	}
	for _, v := range values {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return b
}

// appendBits packs numbers as the width of the largest one in bits and every number in that
// many bits, for noise that deflate cannot shorten.
func appendBits(head []byte, values []int64) []byte {
	width := bits.Len64(uint64(slices.Max(values)))
	b := append(slices.Clone(head), byte(width))
	from := 8 * len(b)
	b = append(b, make([]byte, (len(values)*width+7)/8)...)
	for i, v := range values {
		at := from + i*width
		for end := at + width; at < end; { // fill the rest of one byte at a time
			b[at/8] |= byte(v << (at % 8))
			v >>= 8 - at%8
			at += 8 - at%8
		}
	}
	return b
}

// bodyReader decodes a body.
type bodyReader struct {
	b      []byte
	bad    bool  // the body is damaged or refused
	err    error // why, if known
	budget *profiles.Budget
}

// fail ends the decoding of a damaged body.
func (r *bodyReader) fail() { r.bad, r.b = true, nil }

// refuse ends the decoding because of an exceeded limit.
func (r *bodyReader) refuse(e *profiles.FormatError) {
	if r.err == nil {
		r.err = choice.Sentence("This link's profile is not read: %s. %s Open the file itself instead.", e.Found,
			e.Expected)
	}
	r.fail()
}

func (r *bodyReader) uint() uint64 { return r.limited(1 << 62) }

// limited reads a number that is at most limit.
func (r *bodyReader) limited(limit uint64) uint64 {
	n, k := binary.Uvarint(r.b)
	if k <= 0 || n > limit {
		r.fail()
		return 0
	}
	r.b = r.b[k:]
	return n
}

func (r *bodyReader) int() int64 {
	n, k := binary.Varint(r.b)
	if k <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[k:]
	return n
}

// count reads a number of items that take at least size bytes each.
func (r *bodyReader) count(size int) int {
	n := r.uint()
	if n > uint64(len(r.b)/size) {
		r.fail()
		return 0
	}
	return int(n)
}

// name and text read a string and charge it to the budget; what names it in errors.
func (r *bodyReader) name(what string) string { return r.charged(what, r.budget.Name) }
func (r *bodyReader) text(what string) string { return r.charged(what, r.budget.Text) }

func (r *bodyReader) charged(what string, charge func(what string, n int) *profiles.FormatError) string {
	n := r.count(1)
	if e := charge(what, n); e != nil {
		r.refuse(e)
		return ""
	}
	return r.take(n)
}

func (r *bodyReader) take(n int) string {
	s := string(r.b[:n])
	r.b = r.b[n:]
	return profiles.CleanText(s)
}

func (r *bodyReader) texts(what string) (list []string) {
	n := r.count(1)
	if n > profiles.MaxNotes {
		r.refuse(&profiles.FormatError{Found: strconv.Itoa(n) + " " + what,
			Expected: "At most " + strconv.Itoa(profiles.MaxNotes) + " are read."})
		return nil
	}
	for range n {
		list = append(list, r.text("one of the "+what))
	}
	return list
}

func (r *bodyReader) device() *engine.Device {
	if r.uint() == 0 {
		return nil
	}
	d := &engine.Device{Name: r.name("the name of the device")}
	d.Memory, d.ToHost, d.ToDev = engine.Bytes(r.uint()), engine.Rate(r.uint()), engine.Rate(r.uint())
	d.Duplex = engine.Duplex(r.uint() & 1)
	return d
}

func (r *bodyReader) column(earlier [][]int64, n int) []int64 {
	out := make([]int64, n)
	k, least, g, width := r.uint(), r.int(), r.uint(), int(r.uint())
	if k >= uint64(predictors(earlier)) || width > 64 || len(r.b) < (n*width+7)/8 {
		r.fail()
		return out
	}
	packed := r.b
	r.b = r.b[(n*width+7)/8:]
	for i := range out {
		rest := least
		if g > 0 {
			var v uint64
			if width == 0 {
				v = r.uint()
			}
			for j := range width {
				bit := i*width + j
				v |= uint64(packed[bit/8]>>(bit%8)&1) << j
			}
			if v > (1<<62)/g {
				r.fail()
				return out
			}
			rest += int64(v * g)
		}
		// Sums may overflow on hostile input; Validate refuses the result.
		out[i] = rest + predict(int(k), earlier, out, i)
	}
	return out
}

// small is limited for an int.
func (r *bodyReader) small(limit int) int { return int(r.limited(uint64(limit))) }

// ended returns the decoded profile p, or an error if the body is damaged or if valid returns one.
func (r *bodyReader) ended(p *profiles.Profile, valid func() error) (*profiles.Profile, error) {
	if r.err != nil {
		return nil, r.err
	}
	if r.bad || len(r.b) != 0 {
		return nil, errDamaged
	}
	if err := valid(); err != nil {
		return nil, choice.Sentence("This link's profile makes no sense: %v.", err)
	}
	return p, nil
}

// packer compresses byte slices with raw deflate. It is reused because a compressor is large.
type packer struct {
	w   *flate.Writer
	out bytes.Buffer
}

func newPacker() *packer {
	w, err := flate.NewWriter(nil, flate.BestCompression)
	if err != nil {
		panic("link: " + err.Error()) // only for a level that does not exist
	}
	return &packer{w: w}
}

// deflate compresses b. The result is valid until the next call.
func (p *packer) deflate(b []byte) []byte {
	p.out.Reset()
	p.w.Reset(&p.out)
	_, err := p.w.Write(b)
	if err == nil {
		err = p.w.Close()
	}
	if err != nil {
		panic("link: " + err.Error()) // writing to a buffer cannot fail
	}
	return p.out.Bytes()
}

var errDamaged = choice.Sentence("This link is damaged: its checksum does not match. Ask for it again, or open the file itself.")

// The tokens of a run of names.
const (
	nameLiteral = iota // the name follows
	nameSame           // the same as the previous name
	nameNext           // the successor of the previous name
)

// successor returns a name with its last number increased by one: h.9.attn -> h.10.attn.
func successor(s string) string {
	end := strings.LastIndexAny(s, "0123456789") + 1
	start := end
	for start > 0 && s[start-1] >= '0' && s[start-1] <= '9' {
		start--
	}
	n, err := strconv.ParseUint(s[start:end], 10, 32)
	if err != nil {
		return s
	}
	return s[:start] + strconv.FormatUint(n+1, 10) + s[end:]
}

// Names of values and operations repeat with the blocks of a network: the distance from h.0/qkv to h.1/qkv is that of
// all names of the block. Such a name is encoded as a token and the distance, two bytes that are the same for the whole
// block. Token nameBlock + 2k increases number k of the earlier name by one, and nameBlock + 2k + 1 decreases it.
const (
	nameBlock    = nameNext + 1
	blockNumbers = 4 // how many of the first numbers of a name may change
)

// names writes names. blocks enables the tokens from nameBlock on, for values and operations.
func (w *writer) names(names []string, blocks bool) {
	last := map[string]int{}
	prev := ""
	for i, n := range names {
		var token uint64
		var distance int
		if blocks {
			token, distance = blockToken(n, i, last)
		}
		switch {
		case n == prev:
			w.uint(nameSame)
		case n == successor(prev):
			w.uint(nameNext)
		case token > 0:
			w.uint(token)
			w.uint(uint64(distance))
		default:
			w.uint(nameLiteral)
			w.text(n)
		}
		prev, last[n] = n, i
	}
}

// blockToken returns the token and the shortest distance with which name i follows from an
// earlier name; last has the last index of each. token is 0 if there is none.
func blockToken(name string, i int, last map[string]int) (token uint64, distance int) {
	for k := range blockNumbers {
		for _, by := range [...]int{1, -1} {
			from, ok := stepped(name, k, -by)
			if !ok {
				continue
			}
			if at, known := last[from]; known && (token == 0 || i-at < distance) {
				distance, token = i-at, nameBlock+2*uint64(k)
				if by < 0 {
					token++
				}
			}
		}
	}
	return token, distance
}

// stepped returns a name with its number k changed by 1 or -1. It reports false if the name has
// no such number, or if the opposite step would not restore the name.
func stepped(name string, k, by int) (string, bool) {
	for at := 0; ; k-- {
		start := strings.IndexAny(name[at:], "0123456789")
		if start < 0 {
			return "", false
		}
		start += at
		end := start
		for end < len(name) && name[end] >= '0' && name[end] <= '9' {
			end++
		}
		if at = end; k > 0 {
			continue
		}
		n, err := strconv.ParseUint(name[start:end], 10, 32)
		if err != nil || n == 0 && by < 0 || end-start > 1 && name[start] == '0' {
			return "", false
		}
		return name[:start] + strconv.FormatUint(uint64(int64(n)+int64(by)), 10) + name[end:], true
	}
}

// names reads n names. Each is charged to the budget at its full length.
func (r *bodyReader) names(what string, n int, blocks bool) []string {
	if n > len(r.b) {
		r.fail()
	}
	if r.bad {
		return nil
	}
	out := make([]string, n)
	prev := ""
	for i := range out {
		switch token := r.uint(); {
		case token == nameSame:
		case token == nameNext:
			prev = successor(prev)
		case token == nameLiteral:
			prev = r.take(r.count(1))
		case blocks && token < nameBlock+2*blockNumbers:
			distance, by, ok := r.small(i), 1, false
			if (token-nameBlock)%2 == 1 {
				by = -1
			}
			if distance > 0 {
				prev, ok = stepped(out[i-distance], int(token-nameBlock)/2, by)
			}
			r.bad = r.bad || !ok
		default:
			r.bad = true
		}
		if r.bad {
			r.b = nil
			return out
		}
		if e := r.budget.Name(what+" "+strconv.Itoa(i+1), len(prev)); e != nil {
			r.refuse(e)
			return out
		}
		out[i] = prev
	}
	return out
}
