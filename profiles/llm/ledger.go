package llm

import (
	"cmp"
	"slices"
	"sync"

	"memtide/engine"
	"memtide/engine/caching"
	"memtide/profiles"
)

// Class is the purpose of a storage.
type Class uint8

// The classes, in the order in which the parts of a peak are listed.
const (
	Weights Class = iota
	Masters
	Gradients
	Moments
	Gathered  // weights of all ranks, while a block needs them
	Saved     // of the forward, for the backward
	Logits    // and other values of the loss
	Working   // values between two operators; values that are computed again
	Backwards // gradients of activations
	Buffers   // of collectives
	StepTemps // of the optimizer
	numClasses
)

// classes are the names of the classes, and where their bytes come from.
var classes = [numClasses]struct{ name, kind, why string }{
	Weights:   {"weights", "exact", "parameters are counted one by one; bytes of each by the precision"},
	Masters:   {"master weights", "exact", "parameters of this card times bytes of the copy"},
	Gradients: {"gradients", "exact", "parameters that train, by the precision; when they appear follows the program"},
	Moments:   {"moments", "exact", "parameters that train on this card times bytes of the optimizer's moments"},
	Gathered:  {"gathered weights", "read in code", "units that FSDP gathers at once, as its code orders them"},
	Saved:     {"saved activations", "read in code", "what autograd keeps of each operator of a block"},
	Logits:    {"logits and loss", "read in code", "tensors of this implementation of the loss"},
	Working:   {"working values", "read in code", "what an operator writes and the next one reads, or computes again"},
	Backwards: {"gradients of activations", "read in code", "gradients of activations while the backward runs"},
	Buffers:   {"buffers of collectives", "read in code", "inputs and outputs of the collectives"},
	StepTemps: {"temporaries of the optimizer", "read in code", "lists of tensors that this kernel of the optimizer makes"},
}

// Origin returns how the bytes of a class are known, in a word or two, and from what.
func (c Class) Origin() (kind, why string) { return classes[c].kind, classes[c].why }

func (c Class) String() string { return classes[c].name }

// Phase is a part of a step.
type Phase uint8

// The phases, in order.
const (
	Load Phase = iota
	Forward
	LossForward
	LossBackward
	Backward
	Reduction // of the units that are gathered for the whole step: embedding and head
	Step
	numPhases
)

var phaseNames = [numPhases]string{"load", "forward", "loss", "loss backward", "backward", "reduction",
	"optimizer step"}

func (p Phase) String() string { return phaseNames[p] }

// pool is a stream of the program. The allocator keeps the free blocks of each stream apart.
type pool uint8

const (
	compute pool = iota
	gather
	reduce
	narrow // in which FSDP1 casts a rank's share to the compute type
	numPools
)

type storage struct {
	bytes engine.Bytes
	class Class
	pool  pool
	late  bool // another stream uses it, see ledger.waiting
	refs  int32
}

// handle is the number of a storage, from 1; 0 means no storage.
type handle int32

// ledger records what a program allocates and frees, and its peaks.
type ledger struct {
	storages []storage
	events   []handle // allocated, or freed if negative
	waiting  []handle // freed storages that another stream may still use; 0: an event of that stream
	phase    Phase

	live    engine.Bytes
	classes [numClasses]engine.Bytes
	pools   [numPools]engine.Bytes

	peak       engine.Bytes
	peakPhase  Phase
	poolPeaks  [numPools]engine.Bytes
	phasePeaks [numPhases]engine.Bytes
	phaseParts [numPhases][numClasses]engine.Bytes // by class, at the peak of each phase

	host, mostHost engine.Bytes // bytes in host memory, and their peak

	high   engine.Bytes // peak since the last operation ended
	record []moment     // nil unless operations are recorded
}

// moment is the end of an operation of the step. Moment 0 is the beginning. Then come the operations of one micro
// batch, numbered as in package engine's chains (engine.ChainGraph.Fwd and Bwd), the reduction of embedding and
// head, and the optimizer.
type moment struct {
	peak engine.Bytes // peak while the operation ran
	live engine.Bytes // allocated bytes at its end
	acts engine.Bytes // the part of live that is activations and their gradients
}

// cut records the end of an operation of the step, if operations are recorded.
func (l *ledger) cut() {
	if l.record != nil {
		l.record = append(l.record, moment{l.high, l.live,
			l.classes[Saved] + l.classes[Logits] + l.classes[Working] + l.classes[Backwards]})
	}
	l.high = l.live
}

// ledgers are ledgers for reuse. What they record takes most of a play's memory.
var ledgers = sync.Pool{New: func() any { return &ledger{} }}

// reuse makes the ledger available to the next play.
func (l *ledger) reuse() {
	*l = ledger{storages: l.storages[:0], events: l.events[:0], waiting: l.waiting[:0]}
	ledgers.Put(l)
}

