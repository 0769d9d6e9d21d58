// Package pipeline says in which order the ranks of a pipeline run the forwards and
// backwards of micro batches, and plays that order: when each pass runs, how long a step
// takes, how much of it a rank waits, and how many passes a rank holds at once.
//
// A network is cut into stages in the order of its layers. A rank has one stage or
// several. The forward of a micro batch at a stage waits for its forward at the stage
// before, its backward for the backward at the stage behind. A backward can be cut in two
// [Qi et al.: Zero Bubble Pipeline Parallelism, arXiv:2401.10241, section 2]: that of the
// inputs, which the stage before waits for, and that of the weights, which nobody does.
// A pass is held from the start of its forward to the end of the last part of its
// backward: between the two parts some of it could go, which is not counted on.
package pipeline
