// Package enginetest holds what the tests of several packages share: the test
// vectors, generators of random chains, and exhaustive search for the optimum
// of small ones. Nothing of it is part of the program.
package enginetest
