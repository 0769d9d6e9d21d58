// Package jobs asks a pool for what the state of the page wants to know, and turns
// replies into messages: files to be read, schedules, curves, addresses, answers
// and exports. Each function makes one request; Runner has many under way, ends
// those that nobody waits for any more and keeps a slider that is dragged from
// asking faster than answers come. What nobody has asked waits until nothing has
// changed for a moment, and is given up as soon as anything does.
//
// What this program does not link is asked of the workers of a second one, which is
// loaded then: files of most formats, exports, strategies that are only described here.
//
// Nothing here knows components, elements or a browser. Errors keep the words of
// who made them.
package jobs
