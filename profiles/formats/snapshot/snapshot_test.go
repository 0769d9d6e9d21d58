package snapshot

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/profiles"
	"memtide/profiles/doctor"
	"memtide/profiles/formats/formattest"
	"memtide/profiles/formats/native"
)

const snapBase = 0x7f00_0000_0000 // where the driver puts segments

func snapEvent(action string, addr, size int, frames *pyList) pyDict {
	return pyDict{"action", action, "addr", snapBase + addr, "size", size, "stream", 0, "time_us", 1_700_000_000_000_000, "frames", frames}
}

func snapBlock(addr, size int, state string) pyDict {
	return pyDict{"address", snapBase + addr, "size", size, "requested_size", size, "state", state, "frames", list()}
}

func segment(device, addr, size int, blocks ...any) pyDict {
	return pyDict{"device", device, "address", snapBase + addr, "total_size", size, "stream", 0, "segment_pool_id", [2]int{}, "blocks", list(blocks...)}
}

func snapFrame(file, name string, line int) pyDict {
	return pyDict{"filename", file, "line", line, "name", name}
}

// readSnapshot decodes a snapshot of segments and traces in each protocol and returns the profile.
func readSnapshot(t *testing.T, segments *pyList, traces ...any) *profiles.Profile {
	t.Helper()
	var first *profiles.Profile
	for protocol := byte(2); protocol <= 5; protocol++ {
		data := pickle(protocol, pyDict{"segments", segments, "device_traces", list(traces...)})
		p, err := profiles.Decode("snap.pickle", profiles.Bytes(data), nil)
		if err != nil {
			t.Fatalf("protocol %d: %v", protocol, err)
		}
		for _, v := range alloc.Check(p.Memory.Requests, p.Memory.Recorded) {
			t.Errorf("protocol %d: %v", protocol, v)
		}
		if first != nil && formattest.Text(first) != formattest.Text(p) {
			t.Fatalf("protocol %d reads\n%sprotocol 2\n%s", protocol, formattest.Text(p), formattest.Text(first))
		}
		first = p
	}
	comesBack(t, first)
	return first
}

const miB = 1 << 20

// TestSnapshotBefore checks that buffers that were in use before the recording live from its start, whether they
// are freed during it or not.
func TestSnapshotBefore(t *testing.T) {
	segments := list(segment(0, 0, 20*miB, snapBlock(0, 4*miB, "active_allocated"), snapBlock(4*miB, 16*miB, "inactive")))
	trace := list(snapEvent("alloc", 8*miB, 2*miB, list()), snapEvent("free_requested", 4*miB, 3*miB+5, list()),
		snapEvent("free_completed", 4*miB, 3*miB+5, list()), snapEvent("free_completed", 8*miB, 2*miB, list()))
	m := readSnapshot(t, segments, trace).Memory
	var got []string
	for i, b := range m.Requests.Buffers {
		got = append(got, strings.Join([]string{b.Kind.String(), strconv.Itoa(b.Start), strconv.Itoa(b.End), strconv.Itoa(int(b.Bytes)),
			strconv.Itoa(int(m.Recorded.Addr[i])), strconv.Itoa(int(m.Recorded.Took[i]))}, " "))
	}
	want := []string{"weights 0 5 4194304 0 4194304", "activations 1 3 3145733 4194304 3146240", "activations 2 4 2097152 8388608 2097152"}
	if !slices.Equal(got, want) || m.Before != 2 {
		t.Errorf("got %q and %d events before, want %q and 2", got, m.Before, want)
	}
}

