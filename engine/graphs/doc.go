// Package graphs holds the strategies that recompute and reorder on any graph: operations run again where that
// frees memory, and the order of the first runs may change. Only graphpofo also moves values.
//
// # The model
//
// A schedule without transfers is a sequence of runs. For a given sequence, the memory in use is least, during
// every run at once, if each copy is freed right after its last read before the next run that makes the value
// again. A copy that is read later has to be in memory, and nothing else does. So every method here looks for a
// sequence; its peak and its time are functions of the sequence.
//
// There are two freedoms. With the order kept, the first runs of the operations are in the order of the graph
// (MOCCASIN's convention, arXiv:2304.14463). In any order, only data dependencies decide. Operations that
// Graph.Done does not need do not run.
//
// A read of a value is served by the value's own copy or by a copy of a value that it is within. An output-only run
// (engine.Op.OutputOnly) is a second kind of run of its operation. Methods that do not use it say so. The same
// holds for the second algorithm of an operation (Op.Alt), which graphexact, graphsearch and graphpofo use where
// that is better.
//
// Operations of the backward pass, and those marked engine.Op.Once, run once, because an operation that accumulates
// gradients or draws random numbers must not run again. Weights that an operation makes or that are on the device
// at the start stay to the end of the step.
//
// Not supported, whatever the budget: a value that two operations make, or that is on the device at the start and
// made again; an operation that reads what it makes; a value that is made both by itself and as a part of another;
// a value that is only on the host. A graph without any of these is one of single assignments.
//
// With transfers (see moves), a sequence also has offloads, waits and fetches. A device copy stays until the wait for
// its offload is passed, and a fetched copy is allocated at the place of the fetch. So memory is a function of the
// places as it is without transfers, and the same state computes it. A clock computes the times, up to the place from
// which the link is idle as before. A plan that is better is played, and counts with the values of the simulator.
//
// The parts of the code: model is a graph in these terms. sequence computes what a sequence of runs costs and writes
// the schedule. space is the exact search. state is a sequence that moves change; annealer and searcher look for fast
// sequences, joint for ones with transfers. plans are the sequences that a method makes whatever the budget.
package graphs
