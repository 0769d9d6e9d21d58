// Package work is a clock that does not go: it counts what a program does, so that
// tests can say how much that is on any machine.
package work

// Units counts one for each round of a loop and each call of a function of the
// engine, in programs that TestStopsSoon of engine/all builds; in others it is 0.
var Units int64
