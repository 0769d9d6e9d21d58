// Package graphs holds the strategies that recompute and reorder on any graph:
// operations run again where that frees memory, and in one of the two freedoms the
// order of the first runs is free as well. Nothing moves, but in graphpofo.
//
// # The model
//
// A schedule without transfers is a sequence of runs. For a given sequence, the
// memory in use during every run is least, for all of them at once, if each copy is
// freed right after its last read before the next run that makes the value again:
// a copy that is read later has to be there, and nothing else is. So every method
// here looks for a sequence; its peak and its time are functions of it.
//
// Two freedoms: with the order kept, the first runs of the operations come in the
// order in which they stand (MOCCASIN's convention, arXiv:2304.14463); in any order,
// only data decides. Operations that Graph.Done does not need do not run.
//
// A value is served by its own copy or by one of a value that it is within. An
// output-only run (engine.Op.OutputOnly) is a second kind of run of its operation;
// methods that do not use it say so, as of the second algorithm of an operation (Op.Alt),
// which graphexact, graphsearch and graphpofo take where that is better.
//
// Operations of the backward pass, and those marked engine.Op.Once, run once: what
// accumulates gradients or draws random numbers must not run again. Weights that
// an operation makes or that are there at the start stay to the end of the step.
//
// Not supported, whatever the budget: a value that two operations make, or that is
// there at the start and made again; an operation that reads what it makes; a value
// that is made both by itself and as a part of another; a value that is on the host
// only. A graph that has none of this is one of single assignments.
//
// With transfers (see moves) a sequence has offloads, waits and fetches in it. A device
// copy stays until the wait for its offload is passed, and a fetched one has its room from
// the place of the fetch. So memory is what it is without transfers, found by the same
// state; a clock beside it finds the times, up to where the link is idle again. A plan
// that is better is played, and taken as it is played.
//
// How the code is divided: model is a graph in these terms, sequence says what a
// sequence of runs costs and writes the schedule; space is the exact search; state is
// a sequence that moves change, annealer and searcher look for fast ones; joint does with
// transfers; plans are what methods make whatever the budget.
package graphs
