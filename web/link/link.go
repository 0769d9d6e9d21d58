package link

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/web/format"
)

// Version is the version of the links that are written.
const Version = 1

// maxFragment is the longest fragment that is read, in characters.
const maxFragment = 64 << 10

// Budget is a budget as a person gave it. The zero value is the default.
type Budget struct {
	Bytes   engine.Bytes // 0 if Percent is meant
	Percent float64      // of keeping everything; 0 if Bytes is meant
}

// Of is the budget in bytes for a network whose keep-everything peak is given,
// rounded down.
func (b Budget) Of(storeAll engine.Bytes) engine.Bytes {
	if b.Bytes > 0 {
		return b.Bytes
	}
	return engine.Bytes(b.Percent / 100 * float64(storeAll))
}

// String is the form in links: 12GiB, 900MiB, 123B or 60%.
func (b Budget) String() string {
	switch {
	case b.Bytes == 0:
		return strconv.FormatFloat(b.Percent, 'g', -1, 64) + "%"
	case b.Bytes%engine.GiB == 0:
		return fmt.Sprintf("%dGiB", b.Bytes/engine.GiB)
	case b.Bytes%engine.MiB == 0:
		return fmt.Sprintf("%dMiB", b.Bytes/engine.MiB)
	case b.Bytes%engine.KiB == 0:
		return fmt.Sprintf("%dKiB", b.Bytes/engine.KiB)
	}
	return fmt.Sprintf("%dB", b.Bytes)
}

// message is an error that is a sentence for people, to be shown as it is.
type message string

func (m message) Error() string { return string(m) }

func sentence(format string, args ...any) error { return message(fmt.Sprintf(format, args...)) }

// Range is the visible stretch of time; the zero value is all of it.
type Range struct{ From, To time.Duration }

// Link is what a permalink says. Empty fields stand for the defaults.
type Link struct {
	Preset  string            // reference of a preset, "resnet101-b32"
	Profile *profiles.Profile // from a blob; nil if the source is a preset
	Kind    string            // "graph": of a network that is both, the operations instead of the chain; "memory": a file about addresses; "chain" or ""

	Device    string // id of a device
	Budget    Budget
	Strategy  string
	Args      engine.Args
	ToDev     engine.Rate // 0: the device's
	ToHost    engine.Rate // 0: as ToDev, or the device's
	Duplex    string      // "half", "full" or ""
	Transfers string      // "whole", "streamed" or ""

	Alloc     string // allocator of the address view, which is open; "": it is closed
	AllocArgs engine.Args

	Lines string // what the curve draws: "all", "none", or names with commas
	Axis  string // of the curve: "slowdown", "time", "rate" or ""

	Moment   time.Duration // that the map of memory shows; 0: the failure, or the peak
	Visible  Range
	Selected string   // by what it is, see draw.Model.Name
	Open     []string // what is unfolded, in the order of Folds
	Chain    bool     // the critical chain is shown
	Slowdown int      // that the question about the smallest budget accepts: one more than its hundredths of a per cent; 0: the default
	Show     []string // the panels that are shown, in their order; nil: all
	Title    string
	Theme    string
	Embed    bool   // a view in another page: without controls
	Controls string // of such a view: "budget" or ""

	B    *Link  // the other side of a comparison: what differs from this one; nil: there is none
	From string // of B: FromBlob or FromFile if its network is neither A's nor a preset

	Unknown []string // key=value pairs that this version does not know, kept as they came
}

// Parse reads a fragment, with or without the leading #. The notes say what was
// wrong with it, for people; what they are about has been left at its default.
func Parse(fragment string) (l Link, notes []string) {
	fragment = strings.TrimPrefix(fragment, "#")
	if fragment == "" {
		return l, nil
	}
	if len(fragment) > maxFragment {
		return l, []string{fmt.Sprintf("This link is %d characters long; at most %d are read. Open the file itself instead.", len(fragment), maxFragment)}
	}
	r := reader{l: &l, budget: newBudget()}
	pairs := pairsOf(fragment)
	r.checkSum(pairs)
	for _, p := range upgrade(pairs, upgraders) {
		r.pair(p.key, p.value, p.raw)
		if r.newer {
			return Link{}, r.notes
		}
	}
	r.endSide()
	switch {
	case l.Preset != "" || r.sawData || l.Profile != nil:
	case l.Kind == "memory":
		r.note("This link is about addresses from a file, which no link can hold. Open the file itself.")
	case l.Kind == "graph":
		r.note("This link is about a graph of operations from a file, which no link can hold. Open the file itself.")
	default:
		r.note("This link names no profile; it may have been cut.")
	}
	if more := len(r.notes) - mostNotes; more > 1 {
		r.notes = append(r.notes[:mostNotes], fmt.Sprintf("And %d more.", more))
	}
	return l, r.notes
}

