// Package permalink turns the state of the page into a link, and a link into what
// the page does to show what it says. Package link knows how a link is written, and
// package choice which of its values are defaults; this one knows what a file or a
// view in another page changes, and what to tell a person about a link of which not
// everything can be taken.
package permalink
