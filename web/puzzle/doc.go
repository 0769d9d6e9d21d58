// Package puzzle is a game: the player plans a training step by hand. For each layer of a small
// network the player decides whether its saved activations are kept, recomputed or offloaded, within
// a memory budget, and sees at once the step time, beside that of the best plan.
//
// Package sim plays a plan and package check checks it, like every schedule of the page.
// A level's definition contains its best plan; TestBest tries all 3^n plans and proves that no faster plan fits.
//
// # What a choice means
//
//   - keep: the forward saves what the backward needs, which stays on the device.
//   - recompute: the forward saves only the output, which is freed when the next layer has read it. Before the
//     backward needs the saved activations, the layer runs a second time, after the recomputed layers directly
//     before it.
//   - offload: the saved activations are copied to the host and freed when the next layer has read the output. They
//     are fetched for the backward of the next layer, which reads the output: one backward ahead, or when it is
//     needed, whichever is faster for the whole plan.
package puzzle
