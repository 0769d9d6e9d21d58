package sim

import "memtide/engine"

// This file plays operations of the network and of the host's CPU.

// lanes holds the functions of this file that the rest of the package calls. They are nil in programs that do not
// call LinkLanes, so that the linker drops them.
var lanes struct {
	queue   func(pl *player, st *engine.Instruction, op *engine.Op) error
	after   func(pl *player, op *engine.Op, tr *transfer) (wait bool, err error)
	blocked func(pl *player, tr *transfer) Reason
	start   func(pl *player, sp Span, tr *transfer)
	end     func(pl *player, tr *transfer)
	keep    func(pl *player)
	brought func(pl *player, g Gap) SpanID
}

// LinkLanes adds other lanes to the program. Package engine/lanes calls it.
func LinkLanes() {
	lanes.queue, lanes.after, lanes.blocked = (*player).queueJob, (*player).afterOthers, (*player).blockedJob
	lanes.start, lanes.end = (*player).startJob, (*player).endJob
	lanes.keep, lanes.brought = (*player).keepHostCopies, (*player).broughtBy
}

// job is the part of a transfer that only operations of other lanes have.
type job struct {
	op      *engine.Op
	reads   []*devCopy // of the network: the device copies that it reads and that exist already
	outs    []*devCopy // of the network: its outputs, while it runs
	missing int        // the number of transfers, operations and inputs that it still waits for
	letGo   SpanID     // the last of these to end
	temp    int        // index of the life of its temporaries, -1 without temporaries
}

// queueJob queues an operation of another lane.
func (pl *player) queueJob(st *engine.Instruction, op *engine.Op) error {
	lane := Network + Lane(op.Lane-engine.LaneNetwork)
	for _, v := range op.In {
		at := &pl.places[v]
		switch {
		case lane == Network && at.copy == nil && at.fetching == nil:
			return pl.fail("its input " + pl.g.Values[v].Name + " is not on the device")
		case lane == CPU && !at.onHost && at.offloading == nil:
			return pl.fail("the host has no copy of its input " + pl.g.Values[v].Name)
		}
	}
	for _, v := range op.Out {
		at := &pl.places[v]
		onHost := at.onHost || at.offloading != nil || at.lastOffload != NoSpan
		if at.copy != nil || at.fetching != nil || lane == CPU && onHost {
			return pl.fail("its output " + pl.g.Values[v].Name + " is there already")
		}
	}
	if _, err := pl.afterOthers(op, nil); err != nil {
		return err
	}
	pl.closeGap()
	tr := pl.queue(lane, st)
	tr.job = &job{op: op, letGo: NoSpan, temp: -1}
	for _, v := range op.In {
		at := &pl.places[v]
		switch {
		case lane == CPU:
			tr.waitFor(at.offloading)
		case at.copy != nil:
			at.copy.reads++
			tr.reads = append(tr.reads, at.copy)
		default:
			tr.missing++
			at.claims = append(at.claims, tr)
		}
	}
	_, _ = pl.afterOthers(op, tr)
	for _, v := range op.Out {
		if at := &pl.places[v]; lane == CPU {
			at.offloading = tr
		} else {
			at.fetching = tr
		}
	}
	pl.jobs[st.Op] = tr
	return nil
}

// afterOthers reports whether op has to wait for an operation of op.After. If tr is not nil, it makes tr wait for
// them. The error says that one of them has neither run nor is queued.
func (pl *player) afterOthers(op *engine.Op, tr *transfer) (wait bool, err error) {
	for _, a := range op.After {
		before := pl.jobs[a]
		if before == nil && pl.runs[a] == 0 {
			return false, pl.fail("it comes after " + pl.g.Ops[a].Name + ", which the schedule has not run before")
		}
		wait = wait || before != nil && !before.over
		if tr != nil {
			tr.waitFor(before)
		}
	}
	return wait, nil
}

// waitFor makes tr wait for other unless other is nil or over.
func (tr *transfer) waitFor(other *transfer) {
	if other != nil && !other.over {
		tr.missing++
		other.waiters = append(other.waiters, tr)
	}
}

// tell marks tr as over and releases the operations that wait for it.
func (tr *transfer) tell() {
	tr.over = true
	for _, w := range tr.waiters {
		w.missing--
		w.letGo = tr.span
	}
}

// bind gives the copy that has arrived at a place to the operations that claimed it. by is the span that brought it.
func (pl *player) bind(at *place, by SpanID) {
	for _, tr := range at.claims {
		tr.missing--
		tr.letGo = by
		tr.reads = append(tr.reads, at.copy)
		at.copy.reads++
	}
	at.claims = nil
}

// blockedJob returns why an operation at the head of its lane cannot start, or None if it can.
func (pl *player) blockedJob(tr *transfer) Reason {
	if tr.missing > 0 {
		return NeedsData
	}
	need := tr.op.Temp
	for _, v := range tr.op.Out {
		if tr.lane == Network {
			need += pl.g.Values[v].Size
		}
	}
	if need > pl.room() {
		return NeedsRoom
	}
	return None
}

func (pl *player) startJob(sp Span, tr *transfer) {
	sp.Kind, sp.Op, sp.Value = SpanNetwork+SpanKind(tr.lane-Network), pl.s[tr.step].Op, engine.NoValue
	tr.span, tr.since = pl.addSpan(sp), pl.now
	for _, v := range tr.op.Out {
		at := &pl.places[v]
		if tr.lane == CPU {
			at.lastOffload = tr.span
			pl.pin(v)
			continue
		}
		at.lastFetch = tr.span
		c := pl.newCopy(v, kindCategory(pl.g.Values[v].Kind), tr.span)
		pl.charge(c.cat, c.size)
		tr.outs = append(tr.outs, c)
	}
	if work := tr.op.Temp; work > 0 {
		tr.temp = pl.openLife(Life{Value: engine.NoValue, Op: sp.Op, Category: Workspace, Bytes: work, From: tr.span})
		pl.charge(Workspace, work)
	}
	pl.sample()
}

func (pl *player) endJob(tr *transfer) {
	pl.runs[pl.s[tr.step].Op]++
	if tr.temp >= 0 {
		pl.charge(Workspace, -tr.op.Temp)
		pl.closeLife(tr.temp)
		pl.release = tr.span
	}
	for _, c := range tr.outs {
		at := &pl.places[c.value]
		at.copy, at.fetching = c, nil
		pl.bind(at, tr.span)
	}
	for _, v := range tr.op.Out {
		at := &pl.places[v]
		at.made = true
		if tr.lane == CPU {
			at.offloading, at.onHost = nil, true
		}
	}
	for _, c := range tr.reads {
		c.reads--
		pl.leave(c, tr.span)
	}
	tr.tell()
	pl.sample()
}

// keepHostCopies makes the host copies that operations of the CPU read stay to the end of the step.
func (pl *player) keepHostCopies() {
	for i := range pl.g.Ops {
		if op := &pl.g.Ops[i]; op.Lane == engine.LaneCPU {
			for _, v := range op.In {
				pl.places[v].lastOfAll = -1
			}
		}
	}
}

// broughtBy returns the cause of a gap that waited for no value: the operation of Op.After that has ended now.
func (pl *player) broughtBy(g Gap) SpanID {
	for _, a := range pl.g.Ops[pl.s[g.Step].Op].After {
		if tr := pl.jobs[a]; tr != nil && tr.over && pl.t.Spans[tr.span].End == pl.now {
			return tr.span
		}
	}
	return NoSpan
}
