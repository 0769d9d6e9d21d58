package snapshot

import (
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// twoDevices returns the segments of a small device 0 and a large device 1, each with a block in use.
func twoDevices() *pyList {
	return list(segment(0, 0, 2*miB, snapBlock(0, 512, "active_allocated"), snapBlock(512, 2*miB-512, "inactive")),
		segment(1, 64*miB, 20*miB, snapBlock(64*miB, 8*miB, "active_allocated"), snapBlock(72*miB, 12*miB, "inactive")))
}

// TestDeviceChosen checks which device is chosen: the one on which a request found no room, or else the one with
// the most memory, whatever the number of events. An empty device is not chosen if another one holds something.
func TestDeviceChosen(t *testing.T) {
	one := func(event pyDict) *pyList { return list(event) }
	noRoom := one(pyDict{"action", "oom", "device_free", miB, "size", 30 * miB, "stream", 0, "frames", list()})
	small, large := snapEvent("alloc", 0, 512, list()), snapEvent("alloc", 64*miB, 8*miB, list())
	empty := list(segment(0, 0, 64*miB), segment(1, 64*miB, 20*miB, snapBlock(64*miB, 8*miB, "active_allocated")))
	for _, c := range []struct {
		name     string
		segments *pyList
		traces   []any
		device   int
		bytes    engine.Bytes // of the first buffer
		warning  string
	}{
		{"most memory, no events", twoDevices(), nil, 1, 8 * miB,
			"shown is device 1, which has the most memory; device 0 has 2 MiB reserved and 0 events."},
		{"most memory, events elsewhere", twoDevices(), []any{list(small, small, small), list()}, 1, 8 * miB,
			"shown is device 1, which has the most memory; device 0 has 2 MiB reserved and 3 events."},
		{"most memory, more events elsewhere", twoDevices(), []any{list(small, small), list(large)}, 1, 8 * miB,
			"device 0 has 2 MiB reserved and 2 events."},
		{"no room on the small one", twoDevices(), []any{noRoom, list(large)}, 0, 512,
			"shown is device 0, on which a request found no room; device 1 has 20 MiB reserved and 1 event."},
		{"an empty one has more", empty, nil, 1, 8 * miB,
			"shown is device 1, which has the most memory; device 0 has 64 MiB reserved and 0 events."},
		{"one device", list(twoDevices().items[0]), nil, 0, 512, ""},
	} {
		p := readSnapshot(t, c.segments, c.traces...)
		h := p.History
		if got := p.Memory.Requests.Buffers; h.Device != c.device || got[0].Bytes != c.bytes {
			t.Errorf("%s: device %d, first buffer of %d bytes; want device %d, %d bytes", c.name, h.Device,
				got[0].Bytes, c.device, c.bytes)
		}
		if !strings.Contains(strings.Join(p.Warnings, "\n"), c.warning) {
			t.Errorf("%s: warnings %q, want %q", c.name, p.Warnings, c.warning)
		}
	}
}

// TestDeviceAsked checks that the requested device is chosen, and that the error about a missing one lists the
// devices of the snapshot.
func TestDeviceAsked(t *testing.T) {
	data := pickle(4, pyDict{"segments", twoDevices(), "device_traces", list()})
	for _, content := range []profiles.Content{profiles.Bytes(data), formattest.ContentOf(data)} {
		p, err := profiles.DecodeDevice("x", content, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []profiles.DeviceMemory{{Device: 0, Reserved: 2 * miB, InUse: 512},
			{Device: 1, Reserved: 20 * miB, InUse: 8 * miB}}
		if h := p.History; h.Device != 0 || !slices.Equal(h.Devices, want) ||
			!strings.Contains(p.Warnings[0], "shown is device 0, as asked for;") {
			t.Errorf("device 0: got device %d of %v, warnings %q; want 0 of %v", h.Device, h.Devices, p.Warnings, want)
		}
		_, err = profiles.DecodeDevice("x", content, 7, nil)
		if want := "The snapshot says nothing about device 7. It covers 0, 1."; err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("device 7: %v, want %q", err, want)
		}
	}
}

// TestSegmentsAlone checks that a list of segments is read, which is what memory_snapshot returns.
func TestSegmentsAlone(t *testing.T) {
	p := readSnapshot(t, twoDevices())
	q, err := profiles.Decode("x", profiles.Bytes(pickle(4, twoDevices())), nil)
	if err != nil || formattest.Text(q) != strings.Replace(formattest.Text(p), `"snap"`, `"x"`, 1) {
		t.Errorf("the segments alone: %v\n%s\nwant\n%s", err, formattest.Text(q), formattest.Text(p))
	}
}
