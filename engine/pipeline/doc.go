// Package pipeline says in which order the ranks of a pipeline run the passes of micro batches, gives such orders their
// meaning, and searches for good ones.
//
// # The network
//
// A network is cut into stages. A path is a chain of stages that micro batches run through: there is one path, or there
// are two in DualPipe, whose ranks have the same layers in both. Every stage lies on one rank; a rank has one stage or
// several.
//
// # Passes
//
// Of micro batch m at stage s run, in the letters of the papers
//
//	F  forward        waits for F or D at the stage before, and its message
//	D  dropped        a forward that keeps its input alone
//	R  again          the forward of a D once more, at any time between the two; it needs no gradient
//	A  backward       the whole backward: waits for F (after D: for R), for A or B at the stage behind and its message
//	B  of inputs      a backward in two parts [Qi et al., arXiv:2401.10241, section 2]; the stage before waits for it
//	W  of weights     and the rest, which only waits for its B
//	O  out            copies bytes that F keeps to the host
//	I  in             and back
//
// A rank runs one pass at a time and does not interrupt it. A forward and an A that is joined to it (DualPipe's F&B)
// are
// one pass with a time of its own: it starts when both could and delivers both at its end.
//
// A schedule is a list of passes and copies for every rank. A pass starts when the pass before it on its rank has
// ended,
// what it waits for has arrived, and its bytes fit. A copy is issued when the pass before it in the list has started
// (I)
// or ended (O). Copies run one at a time on two lanes of a rank, one each way, in the order in which they were
// issued. A
// fetch takes its room when it starts. At one instant ends come before starts, and starts go in the order of the ranks,
// of a rank first the pass, then the copy out, then the copy in. If nothing can start the schedule is refused, with the
// first pass that waits and for what.
//
// # Bytes
//
// A rank holds what is fixed, and for every micro batch and stage: Act from the start of F, Rest from the end of B to
// the
// end of W. What Rest is more than Act is taken at the start of B; A frees everything at its end. D holds Input
// instead,
// and R takes the difference at its start. O frees Off at its end, I takes it at its start. Temporaries are there
// during
// a pass. Messages that have arrived and wait are not counted: add them to Act of the sender. Rest = Act is the usual
// upper end; papers measure less [arXiv:2401.10241, table 1].
//
// # Two propositions
//
// Without copies the bytes of a rank during each of its passes follow from the order of its passes alone, so the
// earliest
// start of each pass is the best one, and a longest path gives the step time (Proposition 1): everything is taken at a
// start and given at an end, and passes of a rank do not overlap. Where nothing is dropped or moved, micro batches
// may be
// renumbered so that each stage runs its forwards, its backwards and its backwards of weights in their order
// (Proposition 2); with D and O the search keeps to that order as a rule.
package pipeline
