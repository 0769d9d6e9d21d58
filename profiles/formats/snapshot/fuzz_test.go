package snapshot

import (
	"bytes"
	"flag"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

var mutations = flag.Int("mutations", 200, "random mutations of the samples that an ordinary run tries")

// script controls a mutation: bytes from a fuzzer, each of which makes a decision.
type script struct{ b []byte }

func (s *script) more() bool { return len(s.b) > 0 }

// N returns a number below k, which is 0 at the end of the script.
func (s *script) N(k int) int {
	if k <= 1 || len(s.b) == 0 {
		return 0
	}
	v := int(s.b[0])
	s.b = s.b[1:]
	if k > 256 && len(s.b) > 0 {
		v, s.b = v<<8|int(s.b[0]), s.b[1:]
	}
	return v % k
}

func (s *script) pick(list []string) string { return list[s.N(len(list))] }

// oddTexts are names that no program writes. They must be read or refused.
var oddTexts = []string{"", " ", "a", "\x1b[2J", "\u202ea", "\xff", "a\"b", "a,b", "a\tb", "#", strings.Repeat("n", 999),
	strings.Repeat("n", 1001), strings.Repeat("long", 20_000)}

// checkDecoded checks what holds for any content. It is refused with a place and a remedy, or is a profile within
// its bounds that survives a round trip. Reading it allocates at most 20 times its size and 24 MiB.
func checkDecoded(t *testing.T, data []byte) {
	t.Helper()
	allocated := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := allocated()
	p, err := profiles.Decode("fuzz", profiles.Bytes(data), nil)
	if spent := allocated() - before; spent > 24<<20+20*uint64(len(data)) {
		t.Errorf("reading %d bytes allocates %d KiB in all", len(data), spent>>10)
	}
	if (p == nil) == (err == nil) || p != nil && p.Memory == nil {
		t.Fatalf("profile %+v and error %v, want exactly one", p, err)
	}
	formattest.CheckProblems(t, err)
	if p == nil {
		return
	}
	if e := profiles.Admit(p); e != nil {
		t.Errorf("accepted beyond its bounds: %v", e)
	}
	comesBack(t, p)
}

// snapTree returns a snapshot as Python values.
func snapTree() pyDict {
	conv, net, main := snapFrame("/usr/lib/python3/dist-packages/torch/nn/functional.py", "conv2d", 3),
		snapFrame("net.py", "forward", 42), snapFrame("train.py", "main", 7)
	frames, others := list(&conv, &net), list(&conv, &net, &main)
	return pyDict{"segments", list(segment(0, 0, 20*miB, snapBlock(0, 4*miB, "active_allocated"),
		snapBlock(4*miB, 16*miB, "inactive"))),
		"device_traces", list(list(snapEvent("segment_alloc", 0, 20*miB, frames),
			snapEvent("alloc", 8*miB, 2*miB, frames), snapEvent("alloc", 12*miB, miB, list()),
			snapEvent("alloc", 13*miB, miB, others), snapEvent("alloc", 14*miB, miB, list(&net, &main)),
			snapEvent("free_requested", 8*miB, 2*miB, list()), snapEvent("free_completed", 8*miB, 2*miB, list()),
			snapEvent("free_completed", 13*miB, miB, list(&conv, &net, &main)),
			snapEvent("free_completed", 14*miB, miB, list(&conv, &net, &main)),
			snapEvent("oom", 4*miB, 64*miB, frames)))}
}

// mutatePython edits a place of the tree.
func mutatePython(v any, s *script) any {
	keys := []string{"segments", "device_traces", "action", "addr", "address", "size", "total_size", "requested_size",
		"state", "frames", "blocks", "device", "is_expandable", "history", "filename", "line", "name", "real_size",
		"device_free"}
	texts := []string{"alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map",
		"segment_unmap", "oom", "snapshot", "inactive", "active_allocated", "x.py"}
	numbers := []int{0, 1, -1, 511, 512, snapBase, snapBase + miB, 1 << 31, 1<<53 + 1, 1<<59 - 1, 1 << 62, -1 << 63}
	edit := func(items []any, i int) []any {
		switch s.N(9) {
		case 0:
			return append(items[:i:i], items[i+1:]...)
		case 1:
			return append(items, items[i])
		case 2:
			items[i] = numbers[s.N(len(numbers))]
		case 3:
			items[i] = s.pick(oddTexts)
		case 4:
			items[i] = s.pick(texts)
		case 5:
			k := s.N(len(items))
			items[i], items[k] = items[k], items[i]
		case 6:
			for range 1 + s.N(120) {
				items[i] = list(items[i])
			}
		case 7:
			items[i] = []any{nil, true, 1.5, [2]int{1, 2}, pyDict{}, list()}[s.N(6)]
		case 8:
			items[i] = s.pick(keys)
		}
		return items
	}
	var walk func(items []any) []any
	walk = func(items []any) []any {
		if len(items) == 0 {
			return items
		}
		i := s.N(len(items))
		switch v := items[i].(type) {
		case pyDict:
			if len(v) > 0 && s.N(5) > 0 {
				items[i] = pyDict(walk(v))
				return items
			}
		case *pyList:
			if len(v.items) > 0 && s.N(5) > 0 {
				v.items = walk(v.items)
				return items
			}
		}
		return edit(items, i)
	}
	if d, ok := v.(pyDict); ok {
		return pyDict(walk(d))
	}
	return v
}

// FuzzSnapshot mutates the objects of a snapshot and then the instructions of its pickle: lengths, references and
// marks.
func FuzzSnapshot(f *testing.F) {
	for i := range 12 {
		f.Add(byte(i), []byte{byte(i), byte(3 * i), byte(7 * i), 1, byte(i), 2, byte(5 * i)}, []byte{})
		f.Add(byte(i), []byte{}, []byte{byte(i), byte(17 * i), byte(11 * i), byte(i)})
	}
	rng := rand.New(rand.NewPCG(7, 11))
	for i := range *mutations {
		program := make([]byte, 1+rng.IntN(40))
		for k := range program {
			program[k] = byte(rng.IntN(256))
		}
		half := len(program) / 2
		switch i % 3 {
		case 0:
			f.Add(byte(i), program, []byte{})
		case 1:
			f.Add(byte(i), []byte{}, program)
		default:
			f.Add(byte(i), program[:half], program[half:])
		}
	}
	codes := []byte("().}]ajetuhqrXKMJN\x80\x85\x86\x87\x88\x8a\x8c\x94\x95cR\x8b\x93")
	f.Fuzz(func(t *testing.T, protocol byte, objects, instructions []byte) {
		if len(objects)+len(instructions) > 100 {
			return
		}
		var tree any = snapTree()
		s := &script{objects}
		for range 6 {
			if s.more() {
				tree = mutatePython(tree, s)
			}
		}
		data := pickle(2+protocol%4, tree)
		for s = (&script{instructions}); s.more() && len(data) > 2; {
			at := 2 + s.N(len(data)-2)
			switch s.N(5) {
			case 0:
				data[at] = codes[s.N(len(codes))]
			case 1:
				data[at] = byte(s.N(256))
			case 2:
				data = slices.Insert(data, at, slices.Repeat([]byte{codes[s.N(len(codes))]}, 1+s.N(200))...)
			case 3:
				data = slices.Delete(data, at, min(len(data), at+1+s.N(8)))
			case 4:
				data = slices.Insert(data, at, 0xff, 0xff, 0xff, byte(s.N(256)))
			}
		}
		checkDecoded(t, data)
		sameByBytes(t, data)
	})
}

// sameByBytes checks that a pickle reads the same if it arrives byte by byte.
func sameByBytes(t *testing.T, data []byte) {
	t.Helper()
	decode := func(r io.Reader) (*profiles.Profile, error) {
		return profiles.Try(func() *profiles.Profile {
			return decodeSnapshot("x", r, len(data), profiles.AnyDevice,
				nil)
		})
	}
	all, err := decode(bytes.NewReader(data))
	single, singleErr := decode(iotest.OneByteReader(bytes.NewReader(data)))
	if (err == nil) != (singleErr == nil) || !reflect.DeepEqual(all, single) {
		t.Errorf("%q reads %v and %+v; byte by byte %v and %+v", data, err, all, singleErr, single)
	}
}

// TestRepeatedStacks checks that a trace that refers to texts and frames by the memo again and again reads the
// same if it arrives byte by byte.
func TestRepeatedStacks(t *testing.T) {
	conv, net, main := snapFrame("conv.py", "conv", 3), snapFrame("net.py", "forward", 1<<17),
		snapFrame("train.py", "main", 300)
	stacks := [][]any{{&conv, &net, &main}, {&net, &main}, {&conv, &main}, {}, {&main}, {&conv, &net, &main, &main}}
	var trace []any
	for i := range 3000 {
		trace = append(trace, snapEvent([]string{"alloc", "free_completed"}[i%2], i/2%97<<(i%5*7), 512<<(i%23),
			list(stacks[i/2%len(stacks)]...)))
	}
	data := pickle(4, pyDict{"segments", list(), "device_traces", list(list(trace...))})
	sameByBytes(t, data)
}
