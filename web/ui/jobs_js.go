package ui

import (
	"context"
	"runtime"

	"memtide/wasm/proto"
	"memtide/web/state"
)

// jobs carries requests to the pool and answers back.
type jobs struct {
	a      *app
	give   map[int]context.CancelFunc // by the effect's ID
	solves solves

	dragged bool // the page's last solve may be followed by others: a slider is being dragged
	reader  reader
}

// sweepDelay is how long a setting must rest until its curve is asked for, in
// milliseconds, while a slider is being dragged. The pool begins it only when no
// solve was asked for lately.
const sweepDelay = 60

func (j *jobs) init(a *app) {
	j.a = a
	j.give = map[int]context.CancelFunc{}
	j.reader.fetch = fetchReader
	j.solves = solves{now: now, begin: j.solve, end: j.finish,
		after: func(ms int, f func()) { after(ms, func() { a.later(f) }) }}
}

// context is that of a new request.
func (j *jobs) context(id int) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	j.give[id] = cancel
	return ctx
}

// finish forgets a request.
func (j *jobs) finish(id int) {
	if cancel := j.give[id]; cancel != nil {
		cancel()
		delete(j.give, id)
	}
}

func (j *jobs) cancel(id int) {
	j.finish(id)
	j.solves.cancel(id)
}

func (j *jobs) open(e state.Open) {
	ctx := j.context(e.ID)
	go func() {
		var p proto.Pool = &j.a.local
		release := func() {}
		if e.Request.Preset == "" {
			release = hold(j.a.pool)
			var err error
			if p, err = j.reader.forFile(ctx, j.a.pool, e.Request.Bytes); err != nil {
				j.a.later(func() {
					stopped := ctx.Err() != nil // as it is afterwards in any case
					j.finish(e.ID)
					release()
					if !stopped {
						j.a.do(state.OpenFailed{ID: e.ID, Text: "The part of memtide that reads such files cannot be loaded: " + err.Error() +
							". Files in memtide's own format open without it."})
					}
				})
				return
			}
		}
		m := open(ctx, p, e, func(r *proto.Reply) {
			if r.Progress != nil {
				j.a.post(state.OpenProgressed{ID: e.ID, Progress: *r.Progress})
			}
		})
		j.a.later(func() {
			j.finish(e.ID)
			j.a.do(m)
			release() // the sweep of what was shown before has been given up, if the file could be read
		})
	}()
}

// hold has no point of a sweep begin until a file is open: it comes first, also
// where another program reads it.
func hold(p proto.Pool) (release func()) {
	if h, ok := p.(interface{ Hold() func() }); ok {
		return h.Hold()
	}
	return func() {}
}

func (j *jobs) solve(e state.Solve) {
	if e.Slot == state.ForPage {
		j.dragged = e.Soon
	}
	ctx := j.context(e.ID)
	atOnce(func() {
		m := solve(ctx, j.a.pool, e, func(r *proto.Reply) {
			if r.Progress != nil && e.Slot != state.ForPreview {
				j.a.post(state.Progressed{ID: e.ID, Progress: *r.Progress, Best: r.Solved})
			}
		})
		j.a.later(func() { j.solved(e, m) })
	})
}

// atOnce begins something on a goroutine of its own, and lets it come to where it
// waits: a request is with its worker before the page is drawn, and not after.
func atOnce(f func()) {
	go f()
	runtime.Gosched()
}

// solved passes an answer on and starts the question that waited for it.
func (j *jobs) solved(e state.Solve, m state.Message) {
	j.finish(e.ID)
	if f, ok := m.(state.SolveFailed); ok && f.Failure.Kind == proto.Crash {
		call(global("memtide"), "suspect") // it may have crashed because it is not what was built
	}
	j.solves.answered(e)
	j.a.do(m)
}

// place asks for addresses once the picture rests: a slider that is dragged shows
// many pictures.
func (j *jobs) place(e state.Place) {
	ctx := j.context(e.ID)
	after(sweepDelay, func() {
		if ctx.Err() != nil {
			return
		}
		go func() {
			m := place(ctx, j.a.pool, e, func(r *proto.Reply) {
				if r.Progress != nil {
					j.a.post(state.PlaceProgressed{ID: e.ID, Progress: *r.Progress})
				}
			})
			j.a.later(func() {
				j.finish(e.ID)
				j.a.do(m)
			})
		}()
	})
}

func (j *jobs) sweep(e state.Sweep) {
	ctx := j.context(e.ID)
	begin := func() {
		r, err := j.a.pool.Do(ctx, &proto.Request{Op: proto.OpSweep, Sweep: &e.Request}, func(r *proto.Reply) {
			if r.Point != nil {
				j.a.post(state.SweptPoint{ID: e.ID, Point: *r.Point})
			}
		})
		j.a.later(func() {
			stopped := ctx.Err() != nil
			j.finish(e.ID)
			switch {
			case stopped:
			case err != nil:
				j.a.do(state.SweepFailed{ID: e.ID, Text: err.Error()})
			default:
				j.a.do(state.Swept{ID: e.ID, KeepAll: r.Swept.KeepAll})
			}
		})
	}
	delay := sweepDelay
	if !e.Soon || !j.dragged {
		delay = 0 // when what is shown now has been drawn: it needs the processor more
	}
	after(delay, func() {
		if ctx.Err() == nil {
			go begin()
		}
	})
}
