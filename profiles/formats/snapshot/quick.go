package snapshot

import "encoding/binary"

// quick executes the instructions that snapshots are full of, up to one that is not
// among them, or that might be wrong: step knows all. It ends after some bytes.
func (u *unpickler) quick(bytes int) {
	const longest = 10 // bytes that one takes here
	buf, at, stack, memo, known := u.buf[:min(u.hi, u.lo+bytes)], u.lo, u.stack, u.memo.parts, u.memo.n
scan:
	for at+longest <= len(buf) && len(stack) < mostStack {
		b := buf[at : at+longest]
		var v pval
		n := 2
		switch b[0] {
		case 'h', 'j':
			i := int(b[1])
			if b[0] == 'j' {
				i, n = int(binary.LittleEndian.Uint32(b[1:])), 5
			}
			if i >= known {
				break scan
			}
			if v = pval(memo[i/chunkSize][i%chunkSize]); v.open() {
				break scan
			}
		case 'K':
			v = indexed(pvInt, int(b[1]))
		case 'M':
			v, n = indexed(pvInt, int(binary.LittleEndian.Uint16(b[1:]))), 3
		case 'J':
			v, n = integer(int64(int32(binary.LittleEndian.Uint32(b[1:])))), 5
		case 0x8a:
			digits := int(b[1])
			if digits == 0 || digits > 8 {
				break scan
			}
			v, n = integer(int64(binary.LittleEndian.Uint64(b[2:])<<(64-8*digits))>>(64-8*digits)), 2+digits
		case 'N', 0x89:
			n = 1
		case '}', ']', 0x94, '(', 'u', 'e':
			if b[0] == '}' {
				if u.stack = stack; u.wholeDict(at) {
					stack, at, memo, known = u.stack, u.lo, u.memo.parts, u.memo.n
					continue
				}
			}
			u.stack, u.lo, u.op = stack, at+1, u.base+at
			u.step(b[0], 0)
			stack, at, memo, known = u.stack, u.lo, u.memo.parts, u.memo.n
			continue
		default:
			break scan
		}
		stack, at = append(stack, v), at+n
	}
	u.stack, u.lo = stack, at
}

// pairKey is a key as it is written: BINGET or LONG_BINGET with a number. The dictionaries
// of a snapshot have the same keys in the same order.
type pairKey struct {
	text, mask uint64
	size       int // bytes; 0: there was none yet
	key        pval
}

// mostPairs is how many keys a dictionary may have to be read at once.
const mostPairs = 16

// wholeDict reads a dictionary at a place of the window, if all of it is there and is
// made of texts that were named before, numbers and a list of frames that were named
// before. Otherwise it reads nothing and says false.
func (u *unpickler) wholeDict(at int) bool {
	const most = 10 // bytes of a number; a key and the end of the list are shorter
	b := u.buf[at:u.hi]
	if len(b) < 3 || b[1] != 0x94 || b[2] != '(' || u.openDicts.full() || len(u.marks) == mostMarks || u.renamed {
		return false
	}
	r, frames, n := record{device: noDevice}, pval(pvOther), 3
	for i := 0; n+most <= len(b) && b[n] != 'u'; i++ {
		if i == mostPairs {
			return false
		}
		k := &u.pairs[i]
		if word := binary.LittleEndian.Uint64(b[n:]); word&k.mask != k.text || k.size == 0 {
			if !u.readKey(word, k) {
				return false
			}
		}
		if n += k.size; n+most > len(b) {
			return false
		}
		v, size := u.value(b[n:])
		if size == 0 && frames == pvOther {
			v, size = u.wholeList(b[n:])
			frames = v
		}
		if size == 0 {
			return false
		}
		u.set(&r, k.key, v)
		n += size
	}
	if n >= len(b) || b[n] != 'u' {
		return false
	}
	return u.pushWhole(r, frames, at+n+1)
}

// pushWhole pushes a dictionary that ends before a place of the window; frames is the
// list in it, if there is one.
func (u *unpickler) pushWhole(r record, frames pval, end int) bool {
	memo := u.memo.n
	u.memo.add(uint32(pvOther))
	if frames != pvOther {
		u.memo.add(packed(frames))
	}
	u.built += memoRoom * (u.memo.n - memo) // if that is too much, the next object says so
	v := indexed(pvOpenDict, u.openDicts.add(openDict{r, open{int32(len(u.stack)), int32(memo)}}))
	*u.memo.at(memo) = packed(v)
	u.stack, u.lo, u.whole = append(u.stack, v), end, u.whole+1
	return true
}

// readKey reads a key into k, if it is a text.
func (u *unpickler) readKey(word uint64, k *pairKey) bool {
	i, size := int(byte(word>>8)), 2
	switch byte(word) {
	case 'h':
	case 'j':
		i, size = int(uint32(word>>8)), 5
	default:
		return false
	}
	if i >= u.memo.n {
		return false
	}
	v := pval(*u.memo.at(i))
	if v.kind() != pvText {
		return false
	}
	mask := uint64(1)<<(8*size) - 1
	*k = pairKey{word & mask, mask, size, v}
	return true
}

// valueCode is how the operand of a number is written: its bytes, and whether it has a
// sign.
var valueCode = [256]struct {
	size   uint8
	signed bool
}{'K': {size: 1}, 'M': {size: 2}, 'J': {size: 4, signed: true}}

// value reads a number or what the memo has, which is finished, from at least 10 bytes;
// n is how many it takes, 0 if it is something else.
func (u *unpickler) value(b []byte) (v pval, n int) {
	op := b[0]
	if c := valueCode[op]; c.size > 0 {
		bits := 64 - 8*int(c.size)
		word := binary.LittleEndian.Uint64(b[1:]) << bits
		if c.signed {
			return integer(int64(word) >> bits), 1 + int(c.size)
		}
		return indexed(pvInt, int(word>>bits)), 1 + int(c.size)
	}
	i := int(b[1])
	switch op {
	case 0x8a:
		if i == 0 || i > 8 {
			return 0, 0
		}
		bits := 64 - 8*i
		return integer(int64(binary.LittleEndian.Uint64(b[2:])<<bits) >> bits), 2 + i
	case 'h':
		n = 2
	case 'j':
		i, n = int(binary.LittleEndian.Uint32(b[1:])), 5
	case 'N', 0x89:
		return pvOther, 1
	case 0x88:
		return pvTrue, 1
	default:
		return 0, 0
	}
	if i >= u.memo.n {
		return 0, 0
	}
	if v = pval(*u.memo.at(i)); v.open() {
		return 0, 0
	}
	return v, n
}

// wholeList reads a list of frames that were named before, or an empty one that is
// followed by a key; n is how many bytes it takes, 0 if it is something else.
func (u *unpickler) wholeList(b []byte) (v pval, n int) {
	if b[0] != ']' || b[1] != 0x94 {
		return pvOther, 0
	}
	if b[2] != '(' {
		return indexed(pvStack, 0), 2
	}
	stack, n := u.namedStack(b[3:])
	if n == 0 {
		return pvOther, 0
	}
	return indexed(pvStack, int(stack)), 3 + n
}
