// Package state is everything the page knows, and how it changes. There is one
// State. Messages say what a person did or what a worker answered; Update
// changes the State and returns the effects that the browser side has to carry
// out: open, solve, sweep, cancel, write the address. It is pure Go: its tests
// are sequences of messages.
//
//	message -> Update -> effects -> (workers, history, clipboard) -> message
//
// Derived data is derived when it is asked for (see Results, BudgetRange,
// Curve.Lines); components hold no copies.
//
// In a comparison the State is about the side that the controls change; the other
// side is a choice with its picture in State.Compare. Turning the controls to the
// other side lets the two change places, so nothing else knows of comparisons.
//
// Two rules keep the page calm. What was shown stays until something better
// can be shown: a bad file, a budget that is too small, a stopped solver leave
// the last picture in place. And every answer names the request it belongs to,
// so a late one is recognised: it may enter the cache, but never replaces a
// newer picture.
package state