// mostNotes is how many notes are told, mostNote how many bytes of one.
const (
	mostNotes = 20
	mostNote  = 1000
)

type reader struct {
	l       *Link
	budget  *profiles.Budget
	notes   []string
	newer   bool
	sawData bool
	b       *reader // of side B
}

func (r *reader) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(text) > mostNote {
		text = strings.ToValidUTF8(text[:mostNote], "") + "…"
	}
	r.notes = append(r.notes, text)
}

// pair takes one key and value. A bad value is noted and dropped.
func (r *reader) pair(key, value, raw string) {
	l := r.l
	var err error
	switch key {
	case "v":
		r.version(value)
	case keySum: // see checkSum
	case "p":
		l.Preset = strings.ToLower(value)
	case "d":
		r.sawData = true
		l.Profile, err = decodeBlob(value, r.budget)
		if err != nil {
			r.note("%v", err)
			return
		}
	case "kind":
		l.Kind, err = oneOf(value, "chain", "graph", "memory")
	case "c":
		l.Lines = strings.ToLower(value)
	case "y":
		l.Axis, err = oneOf(value, "slowdown", "time", "rate")
	case "alloc":
		l.Alloc = strings.ToLower(value)
	case "dev":
		l.Device = strings.ToLower(value)
	case "m":
		l.Budget, err = ParseBudget(value)
	case "s":
		l.Strategy = strings.ToLower(value)
	case "bw":
		l.ToDev, err = parseRate(value)
	case "bwd":
		l.ToHost, err = parseRate(value)
	case "duplex":
		l.Duplex, err = oneOf(value, "half", "full")
	case "xfer":
		l.Transfers, err = oneOf(value, "whole", "streamed")
	case "at":
		l.Moment, err = parseMoment(value)
	case "t":
		l.Visible, err = parseRange(value)
	case "sel":
		l.Selected = value
	case "show":
		l.Show, err = namesOf(value, Panels, "part of the page")
	case "open":
		l.Open, err = namesOf(value, Folds, "part of the page that unfolds")
	case "chain":
		l.Chain = value != "0"
	case "slow":
		l.Slowdown, err = parseSlowdown(value)
	case "embed":
		l.Embed = value != "0"
	case "controls":
		l.Controls, err = oneOf(value, "budget", "none")
		l.Controls = strings.TrimSuffix(l.Controls, "none")
	case "title":
		l.Title = string([]rune(value)[:min(80, len([]rune(value)))])
	case "theme":
		l.Theme, err = oneOf(value, "light", "dark", "auto")
		l.Theme = strings.TrimSuffix(l.Theme, "auto")
	default:
		r.named(key, value, raw)
	}
	if err != nil {
		r.note("%s: %s. It was left out.", key, strings.TrimSuffix(err.Error(), "."))
	}
}

// named takes a key with a name in it, or keeps what is not known.
func (r *reader) named(key, value, raw string) {
	l := r.l
	if name, ok := strings.CutPrefix(key, "s."); ok && name != "" {
		if l.Args == nil {
			l.Args = engine.Args{}
		}
		l.Args[name] = value
	} else if name, ok := strings.CutPrefix(key, "alloc."); ok && name != "" {
		if l.AllocArgs == nil {
			l.AllocArgs = engine.Args{}
		}
		l.AllocArgs[name] = value
	} else if name, ok := strings.CutPrefix(key, "b."); !ok || !r.side(name, value, raw) {
		l.Unknown = append(l.Unknown, raw)
	}
}

func (r *reader) version(value string) {
	n, err := strconv.Atoi(value)
	switch {
	case err != nil || n < 1:
		r.note("v is %q; expected a version number such as %d. It was left out.", value, Version)
	case n > Version:
		r.newer = true
		r.note("This link needs a newer version of this page (link version %d, this page reads up to %d). Reload the page.", n, Version)
	}
}

// parseRate also reads 12.5GBps, which needs no escape anywhere.
func parseRate(value string) (engine.Rate, error) {
	if text, ok := strings.CutSuffix(value, "ps"); ok {
		value = text + "/s"
	}
	return format.ParseRate(value)
}

func oneOf(value string, words ...string) (string, error) {
	if value = strings.ToLower(value); slices.Contains(words, value) {
		return value, nil
	}
	return "", sentence("%q is not known; expected %s.", value, strings.Join(words, " or "))
}

