package module

// Reader reads numbers of the binary format (LEB128) from I on. Err is set once
// something does not fit; what is read from then on is zero.
type Reader struct {
	B   []byte
	I   int
	Err error
}

// Take returns the next n bytes, or nil if fewer remain.
func (r *Reader) Take(n int) []byte {
	if n < 0 || n > len(r.B)-r.I {
		r.Err, r.I = ErrForm, len(r.B)
		return nil
	}
	r.I += n
	return r.B[r.I-n : r.I]
}

// Byte returns the next byte.
func (r *Reader) Byte() byte {
	if b := r.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// Unsigned returns the next number, which has no sign.
func (r *Reader) Unsigned() (n uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := r.Byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	r.Err = ErrForm
	return 0
}

// Signed returns the next number, which has a sign.
func (r *Reader) Signed() (n int64) {
	for shift := 0; shift < 64; {
		b := r.Byte()
		n |= int64(b&0x7f) << shift
		shift += 7
		if b < 0x80 {
			unused := max(64-shift, 0)
			return n << unused >> unused
		}
	}
	r.Err = ErrForm
	return 0
}

// AppendUnsigned writes a number that Reader.Unsigned reads.
func AppendUnsigned(b []byte, n uint64) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// AppendSigned writes a number that Reader.Signed reads.
func AppendSigned(b []byte, n int64) []byte {
	for ; n < -64 || n >= 64; n >>= 7 {
		b = append(b, byte(n)&0x7f|0x80)
	}
	return append(b, byte(n)&0x7f)
}
