package proto

import (
	"cmp"
	"time"

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
	if c.optional(p.Buffers != nil) {
		p.Buffers = cmp.Or(p.Buffers, new(Buffers))
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
	if c.optional(m.Buffers != nil) {
		m.Buffers = cmp.Or(m.Buffers, new(Buffers))
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
	Runs      int           `json:"runs,omitempty"`
	Optimal   bool          `json:"optimal,omitempty"`
	// Needs is the pool that the allocator would choose by itself; 0 if it is not known, or if
	// nothing failed.
	Needs   engine.Bytes   `json:"needs,omitempty"`
	Failed  *alloc.Failure `json:"failed,omitempty"`
	FailAt  time.Duration  `json:"fail_at,omitempty"`
	Largest Hole           `json:"hole"` // the largest hole when Failed was requested
	// NoneFits says that no placement fits into the pool that was given, and that this is proven.
	// The placement is then one in the smallest pool that was found.
	NoneFits bool    `json:"none_fits,omitempty"`
	Verdict  Verdict `json:"verdict"`
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
	At                             time.Duration
	Asked, Used, Reserved, Largest engine.Bytes
}

// The values below are written by rows instead of by columns, each type in a loop of its own. A
// recording has a million of them, and the page has to read them between two frames.

// Bytes of a row.
const (
	pieceRow  = w32 + 2*w64
	momentRow = 5 * w64
	bufferRow = 3*w64 + 2*w8
	nameRow   = 2 * w32
)

func (p *Placed) columns(c *codec) {
	if c.reading {
		c.readPlaced(p)
		return
	}
	c.room(2*w32 + len(p.Pieces)*pieceRow + len(p.Moments)*momentRow)
	out := le.AppendUint32(c.buf, uint32(len(p.Pieces)))
	for i := range p.Pieces {
		x := &p.Pieces[i]
		out = le.AppendUint32(out, uint32(x.Buffer))
		out = le.AppendUint64(out, uint64(x.Addr))
		out = le.AppendUint64(out, uint64(x.Bytes))
	}
	out = le.AppendUint32(out, uint32(len(p.Moments)))
	for i := range p.Moments {
		m := &p.Moments[i]
		out = le.AppendUint64(out, uint64(m.At))
		out = le.AppendUint64(out, uint64(m.Asked))
		out = le.AppendUint64(out, uint64(m.Used))
		out = le.AppendUint64(out, uint64(m.Reserved))
		out = le.AppendUint64(out, uint64(m.Largest))
	}
	c.buf = out
}

func (c *codec) readPlaced(p *Placed) {
	table(c, &p.Pieces, pieceRow)
	if b := c.take(len(p.Pieces) * pieceRow); b != nil {
		for i := range p.Pieces {
			r := b[i*pieceRow : (i+1)*pieceRow]
			p.Pieces[i] = Piece{Buffer: int(int32(le.Uint32(r))), Addr: engine.Bytes(le.Uint64(r[4:])),
				Bytes: engine.Bytes(le.Uint64(r[12:]))}
		}
	}
	table(c, &p.Moments, momentRow)
	if b := c.take(len(p.Moments) * momentRow); b != nil {
		for i := range p.Moments {
			r := b[i*momentRow : (i+1)*momentRow]
			p.Moments[i] = Moment{At: time.Duration(le.Uint64(r)), Asked: engine.Bytes(le.Uint64(r[8:])),
				Used:     engine.Bytes(le.Uint64(r[16:])),
				Reserved: engine.Bytes(le.Uint64(r[24:])), Largest: engine.Bytes(le.Uint64(r[32:]))}
		}
	}
}

// buffers writes or reads *b. If names is false it writes no names.
func (c *codec) buffers(b *Buffers, names bool) {
	scalar(c, &b.Tick)
	scalar(c, &b.Zero)
	if c.reading {
		c.readBuffers(b)
		return
	}
	c.room(2*w32 + len(b.List)*(bufferRow+nameRow))
	out := le.AppendUint32(c.buf, uint32(len(b.List)))
	for i := range b.List {
		x := &b.List[i]
		out = le.AppendUint64(out, uint64(x.Bytes))
		out = le.AppendUint64(out, uint64(x.Start))
		out = le.AppendUint64(out, uint64(x.End))
		high := byte(0)
		if x.High {
			high = 1
		}
		out = append(out, high, byte(x.Kind))
	}
	if names && len(b.List) > 0 {
		c.buf = appendNames(out, b.List)
	} else {
		c.buf = le.AppendUint32(out, 0)
	}
}

func (c *codec) readBuffers(b *Buffers) {
	table(c, &b.List, bufferRow)
	if rows := c.take(len(b.List) * bufferRow); rows != nil {
		for i := range b.List {
			r := rows[i*bufferRow : (i+1)*bufferRow]
			b.List[i] = alloc.Buffer{Bytes: engine.Bytes(le.Uint64(r)), Start: int(le.Uint64(r[8:])),
				End:  int(le.Uint64(r[16:])),
				High: r[24] != 0, Kind: sim.Category(r[25])}
		}
	}
	c.names(b.List)
}

// appendNames writes each name once: those of a recording repeat.
func appendNames(out []byte, list []alloc.Buffer) []byte {
	var all []byte
	known := map[string]int{}
	out = le.AppendUint32(out, uint32(len(list)))
	for i := range list {
		name := list[i].Name
		at, ok := known[name]
		if !ok {
			at = len(all)
			all = append(all, name...)
			known[name] = at
		}
		out = le.AppendUint32(out, uint32(at))
		out = le.AppendUint32(out, uint32(len(name)))
	}
	out = le.AppendUint32(out, uint32(len(all)))
	return append(out, all...)
}

// names reads what appendNames wrote, or a 0 in its place.
func (c *codec) names(list []alloc.Buffer) {
	n := c.take(w32)
	if n == nil || le.Uint32(n) == 0 {
		return
	}
	rows := c.take(len(list) * nameRow)
	size := c.take(w32)
	if int(le.Uint32(n)) != len(list) || size == nil {
		c.err = errShort
		return
	}
	all := string(c.take(int(le.Uint32(size))))
	for i := range list {
		from, length := uint64(le.Uint32(rows[i*nameRow:])), uint64(le.Uint32(rows[i*nameRow+w32:]))
		if from+length > uint64(len(all)) {
			c.err = errShort
			return
		}
		list[i].Name = all[from : from+length]
	}
}
