package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// chooseDevice takes the device that is asked for; otherwise, of those that hold
// something, one on which a request found no room, then the one with the most memory,
// then the one with the most events.
func (s *snapshot) chooseDevice(traces, segments []pval, asked int) {
	all := map[int]*profiles.DeviceMemory{}
	of := func(d int) *profiles.DeviceMemory {
		if all[d] == nil {
			all[d] = &profiles.DeviceMemory{Device: d}
		}
		return all[d]
	}
	for i, t := range traces {
		if t := s.u.traceOf(t); t != nil {
			m := of(i)
			m.Events, m.Failed = t.count, t.failed
		}
	}
	for _, v := range segments {
		r := s.record(v)
		if r == nil {
			continue
		}
		m := of(max(0, int(r.device)))
		m.Reserved = sum(m.Reserved, r.size)
		for _, v := range s.u.items(r.b) {
			if b := s.record(v); b != nil && b.is == stateUsed {
				m.InUse = sum(m.InUse, b.size)
			}
		}
	}
	for _, d := range slices.Sorted(maps.Keys(all)) {
		s.devices = append(s.devices, *all[d])
	}
	s.takeDevice(asked)
}

func (s *snapshot) takeDevice(asked int) {
	if asked == profiles.AnyDevice {
		if len(s.devices) > 0 {
			s.device = slices.MaxFunc(s.devices, deviceOrder).Device
		}
		return
	}
	var known []string
	for _, d := range s.devices {
		if d.Device == asked {
			s.device = asked
			return
		}
		known = append(known, fmt.Sprint(d.Device))
	}
	profiles.End(&profiles.FormatError{Format: "snapshot",
		Found:    fmt.Sprintf("The snapshot says nothing about device %d", asked),
		Expected: "It covers " + strings.Join(known, ", ") + ".", Remedy: "Choose one of these."})
}

// deviceOrder puts the device that says most last. Of equal ones the first is taken.
func deviceOrder(a, b profiles.DeviceMemory) int {
	rank := func(d profiles.DeviceMemory) int {
		switch {
		case d.Failed && (d.Events > 0 || d.InUse > 0):
			return 3
		case d.Failed:
			return 2
		case d.Events > 0 || d.InUse > 0:
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Reserved, b.Reserved), cmp.Compare(a.Events, b.Events))
}

// sum adds a size that has not been checked yet.
func sum(all engine.Bytes, size int64) engine.Bytes {
	return min(all+engine.Bytes(max(0, min(size, parse.MaxNumber))), parse.MaxSum)
}

// deviceWarning says which of several devices is shown, and what the others hold.
func (s *snapshot) deviceWarning() string {
	if len(s.devices) < 2 {
		return ""
	}
	why, others := "which has the most memory", []string{}
	for _, d := range s.devices {
		switch {
		case d.Device != s.device:
			others = append(others, fmt.Sprintf("device %d has %s reserved and %s", d.Device, d.Reserved.Text(),
				profiles.Count(d.Events, "event")))
		case s.asked:
			why = "as asked for"
		case d.Failed:
			why = "on which a request found no room"
		}
	}
	rest := ""
	if n := len(others) - mostTold; n > 0 {
		others, rest = others[:mostTold], fmt.Sprintf(", and %d more", n)
	}
	return fmt.Sprintf("The snapshot covers %d devices: shown is device %d, %s; %s%s.", len(s.devices), s.device, why,
		strings.Join(others, ", "), rest)
}

// mostTold is how many other devices are described one by one.
const mostTold = 8
