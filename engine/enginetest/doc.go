// Package enginetest holds the test vectors and generators of random chains and graphs. The tests of several
// packages share them. They are not part of the program.
package enginetest
