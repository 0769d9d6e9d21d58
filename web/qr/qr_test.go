package qr

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// read is the text of a code, read back module by module as a scanner does, with
// an own path over the code; problem says what is wrong with it.
func read(c *Code) (text, problem string) {
	format := 0
	for i, at := range [][2]int{{8, 0}, {8, 1}, {8, 2}, {8, 3}, {8, 4}, {8, 5}, {8, 7}, {8, 8}, {7, 8}, {5, 8}, {4, 8}, {3, 8}, {2, 8}, {1, 8}, {0, 8}} {
		if c.Dark(at[0], at[1]) {
			format |= 1 << i
		}
	}
	format ^= 0x5412
	if format>>13 != 1 {
		return "", "the format does not say level L"
	}
	var bits []bool
	up := true
	for x := c.Size - 1; x > 0; x -= 2 {
		if x == 6 {
			x--
		}
		for i := range c.Size {
			y := i
			if up {
				y = c.Size - 1 - i
			}
			for _, col := range []int{x, x - 1} {
				if !c.fixed[y*c.Size+col] {
					bits = append(bits, c.Dark(col, y) != masked(format>>10&7, col, y))
				}
			}
		}
		up = !up
	}
	total := len(bits) / 8
	if total != modules(c.version)/8 {
		return "", "the number of codewords is wrong"
	}
	all := make([]byte, total)
	for i := range all {
		for b := range 8 {
			all[i] <<= 1
			if bits[8*i+b] {
				all[i]++
			}
		}
	}
	blocks, ecc := eccBlocks[c.version], eccWords[c.version]
	data := make([][]byte, blocks)
	n := dataWords(c.version)
	at := 0
	for i := 0; at < n; i++ {
		for b := range data {
			if size := n / blocks; i < size || i == size && b >= blocks-n%blocks {
				data[b] = append(data[b], all[at])
				at++
			}
		}
	}
	var joined []byte
	for b := range data {
		joined = append(joined, data[b]...)
		for i := range ecc {
			data[b] = append(data[b], all[n+i*blocks+b])
		}
		root := byte(1)
		for range ecc { // the polynomial is 0 at every root of the generator
			sum := byte(0)
			for _, w := range data[b] {
				sum = multiply(sum, root) ^ w
			}
			if sum != 0 {
				return "", "a block has a syndrome that is not 0"
			}
			root = multiply(root, 2)
		}
	}
	if joined[0]>>4 != 4 {
		return "", "the mode is not bytes"
	}
	length, from := int(joined[0]&15)<<4|int(joined[1]>>4), 1
	if c.version >= 10 {
		length, from = length<<8|int(joined[1]&15)<<4|int(joined[2]>>4), 2
	}
	out := make([]byte, length)
	for i := range out {
		out[i] = joined[from+i]<<4 | joined[from+i+1]>>4
	}
	return string(out), ""
}

func TestReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 17, 18, 53, 134, 230, 231, 500, 1367, 1368, 1500, 2953} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(32 + r.IntN(95))
		}
		c, err := Encode(string(b))
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if got, problem := read(c); problem != "" || got != string(b) {
			t.Errorf("%d bytes, version %d: %s, read back as %q, want %q", n, c.version, problem, got, b)
		}
	}
	if _, err := Encode(strings.Repeat("x", 2954)); err == nil {
		t.Error("2954 bytes were accepted")
	}
}

// The totals of table 1 and the capacities of table 7 of the standard.
func TestCapacities(t *testing.T) {
	for version, want := range map[int][2]int{1: {26, 17}, 2: {44, 32}, 6: {172, 134}, 7: {196, 154}, 9: {292, 230}, 10: {346, 271}, 14: {581, 458}, 21: {1156, 929}, 26: {1706, 1367}, 40: {3706, 2953}} {
		if got := [2]int{modules(version) / 8, capacity(version)}; got != want {
			t.Errorf("version %d: codewords and bytes %v, want %v", version, got, want)
		}
	}
}

// The positions of alignment patterns of annex E.
func TestAlignments(t *testing.T) {
	for version, want := range map[int][]int{1: nil, 2: {6, 18}, 7: {6, 22, 38}, 22: {6, 26, 50, 74, 98}, 32: {6, 34, 60, 86, 112, 138}, 36: {6, 24, 50, 76, 102, 128, 154}, 40: {6, 30, 58, 86, 114, 142, 170}} {
		got := (&Code{version: version, Size: 17 + 4*version}).alignments()
		same := len(got) == len(want)
		for i := range want {
			same = same && got[i] == want[i]
		}
		if !same {
			t.Errorf("version %d: %v, want %v", version, got, want)
		}
	}
}