// take returns a new storage of n bytes, or 0 if n is not positive.
func (l *ledger) take(n engine.Bytes, c Class) handle { return l.takeIn(compute, n, c) }

func (l *ledger) takeIn(p pool, n engine.Bytes, c Class) handle {
	if n <= 0 {
		return 0
	}
	if n > mostLive-l.live {
		refuse("the step holds more than 2^53 bytes in its %s: lower batch or seq, or the sizes of the model", l.phase)
	}
	l.storages = append(l.storages, storage{bytes: n, class: c, pool: p, refs: 1})
	h := handle(len(l.storages))
	l.events = append(l.events, h)
	l.live += n
	l.high = max(l.high, l.live)
	l.classes[c] += n
	l.pools[p] += n
	l.poolPeaks[p] = max(l.poolPeaks[p], l.pools[p])
	if l.live > l.phasePeaks[l.phase] {
		l.phasePeaks[l.phase], l.phaseParts[l.phase] = l.live, l.classes
	}
	if l.live > l.peak {
		l.peak, l.peakPhase = l.live, l.phase
	}
	return h
}

// give releases a reference. The storage is freed with its last reference.
func (l *ledger) give(h handle) {
	if h == 0 {
		return
	}
	s := &l.storages[h-1]
	if s.refs--; s.refs > 0 {
		return
	}
	if s.refs < 0 {
		panic("llm: a storage is given back twice")
	}
	if s.late {
		l.waiting = append(l.waiting, -h)
	} else {
		l.events = append(l.events, -h)
	}
	l.live -= s.bytes
	l.classes[s.class] -= s.bytes
	l.pools[s.pool] -= s.bytes
}

// takeLate is takeIn for a storage that another stream uses, too (record_stream). It counts as free at once, but the
// allocator serves no request with it before that stream has passed an event behind its last use [torch:
// c10/cuda/CUDACachingAllocator.cpp, free and process_events].
func (l *ledger) takeLate(p pool, n engine.Bytes, c Class) handle {
	h := l.takeIn(p, n, c)
	if h != 0 {
		l.storages[h-1].late = true
	}
	return h
}

// inFlight is how many events FSDP1 has queued when it waits for the oldest one before it gathers again. The program is
// taken to be ahead of the card, so that an event has passed when the program has waited for it [torch:
// distributed/fsdp/_limiter_utils.py, _FreeEventQueue].
const inFlight = 2

// mark queues an event behind all uses of what was freed until now.
func (l *ledger) mark() { l.waiting = append(l.waiting, 0) }

// limit waits for the oldest event in the queue if there are too many.
func (l *ledger) limit() {
	events := 0
	for _, h := range l.waiting {
		events += int(given(h == 0, 1))
	}
	if events >= inFlight {
		i := slices.Index(l.waiting, 0)
		l.events = append(l.events, l.waiting[:i]...)
		l.waiting = slices.Delete(l.waiting, 0, i+1)
	}
}

func (l *ledger) wait() {
	for _, h := range l.waiting {
		if h != 0 {
			l.events = append(l.events, h)
		}
	}
	l.waiting = l.waiting[:0]
}

func (l *ledger) release(h *handle) {
	l.give(*h)
	*h = 0
}

// toHost adds n to the bytes that wait in host memory. n is negative for bytes that no longer do.
func (l *ledger) toHost(n engine.Bytes) {
	l.host += n
	l.mostHost = max(l.mostHost, l.host)
}

func (l *ledger) share(h handle) handle {
	if h != 0 {
		l.storages[h-1].refs++
	}
	return h
}

func (l *ledger) shared(h handle) bool { return h != 0 && l.storages[h-1].refs > 1 }

func (l *ledger) turn(h handle, c Class) {
	if h == 0 {
		return
	}
	s := &l.storages[h-1]
	l.classes[s.class] -= s.bytes
	l.classes[c] += s.bytes
	s.class = c
}

// replay sends the requests of the program through PyTorch's caching allocator with these rules and returns the peak
// of what it reserves: on a card with room bytes, where it gives back what it holds before it fails, or, if some
// request fails even so or room is 0, on one with any memory. It ends with the error of poll.
func (l *ledger) replay(rules caching.Rules, room engine.Bytes, poll *engine.Poll) (peak engine.Bytes) {
	cache, blocks := caching.New(cmp.Or(room, engine.NoLimit), rules), make([]caching.Block, len(l.storages))
	for _, e := range l.events {
		profiles.End(poll.Err())
		if e < 0 {
			cache.Give(blocks[-e-1])
			continue
		}
		s, ok := &l.storages[e-1], false
		switch blocks[e-1], ok = cache.Take(int(s.pool), s.bytes); {
		case !ok && room > 0:
			return l.replay(rules, 0, poll)
		case !ok:
			return engine.NoLimit
		}
		peak = max(peak, cache.Reserved())
	}
	return peak
}
