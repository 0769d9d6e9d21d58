// Package alloc places the buffers of a training step at addresses. Where the
// bytes lie decides whether a step that needs no more than the budget in total
// also fits: free memory in several holes does not serve one large request.
//
// Requests are what is asked for, in order: from a trace, from a list of events
// or from a list of lives. An Allocator turns them into a Layout; Check says
// whether a layout is one, without sharing code with any allocator.
//
// The allocators are in engine/allocators: a program that places nothing leaves them out.
package alloc

import (
	"errors"

	"memtide/engine"
)

// Allocator is a way to place buffers, as a value. A file adds one by calling
// Register; forms, links and documentation follow from the fields.
type Allocator struct {
	Name   string // stable: it stands in links; lower-case letters, digits and hyphens
	Title  string // for people: a few words
	Doc    string // the part before the first blank line is a one-sentence summary
	Cites  []engine.Cite
	Params []engine.Param

	// Elsewhere says that another program has the Placer (see Describe).
	Elsewhere bool

	// Placer finds addresses in a pool of the given size; engine.NoLimit lets the
	// allocator find a size itself. A request that finds no room is
	// Layout.Failed, not an error: what came before it is placed. Errors are
	// the context's, with what was placed so far, or the best layout so far,
	// whose pool may be larger than the one given; an *engine.InfeasibleError,
	// from allocators that prove that nothing fits; or wrap
	// engine.ErrUnsupported, with the best layout if there is one. r is not
	// changed. Others call Place.
	Placer func(r *Requests, pool engine.Bytes, args engine.Parsed, poll *engine.Poll) (*Layout, error)
}

var allocators = engine.Registry[Allocator]{Kind: "alloc: allocator",
	Name: func(a *Allocator) string { return a.Name }, Runes: "-"}

// Register adds an allocator, for init functions: see engine.Registry.
func Register(a *Allocator) { allocators.Register(a) }

// errElsewhere is the error of allocators that were described.
var errElsewhere = errors.New("the placer of this allocator is in another program")

// Describe adds an allocator whose Placer is in another program, which links what this
// one leaves out: everything is known of it, and here it places nothing.
func Describe(a *Allocator) {
	a.Elsewhere = true
	a.Placer = func(*Requests, engine.Bytes, engine.Parsed, *engine.Poll) (*Layout, error) { return nil, errElsewhere }
	Register(a)
}

// Allocators lists what is registered, in the order of the names. The list is the
// caller's. Only what is imported or described is registered: engine/allocators has all.
func Allocators() []*Allocator { return allocators.All() }

// Lookup returns the allocator with this name, or nil.
func Lookup(name string) *Allocator { return allocators.Lookup(name) }

// Parse checks args against the parameters and fills in the defaults.
func (a *Allocator) Parse(args engine.Args) (engine.Parsed, error) {
	return engine.ParseArgs(a.Name, a.Params, args)
}

// Place parses the arguments and runs the Placer: its errors, or that of Parse. pool is
// what the buffers may use, without resident memory; engine.NoLimit lets the allocator
// find a size.
func (a *Allocator) Place(r *Requests, pool engine.Bytes, args engine.Args, poll *engine.Poll) (*Layout, error) {
	parsed, err := a.Parse(args)
	if err != nil {
		return nil, err
	}
	return a.Placer(r, pool, parsed, poll)
}
