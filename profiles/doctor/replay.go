package doctor

import (
	"slices"
	"strconv"
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

// settings are all, in the order in which equal ones are preferred; the first is the default.
var settings = [...]setting{
	{},
	{"expandable_segments:True", caching.Rules{Expandable: true}},
	{"max_split_size_mb:512", caching.Rules{MaxSplit: 512 * engine.MiB}},
	{"max_split_size_mb:256", caching.Rules{MaxSplit: 256 * engine.MiB}},
	{"max_split_size_mb:128", caching.Rules{MaxSplit: 128 * engine.MiB}},
	{"max_split_size_mb:64", caching.Rules{MaxSplit: 64 * engine.MiB}},
	{"max_split_size_mb:32", caching.Rules{MaxSplit: 32 * engine.MiB}},
	{collecting + "0.8", caching.Rules{Collect: 80}},
	{collecting + "0.6", caching.Rules{Collect: 60}},
	{"roundup_power2_divisions:8", caching.Rules{Divisions: 8}},
	{"roundup_power2_divisions:4", caching.Rules{Divisions: 4}},
}

// Settings is how many settings are replayed, the default first.
const Settings = len(settings)

// Line returns what sets a setting, as it is typed: environment variable and value.
func Line(setting string) string { return "PYTORCH_CUDA_ALLOC_CONF=" + setting }

// Replay runs the requests under one of the settings, on a device without a limit, and
// where that reserves more than could be reserved, once more within that. Garbage collection
// knows only a limit, and gets the capacity or, where that is not known, the more of what was
// reserved or what the default reserves. What it found before it knows. The errors are
// the poll's.
func (r *Recording) Replay(i int, poll *engine.Poll) (Replay, error) {
	if r.replayed[i] != nil {
		return *r.replayed[i], nil
	}
	v, err := r.tryOut(settings[i], poll)
	if err == nil {
		r.replayed[i] = &v
	}
	return v, err
}

// tryOut runs the requests under a setting.
func (r *Recording) tryOut(s setting, poll *engine.Poll) (Replay, error) {
	v, capacity, limit := Replay{Setting: s.name}, r.capacity(), engine.NoLimit
	if s.rules.Collect > 0 {
		limit = capacity
		if limit == 0 {
			byDefault, err := r.Replay(0, poll)
			if err != nil {
				return v, err
			}
			limit = max(r.Recorded.PeakReserved(), byDefault.Reserved)
		}
	}
	peak, fits, err := r.replay(limit, s.rules, poll)
	if err == nil && capacity > 0 && limit == engine.NoLimit && peak > capacity { // it gives back what it can
		peak, fits, err = r.replay(capacity, s.rules, poll)
	}
	v.Reserved = peak
	if capacity > 0 || !fits {
		v.Fits = &fits
	}
	return v, err
}

// capacity returns what could be reserved: when a request found no room, or else, where the
// allocator had to give back segments, the most that ever was, or 0 if neither tells.
func (r *Recording) capacity() engine.Bytes {
	if r.facts.Capacity == 0 && r.history.Pressed {
		return r.Recorded.PeakReserved()
	}
	return r.facts.Capacity
}

// ownSettings replays the settings of the run; nil if they are not all understood.
func (r *Recording) ownSettings(poll *engine.Poll) (*Replay, error) {
	rules, ok := parseSettings(r.history.Settings)
	rules.Expandable = rules.Expandable || r.history.Expandable
	if !ok || r.own != nil {
		return r.own, nil
	}
	v, err := Replay{}, error(nil)
	if i := slices.IndexFunc(settings[:], func(s setting) bool { return s.rules == rules }); i >= 0 {
		v, err = r.Replay(i, poll)
	} else {
		v, err = r.tryOut(setting{r.history.Settings, rules}, poll)
	}
	if err != nil {
		return nil, err
	}
	r.own = &v
	return r.own, nil
}

// parseSettings reads what PYTORCH_CUDA_ALLOC_CONF says; ok is false if something of it
// changes where memory lies in a way that caches cannot be told.
func parseSettings(text string) (rules caching.Rules, ok bool) {
	for part := range strings.SplitSeq(strings.ReplaceAll(text, " ", ""), ",") {
		key, value, _ := strings.Cut(part, ":")
		var err error
		switch key {
		case "", "pinned_use_cuda_host_register", "pinned_num_register_threads", "pinned_use_background_threads",
			"release_lock_on_cudamalloc":
		case "backend":
			if value != "native" {
				return rules, false
			}
		case "expandable_segments":
			rules.Expandable, err = strconv.ParseBool(value)
		case "max_split_size_mb":
			var mib uint64
			mib, err = strconv.ParseUint(value, 10, 32)
			rules.MaxSplit = engine.Bytes(mib) * engine.MiB
		case "garbage_collection_threshold":
			var share float64
			share, err = strconv.ParseFloat(value, 64)
			rules.Collect = int(engine.Int64(100*share + 0.5))
		case "roundup_power2_divisions":
			rules.Divisions, err = strconv.Atoi(value)
		default:
			return rules, false
		}
		if err != nil || rules.Collect < 0 || rules.Collect > 100 || rules.Divisions < 0 {
			return rules, false
		}
	}
	return rules, true
}

// replay asks a cache for all buffers in order, and empties it where the program did; what
// finds no room is left out.
func (r *Recording) replay(limit engine.Bytes, rules caching.Rules, poll *engine.Poll) (peak engine.Bytes, fits bool,
	err error) {
	c := caching.NewWith(limit, rules)
	const refused = -1
	got := make([]caching.Block, len(r.Requests.Buffers))
	fits = true
	emptied := r.history.Emptied
	for i, e := range r.Requests.Events {
		if err := poll.Err(); err != nil {
			return 0, false, err
		}
		for ; len(emptied) > 0 && emptied[0] <= i; emptied = emptied[1:] {
			c.Empty()
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
			got[e.Buffer], ok = c.Take(int(r.history.Streams[e.Buffer]), b)
			if !ok {
				fits, got[e.Buffer] = false, refused
			}
		}
		peak = max(peak, c.Reserved())
	}
	return peak, fits, nil
}

// Kind is the kind of an Advice.
type Kind string

// The verdicts.
const (
	Setting   Kind = "setting"   // a setting of the allocator serves the request, or reserves less
	TooMuch   Kind = "too-much"  // no setting helps: too much is in use at once
	Fragments Kind = "fragments" // free memory is in pieces, and none of the settings mends it
	Nothing   Kind = "nothing"   // nothing failed, and no setting reserves much less
	// Unrecorded: there are no events, so what failed and what settings change is not known.
	Unrecorded Kind = "no-events"
	// Inexact: the replay of the settings of the run is not near to what was recorded, so
	// what those of others say is worth nothing.
	Inexact Kind = "inexact"
)

// Advice is what to do, in one line that can be typed, and why.
type Advice struct {
	Verdict Kind   `json:"verdict"`
	Line    string `json:"line,omitempty"` // environment variable and value; empty if no setting helps
	// Saves is against the replay of the settings of the run: what the cache was filled
	// with before the recording is no matter of settings.
	Saves engine.Bytes `json:"saves_bytes,omitempty"`
	Lacks engine.Bytes `json:"lacks_bytes,omitempty"` // of TooMuch: how much less has to be in use
	// Replayed is what the replay of the settings of the run reserves; 0 if they cannot be
	// replayed.
	Replayed engine.Bytes `json:"replayed_bytes,omitempty"`
}

// A setting is named if it saves at least 1/worthwhile of the reserved memory, and only if the
// replay of the run's own settings is within 1/exact of the record.
const (
	worthwhile = 20
	exact      = 20
)

// Off returns how far the replay of the settings of the run is from the record, as a share of it.
func (a *Advice) Off(recorded engine.Bytes) float64 {
	return float64(a.Replayed-recorded) / float64(max(recorded, 1))
}

// advise says what follows from the replays of all settings and of those of the run; own
// is nil if they cannot be replayed.
func (r *Recording) advise(replays []Replay, own *Replay) (a Advice) {
	out := &r.facts
	if own != nil {
		a.Replayed = own.Reserved
	}
	need := r.Requests.AggregatePeak()
	if out.Failure != nil && need > out.Capacity {
		a.Verdict, a.Lacks = TooMuch, need-out.Capacity
		return a
	}
	miss := engine.Bytes(0)
	if own != nil {
		miss = own.Reserved - out.PeakReserved
	}
	refused := own != nil && out.Failure == nil && own.Fits != nil && !*own.Fits // and was not
	if own == nil || refused || max(miss, -miss) > out.PeakReserved/exact {
		a.Verdict = Inexact
		return a
	}
	best := bestSetting(out.Failure != nil, replays, own)
	switch {
	case best != nil && out.Failure != nil:
		a.Verdict, a.Line = Setting, Line(best.Setting)
	case best != nil:
		a.Verdict, a.Line, a.Saves = Setting, Line(best.Setting), own.Reserved-best.Reserved
	case out.Failure != nil:
		a.Verdict = Fragments
	default:
		a.Verdict = Nothing
	}
	return a
}

// bestSetting returns the one to try, or nil if none helps. After a failure it is one that serves
// all: expandable segments, or else the one that reserves least, but none if the settings
// of the run serve all from an empty cache, too: then it is no setting that makes the
// difference. Where nothing failed, it has to be worthwhile against those of the run.
func bestSetting(failed bool, replays []Replay, own *Replay) (best *Replay) {
	fits := func(v *Replay) bool { return v.Fits != nil && *v.Fits }
	expandable := &replays[1]
	if failed && (fits(expandable) || fits(own)) {
		if fits(own) {
			return nil
		}
		return expandable
	}
	for i := range replays[1:] {
		v := &replays[1+i]
		switch {
		case failed && !fits(v) || v.Fits != nil && !*v.Fits:
		case !failed && (strings.HasPrefix(v.Setting, collecting) || v.Reserved > own.Reserved-own.Reserved/worthwhile):
		case best == nil || v.Reserved < best.Reserved-best.Reserved/worthwhile:
			best = v
		}
	}
	return best
}
