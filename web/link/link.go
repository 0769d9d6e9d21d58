package link

import (
	"memtide/profiles"
	"memtide/web/choice"
)

// Version is the version of the links that are written. What a key means never changes:
// what shall mean something else raises the version, and what older links say is then put
// into the new words when they are read. testdata/links has links of every version, which
// have to open for ever.
const Version = 1

// Link is what a permalink says. Empty fields stand for the defaults.
type Link struct {
	choice.Said // of A, if two are compared

	Look

	B *choice.Said // the other side of a comparison: what differs from this one; nil: there is none

	Unknown []string // key=value pairs that this version does not know, kept as they came
}

// mostNotes is how many notes are told, mostNote how many bytes of one, mostTitle
// how many characters a title has.
const (
	mostTitle = 80
	mostNotes = 20
	mostNote  = 1000
)

// InLink reports whether a link holds a profile: a chain, or a graph that is short
// enough. A profile that is both is held as a chain.
func InLink(p *profiles.Profile) bool {
	return p != nil && (p.Chain != nil || p.Graph != nil && len(blob(p)) <= LongestGraph)
}

// HoldsOps reports whether operators (see choice.Source) go into a link beside their chain.
func HoldsOps(ops string) bool { return ops != "" && len(ops) <= longestOps }
