package doctor

import (
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/engine/caching"
)

// Replay is what the recorded requests would have reserved under settings of the
// allocator, from an empty cache on: what was in use before the recording is asked for
// first, by address.
type Replay struct {
	Setting  string       `json:"setting"` // of PYTORCH_CUDA_ALLOC_CONF; empty: PyTorch's default
	Reserved engine.Bytes `json:"peak_reserved_bytes"`
	// Fits says whether all requests find room in the capacity; nil if that is not known.
	Fits *bool `json:"fits,omitempty"`
}

// collecting begins a setting that knows only a limit.
const collecting = "garbage_collection_threshold:"

// setting is what is tried.
type setting struct {
	name  string
	rules caching.Rules
}

// settings are all, in the order in which equal ones are preferred; the first is the
// default.
func settings() []setting {
	list := []setting{{}, {"expandable_segments:True", caching.Rules{Expandable: true}}}
	for _, mib := range []int{512, 256, 128, 64, 32} {
		list = append(list, setting{fmt.Sprintf("max_split_size_mb:%d", mib), caching.Rules{MaxSplit: engine.Bytes(mib) * engine.MiB}})
	}
	for _, percent := range []int{80, 60} {
		list = append(list, setting{fmt.Sprintf(collecting+"0.%d", percent/10), caching.Rules{Collect: percent}})
	}
	for _, n := range []int{8, 4} {
		list = append(list, setting{fmt.Sprintf("roundup_power2_divisions:%d", n), caching.Rules{Divisions: n}})
	}
	return list
}

// Settings is how many settings are replayed, the default first.
const Settings = 11

// Line is what sets a setting, as it is typed: environment variable and value.
func Line(setting string) string { return "PYTORCH_CUDA_ALLOC_CONF=" + setting }

// Replay runs the requests under one of the settings, on a device without a limit, and
// where that reserves more than the capacity, once more within it. Garbage collection
// knows only a limit, and gets the capacity or, where that is not known, what was
// reserved. What it found before it knows. The errors are the poll's.
func (r *Recording) Replay(i int, poll *engine.Poll) (Replay, error) {
	if r.known == nil {
		r.known, r.replayed = make([]bool, Settings), make([]Replay, Settings)
	}
	if r.known[i] {
		return r.replayed[i], nil
	}
	s, capacity := settings()[i], r.facts.Capacity
	v := Replay{Setting: s.name}
	limit := engine.NoLimit
	if s.rules.Collect > 0 {
		if limit = capacity; limit == 0 {
			limit = r.Recorded.PeakReserved()
		}
	}
	peak, fits, err := r.replay(limit, s.rules, poll)
	if err == nil && capacity > 0 && limit == engine.NoLimit && peak > capacity { // it gives back what it can
		peak, fits, err = r.replay(capacity, s.rules, poll)
	}
	if err != nil {
		return v, err
	}
	v.Reserved = peak
	if capacity > 0 {
		v.Fits = &fits
	}
	r.replayed[i], r.known[i] = v, true
	return v, nil
}

// replay asks a cache for all buffers in order; what finds no room is left out.
func (r *Recording) replay(limit engine.Bytes, rules caching.Rules, poll *engine.Poll) (peak engine.Bytes, fits bool, err error) {
	c := caching.NewWith(limit, rules)
	const refused = -1
	got := make([]caching.Block, len(r.Requests.Buffers))
	fits = true
	for _, e := range r.Requests.Events {
		if err := poll.Err(); err != nil {
			return 0, false, err
		}
		if e.Free {
			if got[e.Buffer] != refused {
				c.Give(got[e.Buffer])
			}
			continue
		}
		got[e.Buffer] = refused
		if b := r.Requests.Buffers[e.Buffer].Bytes; b > 0 { // PyTorch gives others a null pointer
			var ok bool
			if got[e.Buffer], ok = c.Take(int(r.history.Streams[e.Buffer]), b); !ok {
				fits, got[e.Buffer] = false, refused
			}
		}
		peak = max(peak, c.Reserved())
	}
	return peak, fits, nil
}

// Verdict is the kind of an Advice.
type Verdict string

// The verdicts.
const (
	Setting   Verdict = "setting"   // a setting of the allocator serves the request, or reserves less
	TooMuch   Verdict = "too-much"  // no setting helps: too much is in use at once
	Fragments Verdict = "fragments" // free memory is in pieces, and none of the settings mends it
	Nothing   Verdict = "nothing"   // nothing failed, and no setting reserves much less
)

// Advice is what to do, in one line that can be typed, and why.
type Advice struct {
	Verdict Verdict      `json:"verdict"`
	Line    string       `json:"line,omitempty"` // environment variable and value; empty if no setting helps
	Saves   engine.Bytes `json:"saves_bytes,omitempty"`
	Lacks   engine.Bytes `json:"lacks_bytes,omitempty"` // of TooMuch: how much less has to be in use
}

// worthwhile is the share of the reserved memory, one of so many parts, that a setting
// has to save before it is named.
const worthwhile = 20

func (r *Recording) advise(replays []Replay) Advice {
	out := &r.facts
	best := bestSetting(out, replays)
	if f := out.Failure; f != nil {
		need := r.Requests.AggregatePeak()
		switch {
		case best != nil:
			return Advice{Verdict: Setting, Line: Line(best.Setting)}
		case need > out.Capacity:
			return Advice{Verdict: TooMuch, Lacks: need - out.Capacity}
		}
		return Advice{Verdict: Fragments}
	}
	if best == nil {
		return Advice{Verdict: Nothing}
	}
	return Advice{Verdict: Setting, Line: Line(best.Setting), Saves: out.PeakReserved - best.Reserved}
}

// bestSetting is the one to try; nil if none helps. After a failure it is one that serves
// all: expandable segments, or else the one that reserves least, but not if the default
// serves all from an empty cache, too: then it is no setting that makes the difference.
// Where nothing failed, it has to be worthwhile against the recording and the default.
func bestSetting(out *Report, replays []Replay) (best *Replay) {
	fits := func(v *Replay) bool { return v.Fits != nil && *v.Fits }
	byDefault, expandable := &replays[0], &replays[1]
	if out.Failure != nil && (fits(expandable) || fits(byDefault)) {
		if fits(expandable) {
			return expandable
		}
		return nil
	}
	least := min(out.PeakReserved, byDefault.Reserved)
	for i := range replays[1:] {
		v := &replays[1+i]
		switch {
		case out.Failure != nil && !fits(v):
		case out.Failure == nil && (strings.HasPrefix(v.Setting, collecting) || v.Reserved > least-least/worthwhile):
		case best == nil || v.Reserved < best.Reserved-best.Reserved/worthwhile:
			best = v
		}
	}
	return best
}
