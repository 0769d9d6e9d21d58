// Package profiles holds Profile, the description of a network into which every format, preset
// and link is converted, and Decode, which reads one from a file.
//
// A Format is a value that its package registers in an init function; a program reads the
// formats that it imports. Decode asks every format whether it recognizes the content, and
// exactly one may. File names are never used to tell formats apart: they only name the profile.
//
// A Budget bounds the cost of reading; it is charged before anything is allocated. What the
// user has to repair is a *FormatError with the place, what was found, what was expected and
// what to do; it ends reading (End). What the user should only know is a warning of the profile
// (Lint).
//
// Subpackages: formats has a folder for each format; parse, table and jsonfile are shared by
// them; chainify turns operators into a chain; preset and analytic describe networks and times
// without files. To add a format, see CONTRIBUTING.md.
package profiles
