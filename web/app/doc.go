// Package app is the page's program. It connects the state, the components and the workers with the
// browser. Data flows one way: a listener turns what a person does into a message, with package
// ui/input; the message changes the state; components and pictures show the change; an effect of the
// message starts a job (package jobs), whose answer is a message again.
//
// The parts of the program (pictures, charts, keyboard, files, address bar, dialog, view in another page) share the
// core: the state and the queue. Only app knows all parts; newApp gives each part what it needs from the others.
//
// Attributes of the body describe the page: data-state is solving, ready or error (see
// state.State.Phase), data-pending lists what has started and not ended (see pending).
package app
