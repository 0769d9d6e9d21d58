// Package serve answers requests of package proto: it decodes the profile, asks
// the strategy, plays what it says, has it checked and adds the bounds. It is
// plain Go: a worker runs it in the browser, the command line and the tests run
// it without one.
//
// What answers a request registers itself (Register). The page's program has what stands in
// this package; the packages below it are linked by the second program, to which a page
// goes with what its own does not answer.
package serve
