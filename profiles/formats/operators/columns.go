package operators

import (
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/play"
)

// columnCount is the number of columns.
const columnCount = 28

// words holds the words of events, by kind.
var words = [...]string{play.EventOp: "op", play.EventEnter: "enter", play.EventLeave: "leave", play.EventFree: "free",
	play.EventPack: "pack", play.EventUnpack: "unpack", play.EventRelease: "release", play.EventBackward: "backward"}

// columns holds the numbers of a trace. walk visits the trace in a fixed order. When writing, it
// appends to the lists; when reading, it removes numbers from the lists and builds the trace. A
// number is stored as its difference from base, which both sides know.
type columns struct {
	t       *play.Trace
	names   []string // of operators, classes and roles
	reading bool
	bad     bool      // when reading: a list was too short, or a number invalid
	lists   [][]int64 // columnCount
	left    int       // when reading: how many more items can be made; each has at least one number
}

// number writes v to column col, relative to base, and returns v. When reading, it ignores v and
// returns the number in the column.
func (c *columns) number(col int, v, base int64) int64 {
	if !c.reading {
		c.lists[col] = append(c.lists[col], v-base)
		return v
	}
	if len(c.lists[col]) == 0 {
		c.bad = true
		return 0
	}
	v, c.lists[col] = c.lists[col][0]+base, c.lists[col][1:]
	return v
}

// count is number for a number of items. When reading, it is at most the numbers left.
func (c *columns) count(col, n int) int {
	v := c.number(col, int64(n), 0)
	if c.reading {
		if v < 0 || v > int64(c.left) {
			c.bad = true
			return 0
		}
		c.left -= int(v)
	}
	return int(v)
}

// at is number for an int.
func (c *columns) at(col int, v *int, base int) { *v = int(c.number(col, int64(*v), int64(base))) }

// sized returns list. When reading, it first makes the list, with the length in column col.
func sized[T any](c *columns, col int, list *[]T) []T {
	n := c.count(col, len(*list))
	if c.reading && n > 0 {
		*list = make([]T, n)
	}
	return *list
}

// name is number for a text, stored as its index in names.
func (c *columns) name(col int, s *string, places map[string]int) {
	i := c.number(col, int64(places[*s]), 0)
	if c.reading {
		if i < 0 || i >= int64(len(c.names)) {
			c.bad = true
			return
		}
		*s = c.names[i]
	}
}

func (c *columns) walk() {
	for _, l := range c.lists {
		c.left += len(l)
	}
	places := make(map[string]int, len(c.names))
	for i, name := range c.names {
		places[name] = i
	}
	c.storages(places)
	c.operators(places)
	c.calls(places)
	c.events()
	if c.reading {
		c.bad = c.bad || slices.ContainsFunc(c.lists, func(l []int64) bool { return len(l) > 0 })
	}
}

func (c *columns) storages(places map[string]int) {
	t := c.t
	sizes := sized(c, 0, &t.Storages)
	if c.reading {
		t.Resident = make([]bool, len(sizes))
	}
	for i := range sizes {
		sizes[i] = engine.Bytes(c.number(1, int64(sizes[i]), 0))
		there := int64(0)
		if t.Resident[i] {
			there = 1
		}
		t.Resident[i] = c.number(2, there, 0) == 1
		role := t.Roles[i]
		if c.name(3, &role, places); role != "" {
			t.Roles[i] = role
		}
	}
}

// operators walks the operators. New storages are relative to the last new one; storages that
// are read or written use reference.
func (c *columns) operators(places map[string]int) {
	t := c.t
	ops := sized(c, 0, &t.Ops)
	next, far := 0, 0
	for i := range ops {
		o := &ops[i]
		c.name(4, &o.Name, places)
		o.Time = time.Duration(c.number(5, int64(o.Time), 0))
		o.Temp = engine.Bytes(c.number(6, int64(o.Temp), 0))
		for k, list := range []*[]int{&o.New, &o.In, &o.Write} {
			ids := sized(c, 7+k, list)
			for j := range ids {
				if k == 0 {
					c.at(10, &ids[j], next)
					next = ids[j] + 1
					continue
				}
				c.reference(10+k, &ids[j], next, &far)
			}
		}
	}
	c.at(0, &t.Forward, 0)
}

// near is the largest distance for which a reference is relative to the last new storage.
const near = 40

// reference is number for a storage: below near the distance before next, otherwise the distance
// from the last storage that was not near, which far holds.
func (c *columns) reference(col int, v *int, next int, far *int) {
	back := next - *v
	code := 2 * back
	if back < 0 || back >= near {
		code = 2*(*v-*far) + 1
	}
	code = int(c.number(col, int64(code), 0))
	if code&1 == 0 {
		*v = next - code>>1
		return
	}
	*v = *far + code>>1
	*far = *v
}

func (c *columns) calls(places map[string]int) {
	t := c.t
	n := c.count(0, len(t.Calls))
	c.bad = c.bad || n != len(t.Calls) // plain has set the paths
	op, storage := 0, 0
	for i := range t.Calls {
		k := &t.Calls[i]
		c.name(13, &k.Class, places)
		c.at(14, &k.Op, op)
		op = k.Op
		c.at(15, &k.End, op)
		args := sized(c, 16, &k.Args)
		for j := range args {
			c.at(17, &args[j].Storage, storage)
			storage = args[j].Storage
			made := sized(c, 18, &args[j].Made)
			for m := range made {
				c.at(19, &made[m], i)
			}
		}
	}
	keeps, last := sized(c, 0, &t.Keeps), play.Keep{}
	for i := range keeps {
		c.at(20, &keeps[i].Storage, last.Storage)
		c.at(21, &keeps[i].Call, last.Call)
		last = keeps[i]
	}
	for col, list := range []*[]int{&t.Units, &t.Tied} {
		ids, last := sized(c, 0, list), 0
		for i := range ids {
			c.at(22+col, &ids[i], last)
			last = ids[i]
		}
	}
}

func (c *columns) events() {
	t := c.t
	events := sized(c, 0, &t.Events)
	var last [len(words)]int
	for i := range events {
		e := &events[i]
		kind := int(e.Kind)
		if c.at(24, &kind, 0); kind < 0 || kind >= len(words) {
			c.bad = true
			return
		}
		e.Kind = play.EventKind(kind)
		c.at(25, &e.ID, last[kind])
		last[kind] = e.ID
	}
	frees, before := sized(c, 0, &t.Frees), play.Free{}
	for i := range frees {
		c.at(26, &frees[i].Storage, before.Storage)
		c.at(27, &frees[i].Op, before.Op)
		before = frees[i]
	}
}
