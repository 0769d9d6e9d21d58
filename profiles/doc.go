// Package profiles turns bytes into profiles: one file per format.
//
// A Format is a value that its file registers in an init function. Decode asks
// every format whether it claims the content; exactly one may. Names of files
// are never looked at to tell formats apart: they only name the profile.
//
// # Conventions
//
// Numbers are converted to nanoseconds and bytes at the edge, from their
// decimal text, so that no binary fraction gets in between; times and sizes
// round up. What a person has to repair is a *FormatError with a place, what
// was found, what was expected and what to do. What a person should only know
// is a warning of the profile.
//
// To add a format, write one file with a Format and a sample in testdata; the
// tests of the package take it from there.
package profiles
