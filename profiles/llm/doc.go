// Package llm says what one training step of a language model keeps in memory, when,
// and why: parameters by architecture, states by precision and optimizer, sharding, the
// operators of a block with what autograd keeps for each, the loss in its variants, and
// the memory that PyTorch's allocator reserves for all of that.
//
// A Setup is a model and how it is trained. Run plays some steps of it: every storage is
// taken and given back in the order of the program, so allocated bytes are exact for the
// program that is described, and reserved bytes are those requests replayed through
// engine/alloc. No byte is fitted to a measurement: each constant stands with the code or the
// paper it comes from. Times are estimates: the share of a card's peak that products reach is
// taken from one published table (card.go), whose rows prove nothing about them.
//
// A question goes one way through the files: what is asked becomes a Setup (question.go,
// setup.go), the model a tape of operators for each block (block.go, tape.go), a share of the
// blocks a program with its units (step.go, unit.go, loss.go), whose run a ledger records
// (play.go, ledger.go), of which an answer is made (run.go, answer.go). Chains and operations
// for the methods are made of the same run (chain.go, graph.go), and what these find is run by
// the program again (follow.go). Questions that take several answers come last (changes.go,
// longest.go, policies.go, optimal.go), and stages.go puts them together.
//
// Sizes are bytes of one rank. The letters of the formulas: b sequences of s tokens in a
// micro batch, T = b*s, h the width, a heads and k key heads of d numbers, f the width of
// the feed-forward net, V words, e bytes of the compute type, F ranks that share states.
package llm
