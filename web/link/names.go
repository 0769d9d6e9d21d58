package link

import (
	"strconv"
	"strings"
)

// The tokens of a run of names.
const (
	nameLiteral = iota // a name of its own follows
	nameSame           // as the one before
	nameNext           // as the one before, its last number one higher
)

// successor raises the last number in a name by one: h.9.attn -> h.10.attn.
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

// Names of values and operations repeat with the blocks of a network: h.1/qkv stands
// as many places behind h.0/qkv as all others of the block. Such a name is the
// distance, which of its numbers changes and whether that goes up or down: two bytes
// that are the same for the whole block. The tokens go on from those of stages:
// nameBlock + 2k raises number k of the name, nameBlock + 2k + 1 lowers it.
const (
	nameBlock    = nameNext + 1
	blockNumbers = 4 // of a name that may change
)

// names writes names, with blocks as those of values and operations.
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

// blockToken finds the name before i that name i follows from with the shortest
// distance; token 0 if there is none.
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

// stepped returns a name with its number k one higher or lower; false if it has no such
// number, or one that would not come back.
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

// names reads n names. Each is charged as if it were written out: what shows them does
// so.
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
