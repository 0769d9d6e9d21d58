package proto

import (
	"slices"
	"time"
	"unsafe"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/sim"
)

// Place asks for the addresses of the buffers of a training step. The buffers are those of Schedule
// or, if Buffers is not nil, Buffers.
type Place struct {
	brings[*Placed, *Progress]
	Setting
	Budget engine.Bytes `json:"budget,omitempty"` // device memory; the pool is Budget less what is resident
	// Pool is the pool for Buffers; 0: the allocator finds one.
	Pool      engine.Bytes  `json:"pool,omitempty"`
	Allocator string        `json:"allocator"` // alloc.Allocator.Name
	Args      engine.Args   `json:"args,omitempty"`
	Limit     time.Duration `json:"limit,omitempty"` // for searches; 0 is as long as they need

	Schedule engine.Schedule `json:"-"`
	Buffers  *Buffers        `json:"-"`
}

func (p *Place) columns(c *codec) {
	p.Setting.columns(c)
	c.schedule(&p.Schedule)
	if optional(c, &p.Buffers) {
		c.buffers(p.Buffers, false)
	}
}

// Buffers are buffers with their lifetimes, on an integer clock.
type Buffers struct {
	List []alloc.Buffer
	Tick time.Duration // time on the pictures' axis for one tick of the clock
	Zero int           // the tick at which that axis begins
}

// At returns the time of tick clock on the pictures' axis.
func (b *Buffers) At(clock int) time.Duration { return time.Duration(clock-b.Zero) * b.Tick }

// Memory is what Open found in a file about addresses.
type Memory struct {
	Name     string       `json:"name"`
	Buffers  *Buffers     `json:"-"`
	Recorded *Placed      `json:"recorded,omitempty"` // the addresses that the file records; nil if it records none
	Capacity engine.Bytes `json:"capacity,omitempty"` // 0 if the file gives none
	Peak     engine.Bytes `json:"peak"`               // the largest sum of the buffers that are alive at one time
	Count    int          `json:"count"`
	Told     bool         `json:"told,omitempty"` // it is a recording, which Doctor can be asked about
}

func (m *Memory) columns(c *codec) {
	if optional(c, &m.Buffers) {
		c.buffers(m.Buffers, true)
	}
	if m.Recorded != nil {
		m.Recorded.columns(c)
	}
}

// Recorded is the Placed.Allocator of addresses that a file has recorded.
const Recorded = "recorded"

// Placed says where the buffers are, or which request failed.
type Placed struct {
	Allocator string        `json:"allocator"`
	Pool      engine.Bytes  `json:"pool"`            // as given, or what the allocator took if it was free to choose
	Fixed     bool          `json:"fixed,omitempty"` // the pool was given
	Top       engine.Bytes  `json:"top"`             // the end of the highest piece
	Resident  engine.Bytes  `json:"resident,omitempty"`
	Peak      engine.Bytes  `json:"peak"` // the largest sum of sizes at one time
	PeakAt    time.Duration `json:"peak_at"`
	Reserved  engine.Bytes  `json:"reserved"` // the most that is taken from the device
	Waste     engine.Bytes  `json:"waste,omitempty"`
	Chunk     engine.Bytes  `json:"chunk,omitempty"`
	Optimal   bool          `json:"optimal,omitempty"`
	// Needs is the pool that the allocator would choose by itself; 0 if it is not known, or if nothing failed.
	Needs   engine.Bytes   `json:"needs,omitempty"`
	Failed  *alloc.Failure `json:"failed,omitempty"`
	FailAt  time.Duration  `json:"fail_at,omitempty"`
	Largest Hole           `json:"hole"` // the largest hole when Failed was requested
	// NoneFits says that no placement fits into the pool that was given, and that this is proven.
	// The placement is then one in the smallest pool that was found.
	NoneFits bool  `json:"none_fits,omitempty"`
	Verdict  Check `json:"verdict"`
	// Unchecked says that there are too many buffers to compare every pair.
	Unchecked bool `json:"unchecked,omitempty"`

	Pieces  []Piece  `json:"-"` // in the order in which their buffers start
	Moments []Moment `json:"-"` // one for each time at which something changes
}

// Hole is a range of free addresses.
type Hole struct {
	Addr  engine.Bytes `json:"addr"`
	Bytes engine.Bytes `json:"bytes"`
}

// Piece is a range of addresses that a buffer occupies while it is alive. Only virtual addressing
// splits a buffer into several pieces.
type Piece struct {
	Buffer int
	Addr   engine.Bytes
	Bytes  engine.Bytes
}

// Moment is how memory is used from the time At on.
type Moment struct {
	At                      time.Duration
	Used, Reserved, Largest engine.Bytes
}

func (p *Placed) columns(c *codec) {
	rows(c, &p.Pieces)
	rows(c, &p.Moments)
}

// bufferRow is a buffer in a message: its name is a part of all names.
type bufferRow struct {
	Bytes        engine.Bytes
	Start, End   int
	From, Length uint32 // of the name
	High         bool
	Kind         sim.Category
}

// buffers writes or reads *b. If names is false it writes no names. Otherwise it writes each name once: those of a
// recording repeat.
func (c *codec) buffers(b *Buffers, names bool) {
	number(c, &b.Tick)
	number(c, &b.Zero)
	var all []byte
	known := map[string]uint32{}
	for i := range b.List {
		name := b.List[i].Name
		if _, ok := known[name]; !ok && names {
			known[name] = uint32(len(all))
			all = append(all, name...)
		}
	}
	c.raw(&all)
	text, size := string(all), int(unsafe.Sizeof(bufferRow{}))
	n := c.count(len(b.List), size)
	if c.reading {
		b.List = slices.Grow([]alloc.Buffer(nil), n)[:n]
	}
	for i := range b.List {
		x := &b.List[i]
		r := bufferRow{Bytes: x.Bytes, Start: x.Start, End: x.End, High: x.High, Kind: x.Kind}
		if names {
			r.From, r.Length = known[x.Name], uint32(len(x.Name))
		}
		number(c, &r)
		if !c.reading {
			continue
		}
		if int(r.From)+int(r.Length) > len(text) {
			c.fail(errShort)
			return
		}
		*x = alloc.Buffer{Name: text[r.From:][:r.Length], Bytes: r.Bytes, Start: r.Start, End: r.End, High: r.High,
			Kind: r.Kind}
	}
}