// ParseBudget reads "12GiB", "900 MiB" or "60%".
func ParseBudget(value string) (Budget, error) {
	if text, ok := strings.CutSuffix(strings.TrimSpace(value), "%"); ok {
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(x > 0 && x <= 1000) {
			return Budget{}, sentence("%q is not a share; expected a number above 0 and up to 1000 per cent, such as 60%%.", value)
		}
		return Budget{Percent: x}, nil
	}
	b, err := format.ParseBytes(value)
	if err != nil {
		return Budget{}, err
	}
	if b <= 0 {
		return Budget{}, sentence("a budget of %q is too small; expected at least 1 byte.", value)
	}
	return Budget{Bytes: b}, nil
}

// parseRange reads "120-480.5", in milliseconds.
func parseRange(value string) (Range, error) {
	from, to, ok := strings.Cut(value, "-")
	a, err1 := parseMS(from)
	b, err2 := parseMS(to)
	if !ok || err1 != nil || err2 != nil || b <= a {
		return Range{}, sentence("%q is not a time range; expected start-end in milliseconds, such as 120-480.", value)
	}
	return Range{a, b}, nil
}

// parseMoment reads "412.5", in milliseconds.
func parseMoment(value string) (time.Duration, error) {
	d, err := parseMS(value)
	if err != nil {
		return 0, sentence("%q is not a time; expected milliseconds from the start of the step, such as 412.5.", value)
	}
	return d, nil
}

// parseMS reads milliseconds with up to six decimals, exactly.
func parseMS(s string) (time.Duration, error) {
	whole, frac, _ := strings.Cut(s, ".")
	if len(frac) > 6 || len(whole) > 12 {
		return 0, strconv.ErrRange
	}
	n, err := strconv.ParseUint(whole+frac+strings.Repeat("0", 6-len(frac)), 10, 62)
	return time.Duration(n), err
}

func formatMS(d time.Duration) string {
	s := fmt.Sprintf("%d.%06d", d/time.Millisecond, d%time.Millisecond)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// String is the canonical fragment, without the #. A profile without a chain
// does not fit into a link and is left out.
func (l *Link) String() string {
	out := []string{fmt.Sprintf("v=%d", Version)}
	add := func(key, value string) {
		if value != "" {
			out = append(out, key+"="+escape(value))
		}
	}
	if l.Profile == nil {
		add("p", l.Preset)
	}
	if l.Kind != "chain" {
		add("kind", l.Kind)
	}
	add("dev", l.Device)
	if l.Budget != (Budget{}) {
		add("m", l.Budget.String())
	}
	add("s", l.Strategy)
	addArgs := func(prefix string, args engine.Args) {
		for _, name := range slices.Sorted(maps.Keys(args)) {
			add(prefix+name, args[name])
		}
	}
	addArgs("s.", l.Args)
	addRate := func(key string, r engine.Rate) {
		if r > 0 {
			add(key, rate(r))
		}
	}
	addRate("bw", l.ToDev)
	if l.ToHost != l.ToDev {
		addRate("bwd", l.ToHost)
	}
	add("duplex", l.Duplex)
	add("xfer", l.Transfers)
	add("alloc", l.Alloc)
	addArgs("alloc.", l.AllocArgs)
	add("c", l.Lines)
	if l.Axis != "slowdown" {
		add("y", l.Axis)
	}
	if l.Moment > 0 {
		add("at", formatMS(l.Moment))
	}
	if l.Visible != (Range{}) {
		add("t", formatMS(l.Visible.From)+"-"+formatMS(l.Visible.To))
	}
	add("sel", l.Selected)
	l.addView(add)
	add("show", strings.Join(l.Show, ","))
	add("title", l.Title)
	add("theme", l.Theme)
	if l.Embed {
		add("embed", "1")
	}
	add("controls", l.Controls)
	if l.B != nil {
		out = append(out, l.B.sidePairs()...)
	}
	out = append(out, l.Unknown...)
	if l.Profile != nil && l.Profile.Chain != nil {
		out = append(out, "d="+blob(l.Profile))
	}
	if l.B != nil && l.B.Profile != nil && l.B.Profile.Chain != nil {
		out = append(out, "b.d="+blob(l.B.Profile))
	}
	return strings.Join(out, "&")
}

// rate is exact: 12.5GBps, or bytes per second where that is no short number.
func rate(r engine.Rate) string {
	s := strconv.FormatFloat(float64(r)/1e9, 'f', -1, 64)
	if back, err := parseRate(s + "GBps"); err == nil && back == r {
		return s + "GBps"
	}
	return strconv.FormatInt(int64(r), 10) + "Bps"
}

// escape leaves readable what may stand in a fragment and in chat messages.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~@:,/", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
