// Package alloc places the buffers of a training step at addresses. Where the bytes lie decides whether a step that
// needs no more than the budget in total also fits: free memory in several holes does not serve one large request.
//
// Requests are the allocations and releases in order, from a trace, from a list of events or from a list of lives. An
// Allocator turns them into a Layout. Check reports whether a layout is valid, without sharing code with any allocator.
//
// The allocators are in engine/allocators, so that programs that place nothing do not link them.
package alloc

import (
	"errors"

	"memtide/engine"
)

// Allocator is a way to place buffers, as a value. A file adds one by calling Register; forms, links and
// documentation follow from the fields.
type Allocator struct {
	Name   string // stable, since it is written in links; lower-case letters, digits and hyphens
	Title  string // for people: a few words
	Doc    string // a summary of one sentence; docs/strategies.md says more
	Params []engine.Param

	// Placer finds addresses in a pool of the given size; with engine.NoLimit the allocator chooses the size. A
	// request that finds no room is reported in Layout.Failed and not as an error; the requests before it are
	// placed. The error is one of these:
	//   - the error of poll, with the requests placed so far or with the best layout so far, whose pool may be
	//     larger than pool
	//   - an *engine.InfeasibleError, of allocators that prove that no layout fits
	//   - an error that wraps engine.ErrUnsupported, with the best layout or nil
	// Placer does not change r. Callers outside of allocators use Place.
	Placer func(r *Requests, pool engine.Bytes, args engine.Parsed, poll *engine.Poll) (*Layout, error)
}

var allocators = engine.Registry[Allocator]{Kind: "alloc: allocator",
	Name: func(a *Allocator) string { return a.Name }, Runes: "-"}

// Register adds an allocator, for init functions: see engine.Registry.
func Register(a *Allocator) { allocators.Register(a) }

// errElsewhere is the error of the placers of allocators added with Describe.
var errElsewhere = errors.New("the placer of this allocator is in another program")

// Describe adds an allocator whose Placer is in another program. All its other fields are known in this program,
// but its Placer returns an error.
func Describe(a *Allocator) {
	a.Placer = func(*Requests, engine.Bytes, engine.Parsed, *engine.Poll) (*Layout, error) { return nil, errElsewhere }
	Register(a)
}

// Allocators returns the registered allocators in the order of their names, in a slice that belongs to the caller.
// Only allocators that are imported or described are registered: engine/allocators has all.
func Allocators() []*Allocator { return allocators.All() }

// Lookup returns the allocator with this name, or nil.
func Lookup(name string) *Allocator { return allocators.Lookup(name) }

// Parse checks args against the parameters and fills in the defaults.
func (a *Allocator) Parse(args engine.Args) (engine.Parsed, error) {
	return engine.ParseArgs(a.Name, a.Params, args)
}

// Place parses the arguments and runs the Placer. The error is that of Parse or of the Placer. pool is the memory
// that the buffers may use, without resident memory; with engine.NoLimit the allocator chooses the size.
func (a *Allocator) Place(r *Requests, pool engine.Bytes, args engine.Args, poll *engine.Poll) (*Layout, error) {
	parsed, err := a.Parse(args)
	if err != nil {
		return nil, err
	}
	return a.Placer(r, pool, parsed, poll)
}
