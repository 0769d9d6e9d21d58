// Package window holds the strategies of paper 004: Hayakawa and Narihira,
// "Out-of-core Training for Extremely Large-Scale Neural Networks With Adaptive
// Window-Based Scheduling" (arXiv:2010.14109). They work on any graph, in the
// order of its operations; a chain is one of them.
//
// The paper calls operations functions, and their inputs and outputs variables.
// A variable that is not needed for a while is queued to leave the device; it
// leaves when room is needed, the oldest first, and the schedule then waits for
// its copy. A variable that is not on the device is fetched before it is used:
// window fetches what the next functions use, as far as it fits into a window of
// bytes; lms fetches what a function uses a fixed number of functions ahead.
//
// Where the paper is silent: the window covers all variables of a function at
// least and never moves back; a variable that comes into the window while it is
// queued to leave stays, and its copy is not made; values that are on the device
// when the step begins stay there until their first use. The published
// condition of lms (swap out if the next use is at most so far away) contradicts
// the paper's text, so it is read as at least so far away.
//
// How the code is divided: network is a graph as the paper sees it, run walks
// over it and keeps account of memory, duration says how long the steps take.
package window