// played returns the snapshot in a pickle after its events were played.
func played(t *testing.T, u *unpickler) *snapshot {
	t.Helper()
	s, err := profiles.Try(func() *snapshot {
		s := newSnapshot(u, u.run(), profiles.AnyDevice)
		s.play()
		return s
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSnapshotCut checks that only the newest events of a long recording are shown. Buffers that are in use
// before them live from the start.
func TestSnapshotCut(t *testing.T) {
	var events []any
	for i := range 10 {
		events = append(events, snapEvent("alloc", 512*i, 512, list()), snapEvent("free_requested", 512*i, 512, list()), snapEvent("free_completed", 512*i, 512, list()))
	}
	data := pickle(4, pyDict{"segments", list(segment(0, 0, 2*miB)), "device_traces", list(list(events...))})
	u := newUnpickler(bytes.NewReader(data), 0, 5, nil)
	s := played(t, u)
	want := []alloc.Event{{Buffer: 0}, {Buffer: 0, Free: true}, {Buffer: 1}, {Buffer: 1, Free: true}, {Buffer: 2}, {Buffer: 2, Free: true}}
	if m := s.memory; !slices.Equal(m.Requests.Events, want) || m.Before != 1 || m.Recorded.Addr[0] != 7*512 ||
		!slices.Equal(s.warnings(), []string{"The 15 oldest events were left out; shown are the 5 newest."}) {
		t.Errorf("events %v, %d before, addresses %v, warnings %q; want %v, 1, from %d on, and a warning", m.Requests.Events, m.Before, m.Recorded.Addr, s.warnings(), want, 7*512)
	}
}

// TestSnapshotSegments checks segments that come and go, addresses that are used again, and an expandable segment
// that grows.
func TestSnapshotSegments(t *testing.T) {
	trace := list(
		snapEvent("segment_alloc", 0, 12*miB, list()), snapEvent("alloc", 0, 12*miB, list()),
		snapEvent("free_completed", 0, 12*miB, list()), snapEvent("segment_free", 0, 12*miB, list()),
		snapEvent("segment_alloc", 4*miB, 20*miB, list()), snapEvent("alloc", 4*miB, 18*miB, list()),
		snapEvent("segment_alloc", 100*miB, 2*miB, list()), snapEvent("alloc", 100*miB, 100, list()))
	m := readSnapshot(t, list(segment(0, 4*miB, 20*miB, snapBlock(4*miB, 18*miB, "active_allocated")),
		segment(0, 100*miB, 2*miB, snapBlock(100*miB, 512, "active_allocated"))), trace).Memory
	const mib = engine.MiB
	segments := []profiles.Segment{{Addr: 0, Size: 12 * mib, From: 0, To: 2}, {Addr: 4 * mib, Size: 20 * mib, From: 2, To: 4}, {Addr: 24 * mib, Size: 2 * mib, From: 3, To: 4}}
	levels := []alloc.Level{{Event: 0, Bytes: 12 * mib}, {Event: 2, Bytes: 20 * mib}, {Event: 3, Bytes: 22 * mib}}
	if l := m.Recorded; !slices.Equal(m.Segments, segments) || !slices.Equal(l.Reserved, levels) || l.Pool != 26*mib ||
		!slices.Equal(l.Addr, []engine.Bytes{0, 4 * mib, 24 * mib}) {
		t.Errorf("got segments %v, levels %v, addresses %v, pool %d\nwant %v, %v, 0, 4 and 24 MiB, 26 MiB", m.Segments, l.Reserved, l.Addr, l.Pool, segments, levels)
	}

	grown := segment(0, 0, 8*miB, snapBlock(0, 2*miB, "active_allocated"), snapBlock(2*miB, 5*miB, "active_allocated"))
	grown = append(grown, "is_expandable", true)
	m = readSnapshot(t, list(grown), list(snapEvent("alloc", 0, 2*miB, list()), snapEvent("segment_map", 4*miB, 4*miB, list()),
		snapEvent("alloc", 2*miB, 5*miB, list()))).Memory
	segments = []profiles.Segment{{Addr: 0, Size: 4 * mib, From: 0, To: 2}, {Addr: 4 * mib, Size: 4 * mib, From: 1, To: 2}}
	if !slices.Equal(m.Segments, segments) || m.Recorded.Took != nil {
		t.Errorf("an expandable segment: got %v, taken %v; want %v and nothing above the sizes", m.Segments, m.Recorded.Took, segments)
	}
}

// TestSnapshotFailure checks that the last request that found no room is marked, with the holes at that time.
func TestSnapshotFailure(t *testing.T) {
	segments := list(segment(0, 0, 40*miB, snapBlock(0, 10*miB, "inactive"), snapBlock(10*miB, 8*miB, "active_allocated"),
		snapBlock(18*miB, 22*miB, "inactive")), segment(0, 64*miB, 2*miB, snapBlock(64*miB, 2*miB, "inactive")))
	oom := pyDict{"action", "oom", "device_free", 7 * miB, "size", 30 * miB, "stream", 0,
		"frames", list(snapFrame("/x/torch/nn/modules/linear.py", "forward", 3), snapFrame("net.py", "forward", 9))}
	alloc8 := snapEvent("alloc", 10*miB, 8*miB, list())
	for _, c := range []struct {
		trace    *pyList
		warnings int
	}{{list(alloc8, oom), 0}, {list(oom, alloc8, oom), 1}} {
		p := readSnapshot(t, segments, c.trace)
		f := p.Memory.Recorded.Failed
		want := alloc.Failure{Event: 1, Buffer: 1, Bytes: 30 * engine.MiB, Largest: 22 * engine.MiB, Free: 32 * engine.MiB, Unreserved: 7 * engine.MiB}
		if f == nil || *f != want || len(p.Warnings) != c.warnings {
			t.Errorf("got %+v and warnings %q, want %+v and %d", f, p.Warnings, want, c.warnings)
			continue
		}
		if b := p.Memory.Requests.Buffers[f.Buffer]; b.Name != "linear, net.py:9 forward" || p.Memory.Recorded.Addr[f.Buffer] != alloc.NoAddr {
			t.Errorf("the request is %+v at %d, want it named and without an address", b, p.Memory.Recorded.Addr[f.Buffer])
		}
	}
	p := readSnapshot(t, segments, list(oom, alloc8))
	if b := p.Memory.Requests.Buffers[0]; b.Start != 0 || b.End != 1 || len(p.Warnings) != 1 {
		t.Errorf("a program that went on: %+v, warnings %q; want a life of one event and a warning", b, p.Warnings)
	}
}

// TestSnapshotLabels checks that a buffer is named after a place in the program rather than in PyTorch.
func TestSnapshotLabels(t *testing.T) {
	const site = "/usr/lib/python3.11/site-packages/"
	for _, c := range []struct {
		frames *pyList
		want   string
	}{
		{list(), ""},
		{list(snapFrame("??", "c10::malloc", 0)), ""},
		{list(snapFrame("??", "torch::autograd::generated::ReluBackward0::apply", 0), snapFrame("??", "x", 0)), "ReluBackward0::apply"},
		{list(snapFrame("a/net.py", "forward", 3)), "net.py:3 forward"},
		{list(snapFrame(`C:\x\net.py`, "forward", 3)), "net.py:3 forward"},
		{list(snapFrame(site+"torch/nn/functional.py", "softmax", 9), snapFrame(site+"torch/nn/modules/activation.py", "forward", 9),
			snapFrame(site+"torch/nn/modules/module.py", "_call_impl", 9), snapFrame(site+"transformers/llama.py", "forward", 77), snapFrame("train.py", "main", 1)),
			"softmax, llama.py:77 forward"},
		{list(snapFrame(site+"torch/optim/sgd.py", "step", 5)), "sgd.py:5 step"},
		{list(snapFrame("/usr/lib/python3.11/contextlib.py", "inner", 5), snapFrame("<stdin>", "<module>", 0)), "<stdin> <module>"},
	} {
		trace := list(snapEvent("alloc", 0, 512, c.frames), snapEvent("free_completed", 0, 512, list()), snapEvent("alloc", 0, 512, c.frames))
		m := readSnapshot(t, list(segment(0, 0, 2*miB, snapBlock(0, 512, "active_allocated"))), trace).Memory
		for _, b := range m.Requests.Buffers {
			if b.Name != c.want {
				t.Errorf("%v is named %q, want %q", c.frames.items, b.Name, c.want)
			}
		}
	}
}

// TestSnapshotRefuses checks that instructions that could run code are refused by name before anything else is
// read, and that instructions that make no sense in their place are refused.
func TestSnapshotRefuses(t *testing.T) {
	for op := range 256 {
		code := pickleCodes[op]
		if code.read {
			continue
		}
		want := "Byte 3 of the pickle is " + code.name + ", which memory snapshots do not use"
		switch {
		case code.acts:
			want = "Byte 3 of the pickle is " + code.name + ", which could run code"
		case code.name == "":
			want = "Byte 3 of the pickle is 0x" + strconv.FormatInt(int64(op)+256, 16)[1:] + ", which is not an instruction"
		}
		_, err := profiles.Decode("x", profiles.Bytes([]byte{0x80, 4, '}', byte(op), 'o', 's', '\n', '.'}), nil)
		if list := profiles.Problems(err); len(list) != 1 || list[0].Found != want {
			t.Errorf("instruction %#x: %v, want %q", op, err, want)
		}
		formattest.CheckProblems(t, err)
	}
	for _, name := range []string{"GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "EXT1", "EXT2", "EXT4", "PERSID", "BINPERSID"} {
		if !slices.ContainsFunc(pickleCodes[:], func(c pickleCode) bool { return c.name == name && c.acts && !c.read }) {
			t.Errorf("%s is not among the instructions that could run code", name)
		}
	}
	for _, c := range []struct{ data, want string }{
		{".", "near byte 2: it stops without a value"},
		{"(}.", "near byte 4: it stops without a value"},
		{"}.", "This pickle holds no memory snapshot, or an empty one"},
		{"K\x01.", "This pickle holds no memory snapshot, or an empty one"},
		{"}h\x00.", "near byte 3: it refers to object 0 of 0"},
		{"}r\xff\xff\xff\xff.", "near byte 3: it numbers an object 4294967295 after 0 objects"},
		{"\x94.", "near byte 2: a value is missing"},
		{"}K\x01K\x02a.", "near byte 7: something is appended to what is not a list"},
		{"](K\x01u.", "near byte 6: a key and a value are given to what is not a dictionary"},
		{"]u.", "near byte 3: a list ends that did not begin"},
		{"(a.", "near byte 3: a value is missing"},
		{"X\xff\xff\xff\xffabc", "ends early, after 10 bytes"},
		{"\x8a\xff\x01", "ends early, after 5 bytes"},
		{"\x95\xff\xff\xff\xff\xff\xff\xff\xff}.", "ends early, after 13 bytes"},
		{"\x80\x09}.", "near byte 2: its protocol is 9, and 5 is the highest there is"},
		{strings.Repeat("(", 101) + ".", "near byte 102: lists and dictionaries are nested deeper than 100"},
		{strings.Repeat("]", mostStack+1) + ".", "near byte 1048578: more than 1048576 values wait for their list"},
		{strings.Repeat("](ae", mostStack) + ".", "near byte 4: a value is missing"},
	} {
		_, err := profiles.Decode("x", profiles.Bytes("\x80\x04"+c.data), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %q", c.data, err, c.want)
		}
		formattest.CheckProblems(t, err)
	}
}

// TestSnapshotWrong checks the errors for objects of the wrong form.
func TestSnapshotWrong(t *testing.T) {
	good := segment(0, 0, 2*miB, snapBlock(0, 512, "active_allocated"))
	for _, c := range []struct {
		segments, trace *pyList
		want            string
	}{
		{list(1), list(), "Segment 0 is not a dictionary. Addresses and sizes below 2^57 and 2^53 are expected."},
		{list(pyDict{"address", 1}), list(), "Segment 0 has no size."},
		{list(pyDict{"address", "1", "total_size", 1}), list(), "Segment 0 has no address."},
		{list(pyDict{"address", -1, "total_size", 1}), list(), "Segment 0 has the address -1."},
		{list(pyDict{"address", 1, "total_size", 1 << 54}), list(), "Segment 0 has the size 18014398509481984."},
		{list(pyDict{"address", 1, "total_size", 1, "blocks", list(2)}), list(), "Segment 0: block 0 is not a dictionary."},
		{list(good), list(snapEvent("alloc", 0, 1, list()), pyDict{"action", "alloc", "addr", 1}), "Event 1 has no size."},
		{list(good), list(pyDict{"action", "alloc", "addr", -5, "size", 1}), "Event 0 has the address -5."},
		{list(segment(0, 0, 2*miB)), list(), "The snapshot holds no buffer: nothing was in use and nothing was recorded."},
	} {
		_, err := profiles.Decode("x", profiles.Bytes(pickle(4, pyDict{"segments", c.segments, "device_traces", list(c.trace)})), nil)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v %v: %v, want %q", c.segments.items, c.trace.items, err, c.want)
		}
		formattest.CheckProblems(t, err)
	}
}

// TestSnapshotDamaged checks that prefixes of a snapshot are refused, and that snapshots with changed bytes are
// read or refused. The layouts of those that are read must be valid.
func TestSnapshotDamaged(t *testing.T) {
	data := formattest.Read(t, "testdata/snapshot.pickle")
	for n := range data {
		if p, err := profiles.Decode("x", profiles.Bytes(data[:n]), nil); err == nil {
			t.Errorf("the first %d of %d bytes: %v, want them refused", n, len(data), p)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	read := 0
	for range 10_000 {
		damaged := bytes.Clone(data)
		for range 1 + rng.IntN(4) {
			at := rng.IntN(len(damaged))
			switch rng.IntN(3) {
			case 0:
				damaged[at] ^= 1 << rng.IntN(8)
			case 1:
				damaged[at] = byte(rng.IntN(256))
			case 2:
				damaged = slices.Delete(damaged, at, min(at+rng.IntN(9), len(damaged)))
			}
		}
		p, err := profiles.Decode("x", profiles.Bytes(damaged), nil)
		formattest.CheckProblems(t, err)
		if err != nil {
			continue
		}
		read++
		if m := p.Memory; m == nil || len(m.Recorded.Addr) != len(m.Requests.Buffers) {
			t.Fatalf("%q reads %s", damaged, formattest.Text(p))
		}
		comesBack(t, p)
		if _, err := doctor.Examine(p, doctor.Decisive, nil); err != nil {
			t.Fatalf("%q: the doctor: %v", damaged, err)
		}
	}
	if read < 1000 {
		t.Errorf("%d of 10000 damaged snapshots are read, want more: most bytes are letters and digits", read)
	}
}

// TestSnapshotRoom checks that a small file cannot expand without limit.
func TestSnapshotRoom(t *testing.T) {
	u := newUnpickler(strings.NewReader("\x80\x04]("+strings.Repeat("}\x94", 1000)+"e."), 0, maxTrace, nil)
	u.most = 40_000
	_, err := profiles.Try(u.run)
	if err == nil || !strings.Contains(err.Error(), "would take more than") {
		t.Errorf("1000 dictionaries in 40 kB: %v, want them refused", err)
	}
}

// TestSnapshotHostile checks that values that are written once and referred to often do not take much memory.
func TestSnapshotHostile(t *testing.T) {
	event, block := pyDict(snapEvent("alloc", 0, 512, list())), pyDict(snapBlock(0, 512, "active_allocated"))
	events, segments := list(), list()
	for range 100 {
		events.items = append(events.items, &event)
		segments.items = append(segments.items, segment(0, 0, 2*miB, &block, &block, &block))
	}
	for want, v := range map[string]any{
		"Event 1 is not a dictionary. ":                                             pyDict{"device_traces", list(events)},
		"The snapshot makes no sense: segments or blocks stand in several places. ": pyDict{"segments", segments},
	} {
		if _, err := profiles.Decode("x", profiles.Bytes(pickle(4, v)), nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the same dictionary again and again: %v, want %q", err, want)
		}
	}
	// A path of 1 MiB in 20,000 places: keeping all of it would take a lot of memory.
	long := strings.Repeat("/x", 1<<19) + ".py"
	var trace []any
	for i := range 20_000 {
		trace = append(trace, snapEvent("alloc", 512*i, 512, list(snapFrame(long, long, i+1))))
	}
	data := pickle(4, pyDict{"device_traces", list(list(trace...))})
	u := newUnpickler(bytes.NewReader(data), len(data), maxTrace, nil)
	s := played(t, u)
	if got, want := s.memory.Requests.Buffers[7].Name, profiles.Clip("x.py:8 "+long[:100]); got != want {
		t.Errorf("the name is %q, want %q: the end of the path and the beginning of the function", got, want)
	}
	if most := len(data) + 20_000*(frameRoom+10*callRoom); u.built > most {
		t.Errorf("%d bytes are built of 20000 stacks, want at most %d", u.built, most)
	}
}

// TestSnapshotStops checks that reading a long snapshot reports its progress and stops when its context is
// cancelled.
func TestSnapshotStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []any
		for i := range 20_000 {
			events = append(events, snapEvent("alloc", 512*i, 512, list()))
		}
		data := pickle(4, pyDict{"segments", list(), "device_traces", list(list(events...))})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		reports := 0
		poll := engine.NewPoll(ctx, func(p engine.Progress) {
			if reports++; p.Total != len(data) || p.Done < 0 || p.Done > p.Total {
				t.Errorf("progress %d of %d, want at most %d", p.Done, p.Total, len(data))
			}
			cancel()
		})
		if p, err := profiles.Decode("x", profiles.Bytes(data), poll); !errors.Is(err, context.Canceled) || p != nil || reports != 1 {
			t.Errorf("got %v, %v after %d reports; want a cancel after one", p, err, reports)
		}
		p, err := profiles.Decode("x", profiles.Bytes(data), nil)
		if err != nil || len(p.Memory.Requests.Buffers) != 20_000 || len(p.Warnings) != 1 {
			t.Errorf("without segments: %v, want 20000 buffers and one warning", err)
		}
	})
}

// TestSnapshotReplay reads a recorded training step as a snapshot, which must give the addresses and sizes of its events.
// Package caching replays the same step by PyTorch's rules.
func TestSnapshotReplay(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "shared", "data", "memory_events")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("../shared/data/memory_events is not there")
	}
	var segments, events []any
	var allocs [][]int
	var starts []int // of segments
	for _, row := range csvRows(t, filepath.Join(dir, "magma.segments.csv.gz")) {
		n := numbers(t, row)
		block := pyDict{"address", n[2], "size", n[3], "state", map[int]string{0: "inactive", 1: "active_allocated"}[n[4]]}
		if last := len(segments) - 1; last >= 0 && segments[last].(pyDict)[3] == n[0] {
			blocks := segments[last].(pyDict)[7].(*pyList)
			blocks.items = append(blocks.items, block)
			continue
		}
		starts = append(starts, n[0])
		segments = append(segments, pyDict{"device", 0, "address", n[0], "total_size", n[1], "blocks", list(block)})
	}
	for _, row := range csvRows(t, filepath.Join(dir, "magma.events.csv.gz")) {
		n := numbers(t, row[2:4])
		if row[1] == "alloc" {
			allocs = append(allocs, n)
		}
		events = append(events, pyDict{"action", row[1], "addr", n[0], "size", n[1], "stream", 0, "frames", list()})
	}
	p := readSnapshot(t, list(segments...), list(events...))
	m, n := p.Memory, 0
	slices.Sort(starts)
	for i, e := range m.Requests.Events {
		if e.Free || i < m.Before {
			continue
		}
		want := allocs[n]
		n++
		at, bytes, took := m.Recorded.Addr[e.Buffer], m.Requests.Buffers[e.Buffer].Bytes, m.Recorded.Took[e.Buffer]
		k := sort.SearchInts(starts, want[0]+1) - 1 // its segment
		if at-m.Segments[k].Addr != engine.Bytes(want[0]-starts[k]) || bytes != engine.Bytes(want[1]) || took < bytes || took%512 != 0 {
			t.Fatalf("allocation %d: %d bytes at %d, which take %d; recorded are %d at %d", n, bytes, at, took, want[1],
				want[0])
		}
	}
	if n != 1721 || len(p.Warnings) != 0 {
		t.Errorf("%d allocations, warnings %q; want 1721 and none", n, p.Warnings)
	}
}

// csvRows returns the rows of a gzipped table without the header.
func csvRows(t *testing.T, file string) [][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

func numbers(t *testing.T, row []string) (list []int) {
	t.Helper()
	for _, cell := range row {
		n, err := strconv.Atoi(cell)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

// comesBack checks that p survives a round trip through the native format.
func comesBack(t *testing.T, p *profiles.Profile) {
	t.Helper()
	var file bytes.Buffer
	if err := native.Encode(&file, p); err != nil {
		t.Fatal(err)
	}
	if q, err := profiles.Decode("x", profiles.Bytes(file.Bytes()), nil); err != nil || !reflect.DeepEqual(p.Memory, q.Memory) {
		t.Errorf("%s\ncomes back as %v\n%s", formattest.Text(p), err, formattest.Text(q))
	}
}
