// Package jobs carries out the effects of package state that need a worker: it sends requests to a pool and turns the
// replies into messages. Each function makes one request. Runner runs many at the same time, cancels those whose answer
// is not needed any more, and limits the requests of a slider that is dragged. A question that the page asks by itself
// starts when nothing has changed for a moment, and is cancelled by the next change.
//
// Requests that this program cannot answer go to the workers of a second program, which is
// loaded then: files of most formats, exports, strategies without a solver here.
//
// The package does not depend on components, elements or a browser. It does not change the texts of errors.
package jobs
