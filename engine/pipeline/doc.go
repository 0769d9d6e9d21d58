// Package pipeline defines the order in which the ranks of a pipeline run the passes of micro batches, plays such
// orders, and searches for good ones.
//
// # The network
//
// A network is cut into stages. A path is a chain of stages that micro batches run through. There is one path, or
// there are two in DualPipe, whose ranks have the same layers in both. Every stage is on one rank; a rank has one
// or more stages.
//
// # Passes
//
// A micro batch runs these passes at a stage, in the letters of the papers:
//
//	F  forward        waits for F or D of the stage before, and its message
//	D  dropped        a forward that keeps only its input
//	R  again          runs the forward of a D once more, at any time before the backward; it needs no gradient
//	A  backward       the whole backward; waits for F (after D: for R), for A or B of the next stage and its message
//	B  of inputs      a first part of a backward [Qi et al., arXiv:2401.10241, section 2]; the stage before needs it
//	W  of weights     the second part, which only waits for its B
//	O  out            copies bytes that F keeps to the host
//	I  in             copies them back
//
// A rank runs one pass at a time and does not interrupt it. A forward and an A that is joined to it (DualPipe's
// F&B) are one pass with a time of its own: it starts when both could start, and both results are ready at its end.
//
// A schedule is a list of passes and copies for every rank. A pass starts when the pass before it on its rank has
// ended, the results that it waits for have arrived, and its bytes fit. A copy is issued when the pass before it in
// the list has started (I) or ended (O). Copies run one at a time on two lanes of a rank, one for each direction,
// in the order in which they were issued. A fetch allocates when it starts. At one instant, ends come before
// starts. Starts are in the order of the ranks, and on one rank in the order pass, copy out, copy in. If nothing
// can start, the schedule is refused. The error names the first pass that waits, and what it waits for.
//
// # Bytes
//
// A rank holds its fixed bytes and, for every micro batch and stage, Act from the start of F, and Rest from the end of
// B to the end of W. If Rest is more than Act, the difference is allocated at the start of B. A frees everything at its
// end. D holds Input instead of Act, and R allocates the difference at its start. O frees Off at its end, I allocates
// it at its start. Temporaries are held during a pass. Messages that have arrived and wait are not counted; add them to
// Act of the sender. Rest = Act is the usual upper bound; papers measure less [arXiv:2401.10241, table 1].
//
// # Two propositions
//
// Without copies, the bytes of a rank during each of its passes follow from the order of its passes alone, because
// bytes are allocated at a start and freed at an end, and passes of a rank do not overlap. So the earliest start of
// each pass is the best one, and the step time is the length of a longest path (Proposition 1). If nothing is dropped
// or moved, micro batches can be renumbered so that each stage runs its forwards, its backwards and its backwards of
// weights in the order of the micro batches (Proposition 2). With D and O the search keeps that order as a rule.
package pipeline
