// Package state holds everything that the page knows, and the rules by which it changes. There
// is one State. A Message says what a person did or what a worker answered. Its apply changes
// the State and returns the effects that the browser side has to carry out: open, solve, sweep,
// cancel, write the address. The package is pure Go, so its tests are sequences of messages.
//
//	message -> apply -> effects -> (workers, history, clipboard) -> message
//
// Update calls apply, postpones writing the address while a profile is being read (holdAddress), and then calls every
// follower. A follower returns the effects of what the page does by itself: a curve, addresses, a recording, a
// question. A message never calls a follower; it changes the state, and the followers read it.
//
// What is known about a network (web/known), what memory costs in time (web/tradeoff) and what is visible (web/view)
// are values of packages below, with rules of their own. A file here is a part of the state with its messages. Files
// use only files below them, in this order (a test in cmd/tidy checks it):
//
//	update                 the followers
//	opening, solved        opening networks; answers with networks and schedules
//	compare, picker        the comparison, the list of networks
//	choosing               the choice, and everything that follows from it
//	curve, question        the curve and the question about the choice
//	memory                 addresses, memory snapshots
//	policies               policies of frameworks on the step
//	ask, step              requests for profiles and schedules; training steps
//	beside                 the order of passes that a pipeline is compared with
//	view                   range, selection, tables, playing
//	share                  the dialog that shares links and files
//	shown, plans           what can be read from the state
//	side, state            the types
//	effect                 what the browser side has to do
//
// Derived data is computed when it is needed (see State.Plans, State.Lines); components hold no copies.
//
// A comparison has two Sides. The controls change State.Side, so s.Choice, s.Network and s.Shown belong to that side,
// with and without a comparison. The other side is State.Compare.Other. When the controls turn to the other side, the
// two are swapped. A profile or schedule goes to the side that waits for its ID.
//
// Two rules keep the page calm. The last picture stays until there is a better one: a bad file,
// a budget that is too small or a stopped solver does not remove it. And every answer names its
// request: a late answer may enter the cache, but never replaces a newer picture.
package state
