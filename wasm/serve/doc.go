// Package serve answers requests of package proto: it decodes the profile, asks
// the strategy, plays what it says, has it checked and adds the bounds. It is
// plain Go: a worker runs it in the browser, the command line and the tests run
// it without one.
package serve
