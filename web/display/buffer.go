package display

import (
	"encoding/binary"
	"math"
	"unicode/utf16"
)

// bufferMagic begins every command buffer; the last byte is the version.
const bufferMagic = uint32('M') | 'T'<<8 | 'D'<<16 | '1'<<24

// AppendBuffer appends the scene as commands for paint.js, little-endian:
//
//	header   magic u32, width f32, height f32, groups u32, bytes of text u32
//	group    op, fill, stroke, pattern, lines, dash u8, 0 u16, stroke width f32, numbers u32
//	         then the numbers: f32 coordinates; a text is x f32, y f32,
//	         offset u32 and length u16, anchor u8, font u8: 1 if bold, 2 if large, 4 with a halo
//	texts    all strings after each other in UTF-8
//
// Roles are indices into Palette, 255 is none. Offsets and lengths of texts
// count UTF-16 units, as JavaScript does. Every number is aligned to four bytes
// if dst is.
func (s *List) AppendBuffer(dst []byte) []byte {
	le := binary.LittleEndian
	base := len(dst)
	dst = le.AppendUint32(dst, bufferMagic)
	dst = le.AppendUint32(dst, math.Float32bits(float32(s.Width)))
	dst = le.AppendUint32(dst, math.Float32bits(float32(s.Height)))
	dst = le.AppendUint32(dst, uint32(len(s.Groups)))
	dst = le.AppendUint32(dst, 0) // bytes of text, set below
	units := 0
	for i := range s.Groups {
		g := &s.Groups[i]
		count := g.To - g.From
		if g.Op == OpTexts {
			count *= 2
		}
		dst = append(dst, byte(g.Op), byte(g.Style.Fill), byte(g.Style.Stroke), byte(g.Style.Pattern),
			byte(g.Style.Lines), byte(g.Style.Dash), 0, 0)
		dst = le.AppendUint32(dst, math.Float32bits(g.Style.Width))
		dst = le.AppendUint32(dst, uint32(count))
		if g.Op != OpTexts {
			dst = appendFloats(dst, s.Nums[g.From:g.To])
			continue
		}
		for j := g.First; j < g.Last; j++ {
			t, at := &s.Texts[j], g.From+2*(j-g.First)
			dst = appendFloats(dst, s.Nums[at:at+2])
			n := utf16Len(t.S)
			dst = le.AppendUint32(dst, uint32(units))
			dst = le.AppendUint16(dst, uint16(n))
			font := byte(0)
			if t.Bold {
				font = 1
			}
			if t.Large {
				font += 2
			}
			if t.Halo {
				font += 4
			}
			dst = append(dst, byte(t.Anchor), font)
			units += n
		}
	}
	textAt := len(dst)
	for i := range s.Texts {
		dst = append(dst, s.Texts[i].S...)
	}
	le.PutUint32(dst[base+16:], uint32(len(dst)-textAt))
	return dst
}

func appendFloats(dst []byte, f []float32) []byte {
	for _, v := range f {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
