// Package tidy holds the rules of this repository that matter enough to be
// tests. A rule without a test is a wish, so what is not here is left to
// judgement.
package tidy
