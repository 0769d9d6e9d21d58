// Package ui is the whole page as Vugu components of the State. The head, comparisons and dialogs are here, the other
// components in the packages below. Every component has a .vugu file with the markup and methods in a .go file that the
// markup calls. The *_gen.go files are generated from the .vugu files (go tool vugugen -skip-go-mod -skip-main FOLDER)
// and committed. A .vugu file imports the packages of other components at its end.
//
// Components are pure: they read *state.State and hold nothing else. They are also rendered natively, for tests and
// for the first view inside index.html (see StaticPage). The attribute data-do of an element names what it does. One
// set of listeners on the document (package app) turns it into messages with input.Command. Vugu's own events are not
// used: each one serialises every property of its target and draws everything again, which takes 12-40 ms.
//
// Components do not draw what moves with the pointer. The pictures are canvases in hosts that Vugu creates and does not
// change. Package app paints them with one call of JavaScript per frame. Package mount defines what a host shows.
//
// Package dom compares the components with the previous ones and changes only what differs in the page. An element is
// kept if tag, id and data-testid stay the same, so focus and the content of hosts survive changes of its neighbours.
package ui
