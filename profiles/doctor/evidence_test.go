package doctor

import (
	"fmt"
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/profiles"
)

// TestStepsNeedABackward checks that repeated requests count as steps only if a backward or an optimizer has run
// in between. Layers of one forward and replicas are not steps. Of the layers in several steps only the first
// begins one.
func TestStepsNeedABackward(t *testing.T) {
	forward := func(steps, layers int, turn string) *profiles.Profile {
		x := newTape(t, engine.NoLimit)
		for s := range steps {
			for l := range layers {
				x.ask(fmt.Sprint(s, ".", l), 8*mib, inForward)
			}
			if turn != "" {
				x.ask(fmt.Sprint("turn", s), mib, turn)
			}
		}
		return x.done(0)
	}
	for _, c := range []struct {
		name                 string
		steps, layers, leaks int
		turn                 string
		trains               bool
		want                 int // number of steps; 0 if steps cannot be recognised
	}{
		{"48 layers of one forward", 1, 48, 0, "", false, 0},
		{"a forward again and again", 28, 1, 0, "", false, 0},
		{"what autograd's thread asks for has no stack", 28, 1, 0, " ", false, 0},
		{"four replicas and a backward", 1, 4, 0, inBackward, true, 0},
		{"12 layers in 2 steps", 2, 12, 0, inBackward, true, 0},
		{"12 layers in 4 steps", 4, 12, 2, inBackward, true, 4},
		{"steps of an optimizer alone", 5, 1, 2, inOptim, true, 5},
	} {
		r := examine(t, forward(c.steps, c.layers, c.turn))
		if got := r.Growth; r.Trains != c.trains || (got != nil) != (c.want > 0) || got != nil &&
			(got.Steps != c.want || len(got.Leaks) != c.leaks) {
			t.Errorf("%s: trains %t, growth %s; want %t and %d steps with %d leaks", c.name, r.Trains, jsonOf(got),
				c.trains, c.want, c.leaks)
		}
	}
}

// TestRecomputationIsNoStep checks that layers that checkpointing runs again count as part of a backward.
func TestRecomputationIsNoStep(t *testing.T) {
	for _, stack := range []string{"torch/utils/checkpoint.py backward; net.py forward",
		"torch/utils/checkpoint.py unpack_hook; net.py forward"} {
		x := newTape(t, engine.NoLimit)
		for i := range 12 {
			x.ask(fmt.Sprint("again", i), 8*mib, stack)
			x.ask(fmt.Sprint("g", i), mib, inBackward)
		}
		if r := examine(t, x.done(0)); r.Growth != nil {
			t.Errorf("%s, 12 times: growth %s; want no steps", stack, jsonOf(r.Growth))
		}
	}
}

// wasteful returns a recording under the default settings in which a segment of 64 MiB is split, so that the next
// request for 64 MiB needs another segment.
func wasteful(t *testing.T) *profiles.Profile {
	x := newTape(t, engine.NoLimit)
	x.ask("a", 64*mib, inForward)
	x.free("a")
	x.ask("b", 12*mib, inForward)
	x.ask("c", 64*mib, inForward)
	return x.done(0, profiles.Segment{Size: 64 * mib})
}

// TestAdviceNeedsEvents checks that a recording that has no events gives neither advice nor replays.
func TestAdviceNeedsEvents(t *testing.T) {
	p := wasteful(t)
	m := p.Memory
	m.Requests.Events, m.Before = []alloc.Event{{Buffer: 1}, {Buffer: 2}}, 2
	m.Requests.Buffers[1].Start, m.Requests.Buffers[2].Start, m.Requests.Buffers[0].End = 0, 1, 0
	m.Recorded.Reserved = []alloc.Level{{Bytes: 5000 * mib}}
	if r := examine(t, p); r.Advice != (Advice{Verdict: Unrecorded}) || r.Replays != nil || r.Recorded != 0 ||
		r.Growth != nil || r.Trains {
		t.Errorf("without events: advice %+v, %d replays, %d events, growth %s; want none of them", r.Advice,
			len(r.Replays), r.Recorded, jsonOf(r.Growth))
	}
}

