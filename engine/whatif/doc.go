// Package whatif answers questions about a problem by solving variants of it: which change would help, and how
// large the batch can be. All its results are measured on schedules that the simulator has played.
//
// # Batches
//
// LargestBatch, AtBatch and BatchCurve find out how many samples per step a network trains with. Papers compare
// methods for large networks by this (Hayakawa and Narihira, arXiv:2010.14109, table 1 and figure 4).
//
// # Another batch of the same network
//
// A Builder returns the network at any batch. Some networks can be built exactly, with times of their own model.
// ScaleChain and ScaleGraph scale a profile of one batch by this model:
//
//   - Outputs, saved activations, gradients of activations, the input and temporaries
//     are proportional to the batch, rounded up to a byte. So workspaces that do not
//     depend on the batch are too large for larger batches, and too small for smaller ones.
//   - Weights, their gradients, the optimizer's state and other resident memory do not change.
//   - The time of an operation is a fixed part, at most Launch, and a part
//     proportional to the batch, rounded up to a nanosecond. The model ignores that
//     devices which a small batch does not fill are faster per sample with a larger batch.
//
// # The largest batch
//
// A batch trains if the budget is at least the smallest budget that would do, which strategies return when they
// refuse a budget of 0. The smallest budget grows with the batch for strategies whose choices do not depend on
// sizes; for others this is not proven. LargestBatch doubles and bisects as if it were, then tries some larger
// batches. It returns the largest batch that trains, the batch above it that does not, and whether it has found a
// smaller batch that does not train.
package whatif
