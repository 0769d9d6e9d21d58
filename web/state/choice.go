package state

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/web/choice"
)

// DefaultBudget is 60 % of what keeping everything needs.
var DefaultBudget = choice.Budget{Share: 60 * choice.Percent}

// DefaultStrategy is the strategy of a page that was opened without a link, and
// GraphStrategy that of networks that are no chain.
const (
	DefaultStrategy = "rotor"
	GraphStrategy   = "window"
)

// Source says where the profile comes from: a preset, or a file.
type Source struct {
	Preset  string          // "resnet101-b32"; empty if it is a file
	File    string          // name of the file, for people
	Profile json.RawMessage // canonical profile of a file

	key string // of Profile, once it is known: it may be megabytes
}

// fingerprint tells profiles apart without keeping them: equal ones have equal
// fingerprints, others but for one in 2^64 have not.
func fingerprint(profile []byte) string {
	return fmt.Sprintf("%d:%x", len(profile), maphash.Bytes(seed, profile))
}

var seed = maphash.MakeSeed()

// sameSource says whether two sources hold the same profile, whatever it is called.
func sameSource(a, b Source) bool {
	return a.Preset == b.Preset && string(a.Profile) == string(b.Profile)
}

// Choice is everything a person decides about a schedule. It is what a link
// carries, and what Back restores.
type Choice struct {
	Source    Source
	Graph     bool   // of a network that is both, the graph of operations instead of the chain
	Device    string // name in the list of devices; empty if the rates are the person's own
	ToHost    engine.Rate
	ToDev     engine.Rate
	Duplex    engine.Duplex
	Transfers engine.Transfers
	Budget    choice.Budget
	Strategy  string
	Args      engine.Args // only what differs from the defaults
	Alloc     string      // allocator of the address view; empty: it is closed, or shows what a file says
	AllocArgs engine.Args // only what differs from the defaults
}

// Equal says whether two choices ask for the same thing.
func (c Choice) Equal(d Choice) bool {
	return c.key() == d.key() && c.Device == d.Device
}

// sameButBudget says whether two choices differ at most in the budget.
func (c Choice) sameButBudget(d Choice) bool {
	return c.settingKey() == d.settingKey() && c.methodKey() == d.methodKey()
}

// settingKey identifies all that a trade-off curve depends on, except for the
// arguments of its strategies.
func (c Choice) settingKey() string {
	source := c.Source.Preset
	if source == "" {
		if source = c.Source.key; source == "" {
			source = fingerprint(c.Source.Profile)
		}
	}
	return fmt.Sprintf("%s|%t|%d|%d|%s|%s", source, c.Graph, c.ToHost, c.ToDev, c.Duplex, c.Transfers)
}

func (c Choice) methodKey() string { return methodKey(c.Strategy, c.Args) }

func (c Choice) key() string {
	return fmt.Sprintf("%s|%s|%d|%d", c.settingKey(), c.methodKey(), c.Budget.Bytes, c.Budget.Share)
}

func methodKey(strategy string, args engine.Args) string {
	var b strings.Builder
	b.WriteString(strategy)
	for _, name := range slices.Sorted(maps.Keys(args)) {
		fmt.Fprintf(&b, ",%s=%s", name, args[name])
	}
	return b.String()
}

// WithArg is a copy of args in which name has a value; the default is left out,
// so that equal choices have equal links.
func WithArg(strategy string, args engine.Args, name, value string) engine.Args {
	out := maps.Clone(args)
	if out == nil {
		out = engine.Args{}
	}
	out[name] = value
	if s := engine.Lookup(strategy); s != nil {
		for _, p := range s.Params {
			if p.Name == name && p.Default == value {
				delete(out, name)
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
