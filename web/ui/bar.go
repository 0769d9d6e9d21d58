package ui

import (
	"fmt"
	"math"
	"memtide/engine"
)

// Part is a piece of the bar; Left and Width are shares of it as CSS lengths.
type Part struct {
	Class, Label, Title string
	Style               string
}

// side adds to a class on which side of a mark its words have room.
func side(class string, at, whole engine.Bytes) string {
	if at > whole/2 {
		return class + " left"
	}
	return class
}

// stretch is the place of a piece as CSS, place that of a mark.
func stretch(from, to, whole engine.Bytes) string {
	return fmt.Sprintf("left:%s;width:%s", percent(from, whole), percent(to-from, whole))
}

func place(at, whole engine.Bytes) string { return "left:" + percent(at, whole) }

func percent(part, whole engine.Bytes) string {
	return fmt.Sprintf("%.6g%%", math.Min(100*float64(part)/float64(whole), 100))
}
