// Package whatif answers questions about a problem by solving variants of it:
// what would help, and the largest batch. Every number is that of a schedule that the
// simulator has played; nothing is extrapolated.
//
// # Batches
//
// LargestBatch, AtBatch and BatchCurve ask how many samples per step a network trains with.
// Papers judge methods for large networks by that (Hayakawa and Narihira,
// arXiv:2010.14109, table 1 and figure 4).
//
// # Another batch of the same network
//
// A Builder gives the network at any batch. Networks that can be built exactly
// are, and their times are those of their own model. A profile of one batch is
// scaled by ScaleChain or ScaleGraph, by a model that is stated and no more:
//
//   - Outputs, saved activations, gradients of activations, the input and temporaries
//     are proportional to the batch, rounded up to a byte. Workspaces that a
//     library takes whatever the batch are thereby too large in larger batches
//     and too small in smaller ones.
//   - Weights, their gradients, the optimizer's state and what else stays for the
//     step do not change.
//   - The time of an operation is a fixed part, at most Launch, and a part
//     proportional to the batch, rounded up to a nanosecond. Devices that a small
//     batch does not fill are faster per sample in larger ones; this does not say
//     that.
//
// # The largest batch
//
// Whether a batch trains is asked by the smallest budget that would do, which
// strategies tell when they refuse one that is too small. That budget grows with
// the batch for every strategy here whose choices do not depend on sizes, but for
// the others nothing proves it. LargestBatch gallops and bisects as if it did, looks
// at some larger batches, and says what it has seen: a batch that trains, one
// more that does not, and whether any that is smaller than one that trains was
// found not to.
package whatif
