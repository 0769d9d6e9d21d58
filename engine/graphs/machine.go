package graphs

import "math/bits"

// machine is what a program has come to at a moment at which the counter has used up all
// its steps: the ends of that instant are done, and the lanes have not started
// anything, because the next step goes first. Times count from now.
type machine struct {
	dev, leaving uint16 // values with a usable copy; freed copies that are still being offloaded
	host         uint16
	out, in      uint16 // offloads and fetches that are queued or under way
	ran          uint16 // operations
	active       [2]cargo
	queue        [2][cargoes]cargo
	queued       [2]int8
}

const cargoes = 3

// cargo is a transfer. Of one that is under way left is the time it still takes, of a
// queued one after is its earliest start.
type cargo struct {
	value    int8 // plus 1; 0: no value
	fetch    bool
	reserved bool
	time     int64
}

// device is what a machine runs on: a graph of few operations that make each value once,
// and a link on which whole values travel.
type device struct {
	size             []int64
	outTime, inTime  []int64
	time, need       []int64  // of every operation, and the bytes that it makes and uses besides
	reads, writes    []uint16 // of every operation
	half             bool
	room             int64
	must, once, done uint16 // operations; done: it is enough that one of these has run
}

func (d *device) bytes(set uint16) (sum int64) {
	for ; set != 0; set &= set - 1 {
		sum += d.size[bits.TrailingZeros16(set)]
	}
	return sum
}

// used returns the memory in use.
func (d *device) used(s *machine) int64 {
	sum := d.bytes(s.dev) + d.bytes(s.leaving)
	for l := range s.active {
		if a := s.active[l]; a.value > 0 && a.fetch {
			sum += d.size[a.value-1]
		}
		for _, c := range s.queue[l][:s.queued[l]] {
			if c.reserved {
				sum += d.size[c.value-1]
			}
		}
	}
	return sum
}

func (d *device) lane(fetch bool) int {
	if fetch && !d.half {
		return 1
	}
	return 0
}

// start starts what the lanes can start beside a run that uses so much.
func (d *device) start(s *machine, beside int64) (any bool) {
	for l := range s.active {
		if s.active[l].value > 0 || s.queued[l] == 0 || s.queue[l][0].time > 0 {
			continue
		}
		c := s.queue[l][0]
		v, bit := c.value-1, uint16(1)<<(c.value-1)
		if c.fetch {
			if s.host&bit == 0 || s.out&bit != 0 || !c.reserved && d.used(s)+beside+d.size[v] > d.room {
				continue
			}
			c.time = d.inTime[v]
		} else {
			c.time = d.outTime[v]
		}
		copy(s.queue[l][:], s.queue[l][1:s.queued[l]])
		s.queued[l]--
		s.queue[l][s.queued[l]] = cargo{}
		s.active[l] = c
		any = true
	}
	return any
}

// end ends the transfers that are over.
func (s *machine) end() {
	for l := range s.active {
		c := s.active[l]
		if c.value == 0 || c.time > 0 {
			continue
		}
		bit := uint16(1) << (c.value - 1)
		if c.fetch {
			s.dev |= bit
			s.in &^= bit
		} else {
			s.out &^= bit
			s.host |= bit
			s.leaving &^= bit
		}
		s.active[l] = cargo{}
	}
}

// next returns the time to the next event of the lanes, or 0 if there is none.
func (s *machine) next() (least int64) {
	for l := range s.active {
		t := s.active[l].time
		if s.active[l].value == 0 && s.queued[l] > 0 {
			t = s.queue[l][0].time
		}
		if t > 0 && (least == 0 || t < least) {
			least = t
		}
	}
	return least
}

func (s *machine) pass(t int64) {
	for l := range s.active {
		if s.active[l].value > 0 {
			s.active[l].time -= t
		}
		for k := range s.queue[l][:s.queued[l]] {
			c := &s.queue[l][k]
			c.time = max(0, c.time-t)
		}
	}
}

// hold lets time go on until the next event; false if there is none.
func (d *device) hold(s *machine, took *int64) bool {
	if d.start(s, 0) {
		s.end()
		return true
	}
	t := s.next()
	if t == 0 {
		return false
	}
	s.pass(t)
	*took += t
	s.end()
	return true
}

// run runs an operation; false if it cannot.
func (d *device) run(s *machine, i int) (took int64, ok bool) {
	for {
		missing := d.reads[i] &^ s.dev
		if missing&^s.in != 0 || missing == 0 && d.writes[i]&s.in != 0 {
			return 0, false
		}
		if missing == 0 && d.used(s)+d.need[i] <= d.room {
			break
		}
		if !d.hold(s, &took) {
			return 0, false
		}
	}
	left := d.time[i]
	for {
		moved := d.start(s, d.need[i])
		if left == 0 {
			d.finish(s, i)
			s.end()
			return took, true
		}
		s.end()
		if moved {
			continue
		}
		t := left
		if n := s.next(); n > 0 {
			t = min(t, n)
		}
		s.pass(t)
		left, took = left-t, took+t
		if left == 0 {
			d.finish(s, i)
			s.end()
			return took, true
		}
		s.end()
	}
}

func (d *device) finish(s *machine, i int) {
	s.leaving |= d.writes[i] & s.dev & s.out
	s.dev |= d.writes[i]
	s.ran |= 1 << i
}

// free forgets copies.
func (s *machine) free(set uint16) {
	s.dev &^= set
	s.leaving |= set & s.out
}

// put queues a transfer; false if too many are.
func (d *device) put(s *machine, c cargo) bool {
	l := d.lane(c.fetch)
	if s.queued[l] == cargoes {
		return false
	}
	if bit := uint16(1) << (c.value - 1); c.fetch {
		s.in |= bit
	} else {
		s.out |= bit
	}
	s.queue[l][s.queued[l]] = c
	s.queued[l]++
	return true
}

// reserve holds the counter until there is room for a fetch, and queues it.
func (d *device) reserve(s *machine, c cargo) (took int64, ok bool) {
	for d.used(s)+d.size[c.value-1] > d.room {
		if !d.hold(s, &took) {
			return 0, false
		}
	}
	c.reserved = true
	return took, d.put(s, c)
}

// wait holds the counter until no transfer of a value is left.
func (d *device) wait(s *machine, v int) (took int64, ok bool) {
	for (s.in|s.out)>>v&1 == 1 {
		if !d.hold(s, &took) {
			return 0, false
		}
	}
	return took, true
}

// drain returns the time until the lanes are idle; false if they never are.
func (d *device) drain(s machine) (took int64, ok bool) {
	for s.active[0].value > 0 || s.active[1].value > 0 || s.queued[0] > 0 || s.queued[1] > 0 {
		if !d.hold(&s, &took) {
			return 0, false
		}
	}
	return took, true
}

// complete reports whether the step is.
func (d *device) complete(ran uint16) bool {
	return ran&d.done != 0 || d.done == 0 && ran&d.must == d.must
}