// TestAdviceNeedsTheRecord checks that a setting is advised only if a replay of the run's own settings is within
// 5 % of what was reserved. The savings are counted against that replay.
func TestAdviceNeedsTheRecord(t *testing.T) {
	const line = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
	for _, c := range []struct {
		name     string
		settings string
		recorded engine.Bytes
		want     Advice
	}{
		{"as recorded", "", 128 * mib, Advice{Verdict: Setting, Line: line, Saves: 48 * mib, Replayed: 128 * mib}},
		{"5 % more was reserved", "", 134 * mib,
			Advice{Verdict: Setting, Line: line, Saves: 48 * mib, Replayed: 128 * mib}},
		{"a full cache before it", "", 5000 * mib, Advice{Verdict: Inexact, Replayed: 128 * mib}},
		{"less was reserved", "", 100 * mib, Advice{Verdict: Inexact, Replayed: 128 * mib}},
		{"under another setting", "backend:native, max_split_size_mb:100", 128 * mib,
			Advice{Verdict: Setting, Line: line, Saves: 48 * mib, Replayed: 128 * mib}},
		{"under the best setting", "max_split_size_mb:64,pinned_num_register_threads:8", 76 * mib,
			Advice{Verdict: Nothing, Replayed: 76 * mib}},
		{"under one that is not replayed", "roundup_power2_divisions:[256:1,>:8]", 128 * mib, Advice{Verdict: Inexact}},
		{"by another allocator", "backend:cudaMallocAsync", 128 * mib, Advice{Verdict: Inexact}},
	} {
		p := wasteful(t)
		p.History.Settings = c.settings
		p.Memory.Recorded.Reserved = []alloc.Level{{Bytes: c.recorded}}
		if r := examine(t, p); r.Advice != c.want {
			t.Errorf("%s: advice %+v, want %+v; replays %s", c.name, r.Advice, c.want, jsonOf(r.Replays))
		}
	}
}

// TestReplayEmpties checks that a replay empties the cache where the program did.
func TestReplayEmpties(t *testing.T) {
	p := wasteful(t)
	p.History.Emptied = []int{2} // after a was freed
	p.Memory.Recorded.Reserved = []alloc.Level{{Bytes: 64 * mib}, {Event: 2, Bytes: 12 * mib},
		{Event: 3, Bytes: 76 * mib}}
	if r := examine(t, p); r.Replays[0].Reserved != 76*mib || r.Advice.Verdict != Nothing {
		t.Errorf("the default reserves %d bytes, advice %+v; want 76 MiB, and nothing to mend", r.Replays[0].Reserved,
			r.Advice)
	}
}

// TestCollectionHasRoom checks replays for which the recording gives no limit on reserved memory. Garbage is then
// collected within what the default setting needs, if that is more than the record says, and all requests succeed.
func TestCollectionHasRoom(t *testing.T) {
	p := wasteful(t)
	p.Memory.Recorded.Reserved = []alloc.Level{{Bytes: 20 * mib}} // segment events are missing
	for _, v := range examine(t, p).Replays {
		if v.Reserved < 76*mib || v.Fits != nil {
			t.Errorf("%q reserves %d bytes, fits %v; want the 76 MiB that are in use at once, and all served",
				v.Setting, v.Reserved, v.Fits)
		}
	}
}

// TestReplayUnderPressure checks recordings in which the allocator had to give back segments. Replays may reserve
// no more than was ever reserved. A replay that refuses a request that the run was granted does not count as
// close to the record.
func TestReplayUnderPressure(t *testing.T) {
	p := func(most engine.Bytes) *profiles.Profile {
		x := newTape(t, most)
		x.ask("a", 96*mib, inForward)
		x.free("a")
		x.ask("b", 100*mib, inForward)
		x.free("b")
		x.ask("c", 64*mib, inForward)
		p := x.done(0, profiles.Segment{Size: 64 * mib})
		p.History.Pressed = true
		return p
	}
	r := examine(t, p(100*mib))
	if v := r.Replays[0]; v.Reserved != 100*mib || v.Fits == nil || !*v.Fits || r.Advice.Verdict == Inexact ||
		r.Capacity != 0 {
		t.Errorf("the default is %s, advice %+v, capacity %d; want 100 MiB in which all find room, near to the record", jsonOf(v), r.Advice, r.Capacity)
	}
	q := p(100 * mib)
	q.Memory.Recorded.Reserved = []alloc.Level{{Bytes: 99 * mib}}
	if r := examine(t, q); r.Advice.Verdict != Inexact || r.Advice.Replayed == 0 {
		t.Errorf("a replay that refuses 100 MiB within 99: advice %+v; want none", r.Advice)
	}
}

// TestBestSettingServesAll checks that a setting that reserves less only because it refuses requests is not
// advised.
func TestBestSettingServesAll(t *testing.T) {
	yes, no := true, false
	own := Replay{Reserved: 100 * mib, Fits: &yes}
	list := []Replay{own, {Setting: "expandable_segments:True", Reserved: 99 * mib, Fits: &yes},
		{Setting: "x", Reserved: 50 * mib, Fits: &no}}
	if got := bestSetting(false, list, &own); got != nil {
		t.Errorf("got %+v; want none", *got)
	}
	if list[2].Fits = &yes; bestSetting(false, list, &own) != &list[2] {
		t.Errorf("got %+v; want the third", bestSetting(false, list, &own))
	}
}
