// Package whatif answers questions about a problem by solving variants of it:
// what would help, how little memory will do, from which bandwidth on one
// strategy beats another. Every number is that of a schedule that the simulator
// has played; nothing is extrapolated.
package whatif
