// Package question holds what people ask that takes several schedules to answer.
// A question is a value in a file of its own, registered like a strategy: what is
// solved for it, and how a worker finds its answers. The state of the page, the
// protocol and the workers take it from the registry.
//
// What a question is asked about is a Subject, what came of it are Answers. An answer
// is what was solved, with the network, strategy, budget and link that it was solved
// for. So a click needs nothing from the question: it chooses just that.
package question
