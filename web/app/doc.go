// Package app is the page's program: it connects the state, the components that
// show it and the workers that solve with the browser. Data flows one way. A
// listener turns what a person does into a message (commands and keys are those of
// package ui); the message changes the state; the components and the pictures show
// what has changed; an effect of the message starts a job (package jobs), whose
// answer is a message again.
//
// The parts of the program (pictures, charts, keyboard, files, address bar, dialog,
// view in another page) know the core: the state, the queue and what each of them
// may do at any time. What one needs of another is given to it by the app, which
// alone knows them all.
//
// The body says what the page is at: data-state is solving, ready or error (see
// state.State.Phase), data-pending lists what has been begun and not ended (see
// pending).
package app
