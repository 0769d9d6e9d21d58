package panel

import (
	"fmt"
	"math"

	"memtide/engine"
)

// Piece is a piece of a bar or a mark across it. Style places it, in shares of the whole.
type Piece struct {
	Class, Label, Title string
	Style               string
}

// Side adds to a class on which side of a mark its words have room.
func Side(class string, at, whole engine.Bytes) string {
	if at > whole/2 {
		return class + " left"
	}
	return class
}

// Stretch returns the place of a piece as CSS.
func Stretch(from, to, whole engine.Bytes) string {
	return fmt.Sprintf("left:%s;width:%s", Percent(from, whole), Percent(to-from, whole))
}

// Place returns the place of a mark as CSS.
func Place(at, whole engine.Bytes) string { return "left:" + Percent(at, whole) }

// Percent returns a share as a CSS length, at most the whole.
func Percent(part, whole engine.Bytes) string {
	return fmt.Sprintf("%.6g%%", math.Min(100*float64(part)/float64(whole), 100))
}
