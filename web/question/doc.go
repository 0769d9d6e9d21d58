// Package question holds what people ask that takes several schedules to answer: what would help. It knows what is
// solved for it, and how a worker finds its answers.
//
// What it is asked about is a Subject, what came of it are Answers. An answer
// is what was solved, with the network, strategy, budget and link that it was solved
// for. So a click needs nothing from the question: it chooses just that.
package question
