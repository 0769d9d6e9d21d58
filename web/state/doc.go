// Package state is everything the page knows, and how it changes. There is one
// State. Messages say what a person did or what a worker answered: each has an
// apply, which changes the State and returns the effects that the browser side has
// to carry out: open, solve, sweep, cancel, write the address. It is pure Go: its
// tests are sequences of messages.
//
//	message -> apply -> effects -> (workers, history, clipboard) -> message
//
// Update calls apply, holds back the address while a profile is being read (holdAddress),
// and then has every one of followers look whether something is to be done by the page
// itself: a curve, addresses, a recording, a question. A message never calls
// a follower; it changes the state, and they see it.
//
// What is known of a network (web/known), what it costs in time (web/tradeoff), and how
// it is looked at (web/view) are values of packages below, with rules of their own. A
// file here is a part of the state with its messages: what they do to those values, and
// what has to be asked next. Files use only those below them (a test in cmd/tidy sees to
// it), from the top:
//
//	update                 what follows every message
//	opening, solved        what a person opens; answers: networks, schedules
//	compare, picker        what a person compares, picks from the list
//	choosing               the choice, and all that follows it
//	curve, question        what is asked about it, of itself or by a person
//	memory                 where its bytes lie; what a recording tells
//	policies               what frameworks make of a step
//	ask, step              what is asked for in place of what is open
//	view                   how it is looked at
//	share                  how it is given away
//	shown, plans           what can be read from the state
//	side, state            what the page knows
//	effect                 what the browser side has to do
//
// Derived data is derived when it is asked for (see State.Plans, State.Lines);
// components hold no copies.
//
// In a comparison there are two Sides. What the controls change is State.Side, so
// s.Choice, s.Network and s.Shown are that side's with and without a comparison; the
// other is State.Compare.Other. Turning the controls lets the two change places. A
// profile or schedule goes to the side that waits for its ID.
//
// Two rules keep the page calm. What was shown stays until something better
// can be shown: a bad file, a budget that is too small, a stopped solver leave
// the last picture in place. And every answer names the request it belongs to,
// so a late one is recognised: it may enter the cache, but never replaces a
// newer picture.
package state
