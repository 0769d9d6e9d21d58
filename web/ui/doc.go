// Package ui is the page: Vugu components that show the State, and the browser
// side that feeds it. Every component is one .vugu file with the markup and one
// .go file with what the markup asks for; *_gen.go is generated from the .vugu
// (go tool vugugen -skip-go-mod -skip-main web/ui) and committed.
//
// Components are pure: they read *state.State and hold nothing else, so that
// the same ones are rendered natively, for the tests and for the first view
// inside index.html (see StaticPage). Elements that do something say so in
// data-do; one set of listeners on the document turns that into messages (see
// Command). Note: Vugu's own events were tried and dropped; each one serialises
// every property of its target and draws everything again, 12-40 ms.
//
// What moves with the pointer never goes through components: the pictures are
// canvases in hosts that Vugu creates and never looks into, painted from Go
// with one crossing per frame (*_js.go).
//
// The body says what the page is at: data-state is solving, ready or error (see
// state.State.Phase), data-pending lists what has been begun and not ended (see
// tellPending).
//
// What the components say is compared with what they said last, and only what
// differs is changed in the page (package dom). An element that becomes another
// one stays the same element if tag, id and data-testid are the same: focus and
// what scripts put into a host survive what comes and goes beside them.
package ui
