// Package work counts the work that a program does, so that tests can limit it independently of the machine.
package work

// Units is the number of loop iterations and function calls in the engine so far, in the programs that
// TestStopsSoon of engine/all builds. In other programs it is 0.
var Units int64
