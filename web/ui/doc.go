// Package ui is the whole page: Vugu components of the State, its head, comparisons and
// dialogs here, and the packages below it for the rest. Every component is one .vugu file
// with the markup and one .go file with what the markup asks for; *_gen.go is generated from
// the .vugu (go tool vugugen -skip-go-mod -skip-main FOLDER) and committed. A component of
// another package is used by the package's name, which the .vugu imports at its end.
//
// Components are pure: they read *state.State and hold nothing else, so that
// the same ones are rendered natively, for the tests and for the first view
// inside index.html (see StaticPage). Elements that do something say so in
// data-do; one set of listeners on the document (package app) has input.Command turn
// that into messages. Note: Vugu's own events were tried and dropped; each one serialises
// every property of its target and draws everything again, 12-40 ms.
//
// What moves with the pointer never goes through components: the pictures are
// canvases in hosts that Vugu creates and never looks into, painted by package app
// with one crossing per frame. Package mount says what a host shows.
//
// What the components say is compared with what they said last, and only what
// differs is changed in the page (package dom). An element that becomes another
// one stays the same element if tag, id and data-testid are the same: focus and
// what scripts put into a host survive what comes and goes beside them.
package ui
