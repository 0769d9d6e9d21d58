package doctor

import (
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/engine/caching"
	"memtide/profiles"
)

// Replay is the result of replaying the recorded requests with other settings of the allocator. The replay begins with
// an empty cache and first requests the buffers that existed before the recording, by address.
type Replay struct {
	Setting  string       `json:"setting"` // value of PYTORCH_CUDA_ALLOC_CONF; empty for PyTorch's default
	Reserved engine.Bytes `json:"peak_reserved_bytes"`
	// Fits reports whether all requests succeed within the capacity; nil if unknown.
	Fits *bool `json:"fits,omitempty"`
}

// collecting is the prefix of a setting that has an effect only with a limit.
const collecting = "garbage_collection_threshold:"

// setting is a value of PYTORCH_CUDA_ALLOC_CONF and its rules.
type setting struct {
	name  string
	rules caching.Rules
}

// settings lists the settings that are replayed. The first is the default; of equal results, the
// first setting is preferred.
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

// Settings is the number of settings that are replayed.
const Settings = len(settings)

// Line returns the assignment of a setting to the environment variable, as the user types it.
func Line(setting string) string { return "PYTORCH_CUDA_ALLOC_CONF=" + setting }

// Replay replays the requests with settings[i] on a device without a limit. If that reserves more than the capacity, it
// replays them again within the capacity. Garbage collection needs a limit: the capacity or, if that is unknown, the
// larger of the recorded peak and the peak of the default. Results are cached. The errors are the poll's.
func (r *Recording) Replay(i int, poll *engine.Poll) (Replay, error) {
	return profiles.Try(func() Replay { return r.listed(i, poll) })
}

// listed is Replay; it ends if the poll says so.
func (r *Recording) listed(i int, poll *engine.Poll) Replay {
	if r.replayed[i] == nil {
		v := r.tryOut(settings[i], poll)
		r.replayed[i] = &v
	}
	return *r.replayed[i]
}

// tryOut replays the requests with a setting.
func (r *Recording) tryOut(s setting, poll *engine.Poll) Replay {
	v, capacity, limit := Replay{Setting: s.name}, r.capacity(), engine.NoLimit
	if s.rules.Collect > 0 {
		limit = capacity
		if limit == 0 {
			limit = max(r.Recorded.PeakReserved(), r.listed(0, poll).Reserved)
		}
	}
	peak, fits := r.replay(limit, s.rules, poll)
	// Within a limit, the cache releases free segments.
	if capacity > 0 && limit == engine.NoLimit && peak > capacity {
		peak, fits = r.replay(capacity, s.rules, poll)
	}
	v.Reserved = peak
	if capacity > 0 || !fits {
		v.Fits = &fits
	}
	return v
}

// capacity returns the bytes that could be reserved: what was available when a request failed or, if the allocator had
// to release segments, the most that was ever reserved. It returns 0 if neither happened.
func (r *Recording) capacity() engine.Bytes {
	if r.facts.Capacity == 0 && r.history.Pressed {
		return r.Recorded.PeakReserved()
	}
	return r.facts.Capacity
}

// ownSettings returns the replay with the settings of the run, or nil if a setting is unknown.
func (r *Recording) ownSettings(poll *engine.Poll) *Replay {
	rules, ok := parseSettings(r.history.Settings)
	rules.Expandable = rules.Expandable || r.history.Expandable
	if !ok || r.own != nil {
		return r.own
	}
	var v Replay
	if i := slices.IndexFunc(settings[:], func(s setting) bool { return s.rules == rules }); i >= 0 {
		v = r.listed(i, poll)
	} else {
		v = r.tryOut(setting{r.history.Settings, rules}, poll)
	}
	r.own = &v
	return r.own
}

// parseSettings parses a value of PYTORCH_CUDA_ALLOC_CONF. ok is false if a setting that package
// caching does not simulate can change the layout.
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

// replay replays all events with a new cache, and empties it where the program did. Requests
// that fail are left out; fits reports whether none failed.
func (r *Recording) replay(limit engine.Bytes, rules caching.Rules, poll *engine.Poll) (peak engine.Bytes, fits bool) {
	c := caching.New(limit, rules)
	const refused = -1
	got := make([]caching.Block, len(r.Requests.Buffers))
	fits = true
	emptied := r.history.Emptied
	for i, e := range r.Requests.Events {
		profiles.End(poll.Err())
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
		if b := r.Requests.Buffers[e.Buffer].Bytes; b > 0 { // PyTorch returns a null pointer for 0 bytes
			var ok bool
			got[e.Buffer], ok = c.Take(int(r.history.Streams[e.Buffer]), b)
			if !ok {
				fits, got[e.Buffer] = false, refused
			}
		}
		peak = max(peak, c.Reserved())
	}
	return peak, fits
}

// Kind is the verdict of an Advice.
type Kind string

// The verdicts.
const (
	Setting   Kind = "setting"   // with a setting of the allocator the request succeeds, or less is reserved
	TooMuch   Kind = "too-much"  // no setting helps: too much is in use at the same time
	Fragments Kind = "fragments" // free memory is fragmented, and no setting helps
	Nothing   Kind = "nothing"   // nothing failed, and no setting reserves much less
	// Unrecorded: there are no events, so neither the failure nor the effect of settings is known.
	Unrecorded Kind = "no-events"
	// Inexact: the replay with the settings of the run differs from the recording, so replays
	// with other settings prove nothing.
	Inexact Kind = "inexact"
)

// Advice is the setting to change, as a line that can be typed, and the reason.
type Advice struct {
	Verdict Kind   `json:"verdict"`
	Line    string `json:"line,omitempty"` // environment variable and value; empty if no setting helps
	// Saves is the reduction against the replay with the settings of the run. The recorded peak
	// would not do: it depends on the cache before the recording, not only on settings.
	Saves engine.Bytes `json:"saves_bytes,omitempty"`
	Lacks engine.Bytes `json:"lacks_bytes,omitempty"` // by how much the use has to fall; only for TooMuch
	// Replayed is what the replay with the settings of the run reserves; 0 if they cannot be replayed.
	Replayed engine.Bytes `json:"replayed_bytes,omitempty"`
}

// A setting is recommended if it saves at least 1/worthwhile of the reserved memory, and only if
// the replay with the run's own settings is within 1/exact of the recording.
const (
	worthwhile = 20
	exact      = 20
)

// Off returns the difference of the replay with the run's settings from the recorded peak, as a share of that peak.
func (a *Advice) Off(recorded engine.Bytes) float64 {
	return float64(a.Replayed-recorded) / float64(max(recorded, 1))
}

// advise returns the advice that follows from the replays. own is the replay with the settings
// of the run, or nil if they cannot be replayed.
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
	refused := own != nil && out.Failure == nil && own.Fits != nil && !*own.Fits // but every recorded request succeeded
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

// bestSetting returns the replay of the setting to recommend, or nil if no setting helps. After a failure, all requests
// have to succeed: it prefers expandable segments, and else the setting that reserves least. It returns nil if all
// requests also succeed with the settings of the run and an empty cache: then the setting makes no difference. Without
// a failure, a setting has to be worthwhile compared with the settings of the run.
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
