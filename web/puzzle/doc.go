// Package puzzle is a game: the reader plans a training step by hand. For each layer of a small
// network they say whether its saved activations are kept, recomputed or offloaded, under a budget
// of memory, and see at once what the step takes, beside the best that such choices can do.
//
// A plan is played by package sim and checked by package check, like every schedule of the page.
// The best plan of a level stands in its definition; a test tries all 3^n plans and proves that no
// faster one fits (TestBest).
//
// # What a choice means
//
//   - keep: the forward saves what the backward needs, and it stays.
//   - recompute: the forward leaves the output alone, which is freed when the next layer has read
//     it. Before it is needed again, the layer runs a second time, after the recomputed layers
//     directly before it.
//   - offload: what the forward saves is copied to the host and freed when the next layer has read
//     it. It is back for the backward of the layer after it, which reads its output: asked for one
//     backward ahead, or only then, whichever of the two is faster for the whole plan.
package puzzle
