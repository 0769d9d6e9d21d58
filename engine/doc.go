// Package engine holds the words of memtide: sizes and times, chains and
// graphs, devices, problems, schedules and strategies. It is pure Go and knows
// neither browsers nor files.
//
//	bytes -> profiles.Decode -> Chain -> Problem -> Strategy.Solve -> Solution
//	      -> sim.Play -> Trace -> check.Trace
//
// A Problem is a training step (a Graph, mostly expanded from a Chain), a
// Device and a budget. A Strategy finds a Schedule for it and claims a step
// time and a peak. Package sim plays the schedule and measures both; package
// check proves or refutes what sim says, without sharing its code; package
// bound says how good any schedule could be.
//
// # Conventions
//
// Sizes are Bytes, times are time.Duration, bandwidths are Rate: integers, so
// that ties are exact and results are the same on every machine. Sizes and
// times round up, budgets round down: a claim never flatters. Intervals are
// half-open. Stages are numbered 1..n, the loss included. Comments bind names
// to the papers' symbols in brackets.
//
// # Decisions
//
// The saved activations of a stage are one value that contains the output: abar^k
// serves readers of a^k (Value.PartOf). To store abar^k - a^k beside a^k instead would
// make an offload of saved activations two transfers, which release memory at other
// moments than papers 000 and 001 say. An output that no backward reads (Stage.Unsaved)
// is a value beside abar^k, because plain training lets go of it while abar^k stays.
//
// The gradient of the loss is held or born: papers 001 and 002 hold delta^n from the
// start, 000 and 003 let the last backward allocate it (Chain.LossGradAllocated). An
// appended loss stage of no duration is not the same: it would reserve the gradient
// while the last backward still waits for room. Profiles always end in an explicit loss
// stage, mostly of no size.
//
// Arguments are parsed once, by ParseArgs: no solver sees a text, a default is never
// forgotten, and a name that is not declared fails in every test. A strategy that
// builds on another imports it (remat.Rotor) and does not look for its name.
package engine
