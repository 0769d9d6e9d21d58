// Package enginetest holds the test vectors, generators of random chains and graphs, and an exhaustive search for
// the optimum of small chains. The tests of several packages share them. They are not part of the program.
package enginetest
