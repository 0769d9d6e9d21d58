// Package profiles is the hub of everything that says something about a network: a
// Profile, which every format, preset and link becomes, and Decode, the one door for
// files.
//
// A Format is a value that its package registers in an init function; a program reads
// the formats that it imports. Decode asks every format whether it claims the content;
// exactly one may. Names of files are never looked at to tell formats apart: they only
// name the profile.
//
// What reading may cost is bounded by a Budget, which is charged before anything is
// built. What a person has to repair is a *FormatError with a place, what was found,
// what was expected and what to do; reading ends with it (End). What a person should only
// know is a warning of the profile (Lint).
//
// Beside the hub: formats, a folder for each; parse, table and jsontext, what they share;
// chainify, from operators to a chain; preset and analytic, networks and times without
// files. To add a format, see CONTRIBUTING.md.
package profiles
