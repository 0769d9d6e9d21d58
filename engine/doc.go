// Package engine holds the basic types of memtide: sizes and times, chains and graphs, devices, problems, schedules
// and strategies. It is pure Go and depends on neither browsers nor files.
//
//	bytes -> profiles.Decode -> Chain -> Problem -> Strategy.Solve -> Solution
//	      -> sim.Play -> Trace -> check.Trace
//
// A Problem is a training step (a Graph, mostly expanded from a Chain), a Device and a budget. A Strategy finds a
// Schedule for it and claims a step time and a peak. Package sim plays the schedule and measures both; package check
// proves or refutes what sim says, without sharing its code; package bound says how good any schedule could be.
//
// # Conventions
//
// Sizes are Bytes, times are time.Duration, bandwidths are Rate. All are integers, so that ties are exact and results
// are the same on every machine. Sizes and times round up, budgets round down, so that no claim is too good. Intervals
// are half-open. Stages are numbered 1..n, the loss included. Comments give the papers' symbols in brackets.
//
// # Decisions
//
// The saved activations of a stage are one value that contains the output: abar^k serves readers of a^k
// (Value.PartOf). To store abar^k - a^k beside a^k instead would make an offload of saved activations two
// transfers, which release memory at other times than papers 000 and 001 say. An output that no backward reads
// (Stage.Unsaved) is a value beside abar^k, because plain training frees it while abar^k stays.
//
// The gradient of the loss is either there from the start (papers 001 and 002 hold delta^n) or allocated by the
// last backward (000 and 003); see Chain.LossGradAllocated. To append a loss stage of no duration would not be the
// same: it would reserve the gradient while the last backward still waits for memory. Profiles always end in an
// explicit loss stage, mostly of size 0.
//
// Arguments are parsed once, by ParseArgs: solvers never see unparsed text, defaults are always filled in, and a
// name that is not declared fails in every test. A strategy that builds on another imports it (remat.Rotor) and
// does not look it up by name.
package engine
