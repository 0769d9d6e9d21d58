package snapshot

import (
	"encoding/binary"
	"fmt"
	"math"
)

// pickler writes pickles as Python does: texts, lists and dictionaries are numbered in order of appearance, and
// those that were already written are referred to by number.
type pickler struct {
	protocol byte
	out      []byte
	texts    map[string]int
	shared   map[any]int // by pointer
	n        int         // number of objects so far
}

// pyDict is an ordered dictionary: key, value, key, value.
type pyDict []any

// pyList is a list that can be shared.
type pyList struct{ items []any }

func list(items ...any) *pyList { return &pyList{items} }

// pickle returns a whole file. Protocol 4 has frames.
func pickle(protocol byte, v any) []byte {
	p := &pickler{protocol: protocol, texts: map[string]int{}, shared: map[any]int{}}
	p.value(v)
	p.out = append(p.out, '.')
	head := []byte{0x80, protocol}
	if protocol >= 4 {
		head = binary.LittleEndian.AppendUint64(append(head, 0x95), uint64(len(p.out)))
	}
	return append(head, p.out...)
}

func (p *pickler) put() int {
	switch {
	case p.protocol >= 4:
		p.out = append(p.out, 0x94)
	case p.n < 256:
		p.out = append(p.out, 'q', byte(p.n))
	default:
		p.out = binary.LittleEndian.AppendUint32(append(p.out, 'r'), uint32(p.n))
	}
	p.n++
	return p.n - 1
}

func (p *pickler) get(n int) {
	if n < 256 {
		p.out = append(p.out, 'h', byte(n))
	} else {
		p.out = binary.LittleEndian.AppendUint32(append(p.out, 'j'), uint32(n))
	}
}

func (p *pickler) value(v any) {
	switch v := v.(type) {
	case nil:
		p.out = append(p.out, 'N')
	case bool:
		p.out = append(p.out, map[bool]byte{false: 0x89, true: 0x88}[v])
	case int:
		p.integer(int64(v))
	case float64:
		p.out = binary.BigEndian.AppendUint64(append(p.out, 'G'), math.Float64bits(v))
	case string:
		p.text(v)
	case [2]int:
		p.integer(int64(v[0]))
		p.integer(int64(v[1]))
		p.out = append(p.out, 0x86)
		p.put()
	case *pyDict:
		if n, ok := p.shared[v]; ok {
			p.get(n)
			return
		}
		p.shared[v] = p.n
		p.value(*v)
	case pyDict:
		p.out = append(p.out, '}')
		p.put()
		if len(v) == 2 {
			p.value(v[0])
			p.value(v[1])
			p.out = append(p.out, 's')
			return
		}
		p.out = append(p.out, '(')
		for _, x := range v {
			p.value(x)
		}
		p.out = append(p.out, 'u')
	case *pyList:
		p.list(v)
	default:
		panic(fmt.Sprintf("pickle: %T", v))
	}
}

func (p *pickler) integer(v int64) {
	switch {
	case v >= 0 && v < 1<<8:
		p.out = append(p.out, 'K', byte(v))
	case v >= 0 && v < 1<<16:
		p.out = binary.LittleEndian.AppendUint16(append(p.out, 'M'), uint16(v))
	case v == int64(int32(v)):
		p.out = binary.LittleEndian.AppendUint32(append(p.out, 'J'), uint32(v))
	default:
		n := 8
		for n > 1 && v>>(8*n-9) == v>>63 {
			n--
		}
		p.out = append(p.out, 0x8a, byte(n))
		for i := range n {
			p.out = append(p.out, byte(v>>(8*i)))
		}
	}
}

func (p *pickler) text(s string) {
	if n, ok := p.texts[s]; ok {
		p.get(n)
		return
	}
	if p.protocol >= 4 && len(s) < 256 {
		p.out = append(p.out, 0x8c, byte(len(s)))
	} else {
		p.out = binary.LittleEndian.AppendUint32(append(p.out, 'X'), uint32(len(s)))
	}
	p.out = append(p.out, s...)
	p.texts[s] = p.put()
}

func (p *pickler) list(l *pyList) {
	if n, ok := p.shared[l]; ok {
		p.get(n)
		return
	}
	p.out = append(p.out, ']')
	p.shared[l] = p.put()
	for at := 0; at < len(l.items); at += 1000 {
		batch := l.items[at:min(at+1000, len(l.items))]
		if len(batch) == 1 {
			p.value(batch[0])
			p.out = append(p.out, 'a')
			continue
		}
		p.out = append(p.out, '(')
		for _, x := range batch {
			p.value(x)
		}
		p.out = append(p.out, 'e')
	}
}
