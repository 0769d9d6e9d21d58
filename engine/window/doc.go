// Package window holds the strategies of paper 004: Hayakawa and Narihira, "Out-of-core Training for Extremely
// Large-Scale Neural Networks With Adaptive Window-Based Scheduling" (arXiv:2010.14109). They work on any graph,
// chains included, in the order of its operations.
//
// The paper calls operations functions, and their inputs and outputs variables. A variable that is not needed for a
// while is queued to leave the device. It leaves when room is needed, the oldest first, and the schedule then waits
// for its copy. A variable that is not on the device is fetched before it is used. The strategy window fetches the
// variables of the next functions, as far as they fit into a window of bytes. The strategy lms fetches the
// variables of a function a fixed number of functions ahead.
//
// The paper leaves some cases open. Here the window covers at least all variables of a function, and never moves back.
// If a variable comes into the window while it is queued to leave, it stays, and its copy is not made. Values that are
// on the device when the step begins stay there until their first use. The published condition of lms, swap out if the
// next use is at most a threshold away, contradicts the paper's text, so it is implemented as at least the threshold.
//
// In the code, a network is a graph as the paper sees it. A run walks over it and counts its memory, and
// run.duration returns the step time.
package window
