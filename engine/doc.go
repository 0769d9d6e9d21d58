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
package engine
