package qr

// set sets a module that is no data.
func (c *Code) set(x, y int, dark bool) {
	c.dark[y*c.Size+x], c.fixed[y*c.Size+x] = dark, true
}

// patterns draws what every code of the version has, and reserves the place of
// the format.
func (c *Code) patterns() {
	for i := range c.Size {
		c.set(6, i, i%2 == 0)
		c.set(i, 6, i%2 == 0)
	}
	for _, at := range [][2]int{{3, 3}, {c.Size - 4, 3}, {3, c.Size - 4}} {
		c.finder(at[0], at[1])
	}
	at := c.alignments()
	last := len(at) - 1
	for i, x := range at {
		for j, y := range at {
			if i == 0 && j == 0 || i == 0 && j == last || i == last && j == 0 {
				continue // the finders are there
			}
			for dy := -2; dy <= 2; dy++ {
				for dx := -2; dx <= 2; dx++ {
					c.set(x+dx, y+dy, max(abs(dx), abs(dy)) != 1)
				}
			}
		}
	}
	c.format(0)
	c.versionBits()
}

func abs(x int) int { return max(x, -x) }

func (c *Code) finder(x, y int) {
	for dy := -4; dy <= 4; dy++ {
		for dx := -4; dx <= 4; dx++ {
			if x+dx >= 0 && x+dx < c.Size && y+dy >= 0 && y+dy < c.Size {
				d := max(abs(dx), abs(dy))
				c.set(x+dx, y+dy, d != 2 && d != 4)
			}
		}
	}
}

// alignments are the coordinates of the centres of the alignment patterns
// (annex E).
func (c *Code) alignments() []int {
	if c.version == 1 {
		return nil
	}
	n := c.version/7 + 2
	step := (c.version*8 + n*3 + 5) / (n*4 - 4) * 2
	out := make([]int, n)
	out[0] = 6
	for i, at := n-1, c.Size-7; i > 0; i, at = i-1, at-step {
		out[i] = at
	}
	return out
}

// format writes level L and a mask, twice, with their error correction.
func (c *Code) format(mask int) {
	data := 1<<3 | mask
	rem := data
	for range 10 {
		rem = rem<<1 ^ rem>>9*0x537
	}
	bits := (data<<10 | rem) ^ 0x5412
	bit := func(i int) bool { return bits>>i&1 == 1 }
	for i := range 6 {
		c.set(8, i, bit(i))
	}
	c.set(8, 7, bit(6))
	c.set(8, 8, bit(7))
	c.set(7, 8, bit(8))
	for i := 9; i < 15; i++ {
		c.set(14-i, 8, bit(i))
	}
	for i := range 8 {
		c.set(c.Size-1-i, 8, bit(i))
	}
	for i := 8; i < 15; i++ {
		c.set(8, c.Size-15+i, bit(i))
	}
	c.set(8, c.Size-8, true)
}

func (c *Code) versionBits() {
	if c.version < 7 {
		return
	}
	rem := c.version
	for range 12 {
		rem = rem<<1 ^ rem>>11*0x1F25
	}
	bits := c.version<<12 | rem
	for i := range 18 {
		a, b := c.Size-11+i%3, i/3
		c.set(a, b, bits>>i&1 == 1)
		c.set(b, a, bits>>i&1 == 1)
	}
}

// place puts the codewords on their way, two columns at a time, up and down.
func (c *Code) place(words []byte) {
	i := 0
	for right := c.Size - 1; right >= 1; right -= 2 {
		if right == 6 {
			right = 5
		}
		for v := range c.Size {
			for j := range 2 {
				x, y := right-j, v
				if (right+1)&2 == 0 {
					y = c.Size - 1 - v
				}
				if !c.fixed[y*c.Size+x] && i < 8*len(words) {
					c.dark[y*c.Size+x] = words[i/8]>>(7-i%8)&1 == 1
					i++
				}
			}
		}
	}
}

// mask applies the mask with the least penalty.
func (c *Code) mask() {
	best, least := 0, -1
	for m := range 8 {
		c.flip(m)
		c.format(m)
		if p := c.penalty(); least < 0 || p < least {
			best, least = m, p
		}
		c.flip(m)
	}
	c.flip(best)
	c.format(best)
}

func (c *Code) flip(mask int) {
	for y := range c.Size {
		for x := range c.Size {
			at := y*c.Size + x
			c.dark[at] = c.dark[at] != (!c.fixed[at] && masked(mask, x, y))
		}
	}
}

func masked(mask, x, y int) bool {
	switch mask {
	case 0:
		return (x+y)%2 == 0
	case 1:
		return y%2 == 0
	case 2:
		return x%3 == 0
	case 3:
		return (x+y)%3 == 0
	case 4:
		return (x/3+y/2)%2 == 0
	case 5:
		return x*y%2+x*y%3 == 0
	case 6:
		return (x*y%2+x*y%3)%2 == 0
	}
	return ((x+y)%2+x*y%3)%2 == 0
}

// penalty counts what makes a code hard to read (7.8.3.1): long runs, blocks,
// what looks like a finder, and an uneven share of dark modules.
func (c *Code) penalty() (sum int) {
	n, dark := c.Size, 0
	for _, turned := range []bool{false, true} {
		at := func(i, j int) bool {
			if turned {
				return c.dark[j*n+i]
			}
			return c.dark[i*n+j]
		}
		for i := range n {
			run, window := 0, 0
			for j := range n {
				d := at(i, j)
				if j > 0 && d == at(i, j-1) {
					run++
				} else {
					run = 1
				}
				if run == 5 {
					sum += 3
				} else if run > 5 {
					sum++
				}
				window = window << 1 & 0x7FF
				if d {
					window |= 1
				}
				if j >= 10 && (window == 0x5D || window == 0x5D0) {
					sum += 40
				}
			}
		}
	}
	for y := range n {
		for x := range n {
			d := c.dark[y*n+x]
			if d {
				dark++
			}
			if x > 0 && y > 0 && d == c.dark[y*n+x-1] && d == c.dark[(y-1)*n+x] && d == c.dark[(y-1)*n+x-1] {
				sum += 3
			}
		}
	}
	return sum + abs(dark*20-n*n*10)/(n*n)*10
}
