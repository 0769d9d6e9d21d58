package known

import (
	"time"

	"memtide/engine"
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
)

// Memory is a file about addresses that is open instead of a network.
type Memory struct {
	File   string
	Data   *proto.Memory
	Lint   []string
	End    time.Duration // of the time axis
	Doctor *Doctor       // nil: it is no recording

	placed map[string]*proto.Placed // by method, see Placeable
}

// NewMemory returns a file that was read; from is the request for it, which is made again
// where a recording has to be read again.
func NewMemory(file string, r *proto.Opened, from *proto.Open) *Memory {
	m := &Memory{File: file, Data: r.Memory, Lint: r.Lint}
	if m.Data.Told {
		m.Doctor = &Doctor{File: *from}
	}
	end := m.Data.Buffers.Zero
	for i := range m.Data.Buffers.List {
		end = max(end, m.Data.Buffers.List[i].End)
	}
	m.End = max(m.Data.Buffers.At(end), 1)
	return m
}

// Moment returns the event after which the memory of a recording is told: that at a time,
// or doctor.Decisive, also if nothing is known yet.
func (m *Memory) Moment(at time.Duration) int {
	if m == nil || m.Doctor == nil || m.Doctor.Report == nil || at <= 0 || at > m.End {
		return doctor.Decisive
	}
	report, b := m.Doctor.Report, m.Data.Buffers
	event := min(int(at/b.Tick)+b.Zero, report.Events-1)
	if event == report.Alive.At {
		return doctor.Decisive
	}
	return event
}

// LevelAt returns how memory was used after an event; the zero value if that is not known.
func (m *Memory) LevelAt(event int) (last proto.Moment) {
	if m == nil || m.Data.Recorded == nil {
		return last
	}
	at := m.Data.Buffers.At(event)
	for _, x := range m.Data.Recorded.Moments {
		if x.At > at {
			break
		}
		last = x
	}
	return last
}

// Unused returns what of the reserved memory is not in use after an event.
func (m *Memory) Unused(event int) engine.Bytes {
	l := m.LevelAt(event)
	return max(l.Reserved-l.Used, 0)
}
