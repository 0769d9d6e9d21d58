// Package llm computes what one training step of a language model keeps in memory, when, and why: parameters by
// architecture, states by precision and optimizer, sharding, the operators of a block and what autograd keeps of
// each, the variants of the loss, and the memory that PyTorch's allocator reserves for all of it.
//
// A Setup is a model and how it is trained. Run plays some steps of it: every storage is allocated and freed in
// the order of the program, so that allocated bytes are exact for that program, and reserved bytes come from
// replaying the same requests through engine/alloc. No byte is fitted to a measurement: each constant has the
// code or the paper that it comes from. Times are estimates: the share of a card's peak that products reach is
// taken from one published table (card.go), so that the rows of that table do not test the estimates.
//
// A question passes through the files like this. Options become a Setup (question.go, setup.go). The model becomes a
// tape of operators for each block (block.go, tape.go), and a rank's share of the blocks a program with units (step.go,
// unit.go, loss.go). A ledger records the run of the program (play.go, ledger.go), and the answer is made from it
// (run.go, answer.go). The chain and the operations for strategies are made from the same run (chain.go, graph.go), and
// the program runs again by the schedules that strategies find (follow.go). Questions that take several answers build
// on these (changes.go, longest.go, policies.go, optimal.go), and stages.go combines them.
//
// Sizes are bytes of one rank. Letters in formulas: b sequences of s tokens in a micro batch, T = b*s, h the
// width, a heads and k key heads of d numbers, f the width of the feed-forward net, V words, e bytes of the
// compute type, F ranks that share states.
package llm
