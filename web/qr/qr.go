// Package qr makes QR codes: byte mode with error correction level L, which is
// enough on a screen, in the smallest version that holds the text (ISO/IEC
// 18004:2015).
package qr

import "fmt"

// Code is a QR code without its quiet zone of four modules.
type Code struct {
	Size    int // modules on a side
	version int
	dark    []bool
	fixed   []bool // modules that are no data
}

// Dark says whether the module in a column and a row is dark.
func (c *Code) Dark(x, y int) bool { return c.dark[y*c.Size+x] }

// Codewords for error correction of each block, and number of blocks, of level L
// by version (table 9).
var (
	eccWords  = [41]int{0, 7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30}
	eccBlocks = [41]int{0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25}
)

// modules is the number of modules of a version that hold data.
func modules(version int) int {
	n := (16*version+128)*version + 64
	if version >= 2 {
		k := version/7 + 2
		n -= (25*k-10)*k - 55
		if version >= 7 {
			n -= 36
		}
	}
	return n
}

// dataWords is how many codewords of data a version holds.
func dataWords(version int) int { return modules(version)/8 - eccWords[version]*eccBlocks[version] }

// Encode is the code of a text. It is an error if the text has more than 2953
// bytes.
func Encode(text string) (*Code, error) {
	version := 1
	for ; version <= 40 && len(text) > capacity(version); version++ {
	}
	if version > 40 {
		return nil, fmt.Errorf("the text has %d bytes; a QR code holds at most %d", len(text), capacity(40))
	}
	c := &Code{Size: 17 + 4*version, version: version}
	c.dark, c.fixed = make([]bool, c.Size*c.Size), make([]bool, c.Size*c.Size)
	c.patterns()
	c.place(interleave(version, words(version, text)))
	c.mask()
	return c, nil
}

// capacity is how many bytes fit: 4 bits say that bytes follow, 8 or 16 how many.
func capacity(version int) int { return dataWords(version) - (4+countBits(version)+7)/8 }

func countBits(version int) int {
	if version < 10 {
		return 8
	}
	return 16
}

// words are the codewords of a text.
func words(version int, text string) []byte {
	out := make([]byte, 0, dataWords(version))
	acc, n := 0, 0
	put := func(value, bits int) {
		acc, n = acc<<bits|value, n+bits
		for ; n >= 8; n -= 8 {
			out = append(out, byte(acc>>(n-8)))
		}
		acc &= 1<<n - 1
	}
	put(4, 4)
	put(len(text), countBits(version))
	for i := range len(text) {
		put(int(text[i]), 8)
	}
	put(0, 4) // the end; 4 bits are always left
	for pad := 0xEC; len(out) < cap(out); pad ^= 0xEC ^ 0x11 {
		out = append(out, byte(pad))
	}
	return out
}

// interleave splits the data into blocks, adds their error correction, and takes
// one codeword of each in turn.
func interleave(version int, data []byte) []byte {
	blocks, ecc := eccBlocks[version], eccWords[version]
	total := modules(version) / 8
	short, long := total/blocks-ecc, total%blocks // the last blocks have one more
	divisor := generator(ecc)
	var parts, checks [][]byte
	for i := range blocks {
		n := short
		if i >= blocks-long {
			n++
		}
		parts, checks = append(parts, data[:n]), append(checks, remainder(data[:n], divisor))
		data = data[n:]
	}
	out := make([]byte, 0, total)
	for _, set := range [][][]byte{parts, checks} {
		for i := range max(short+1, ecc) {
			for _, b := range set {
				if i < len(b) {
					out = append(out, b[i])
				}
			}
		}
	}
	return out
}

// multiply is the product in GF(256) modulo x^8+x^4+x^3+x^2+1.
func multiply(a, b byte) byte {
	z := 0
	for i := 7; i >= 0; i-- {
		z = z<<1 ^ z>>7*0x11D ^ int(b>>i&1)*int(a)
	}
	return byte(z)
}

// generator is the Reed-Solomon generator polynomial of a degree, without its
// leading coefficient 1, highest power first.
func generator(degree int) []byte {
	g := make([]byte, degree)
	g[degree-1] = 1
	root := byte(1)
	for range degree {
		for j := range g {
			g[j] = multiply(g[j], root)
			if j+1 < degree {
				g[j] ^= g[j+1]
			}
		}
		root = multiply(root, 2)
	}
	return g
}

func remainder(data, divisor []byte) []byte {
	r := make([]byte, len(divisor))
	for _, b := range data {
		factor := b ^ r[0]
		copy(r, r[1:])
		r[len(r)-1] = 0
		for i, d := range divisor {
			r[i] ^= multiply(d, factor)
		}
	}
	return r
}
