// Package question holds what people ask that takes several schedules to answer.
// A question is a value in a file of its own, registered like a strategy: its
// title, what its answers depend on, how a worker finds them, and how they read.
// The page, its state, the protocol, the workers and the command line take it from
// the registry; nothing else names a question.
//
// Half of a question runs in a worker (Answer), the other half where answers are
// read (Sentence, Table, Chart). Both halves are plain Go and know no page: what a
// question is asked about is a Subject, what came of it are Answers.
//
// An answer is what was solved, with the strategy, budget, link and batch that it
// was solved for. So a click needs nothing from the question: it chooses just that.
package question
