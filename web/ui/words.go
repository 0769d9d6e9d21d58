package ui

import (
	"fmt"

	"memtide/engine"
)

// The texts of the page's head and of its first screen.
const (
	Tagline = "Does it train in this much GPU memory, and how much slower?"

	wordsLeaves  = "What leaves this browser: nothing"
	wordsVersion = "memtide " + engine.Version
	wordsDetails = "Model details"

	wordsWhere = "Where the %s come from"
)

// Notes about what the browser and the workers did or did not do.
const (
	NothingToSave   = "There is no schedule to save yet."
	Copied          = "Copied."
	CopyFromAddress = "The browser does not let the page copy. The address bar holds the link."
	CopyFromField   = "The browser does not let the page copy. The text is selected: press Ctrl+C."
	PassedOn        = "Shared."
	NotPassedOn     = "This device cannot share the link. Copy it instead."
	FetchingPage    = "Fetching the page…"
	NoSinglePage    = "The page in one file cannot be fetched. If this is that file already, send it with the link."
	PastedText      = "pasted text"
	CurveLabel      = "Curve"
)

// NoSecond says that the second program cannot be loaded.
func NoSecond(err error) string {
	return "The part of memtide that this needs cannot be loaded: " + err.Error() + "."
}

// NoChart says that the library of the charts cannot be loaded.
func NoChart(why string) string { return "The chart cannot be drawn: " + why }

// Unreadable says that the browser cannot read a file.
func Unreadable(name, why string) string { return name + " cannot be read: " + why }

// TwoOf says that only the first two of several files are compared.
func TwoOf(first, second string, files int) string {
	return fmt.Sprintf("Two files are compared: %s and %s. The other %d are left out.", first, second, files-2)
}

// Refused says why a link was not followed.
func Refused(refusal string) string { return refusal + " What was shown stays." }

// Saved says that a file was saved.
func Saved(name string) string { return "Saved " + name + "." }

// SavedPicture says that a picture was saved with a shortcut.
func SavedPicture(name string) string { return Saved(name) + " Other formats: Share." }
