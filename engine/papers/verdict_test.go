//go:build !js

package papers

import "math"

// This file defines the verdicts. docs/reproductions.md and REPRODUCTIONS.md describe them to readers, and a test
// compares their words with the names here.

// verdict says whether the results here agree with a claim.
type verdict string

// The verdicts.
const (
	agrees  verdict = "agrees"
	partly  verdict = "agrees in part"
	differs verdict = "does not agree"
)

// near is how far a share or a mean may be from the paper's to agree: two percentage points.
const near = 0.02

// publishedWithin is how close a size or a batch has to come to the paper's to
// agree, and partlyWithin by which factor it may be off to agree in part.
const (
	publishedWithin = 0.03
	partlyWithin    = 1.5
)

// holds returns the verdict of a claim that holds or not.
func holds(ok bool) verdict {
	if ok {
		return agrees
	}
	return differs
}

// mostly returns the verdict of a claim about all of several cases.
func mostly(cases, of int) verdict {
	switch {
	case cases == of:
		return agrees
	case 2*cases >= of:
		return partly
	}
	return differs
}

// closeTo returns the verdict on a size or a batch, compared with the paper's.
func closeTo(here, paper float64) verdict {
	switch r := here / paper; {
	case math.Abs(r-1) <= publishedWithin:
		return agrees
	case r >= 1/partlyWithin && r <= partlyWithin:
		return partly
	}
	return differs
}

// meanOf returns the verdict on an average gain. A different gain agrees in part.
func meanOf(here, paper float64) verdict {
	switch {
	case math.Abs(here-paper) <= near:
		return agrees
	case here > 0:
		return partly
	}
	return differs
}

// upTo returns the verdict on a claim of "up to" a share. A larger share agrees, and at least half of it agrees in
// part.
func upTo(here, paper float64) verdict {
	switch {
	case here >= paper-near:
		return agrees
	case here >= paper/2:
		return partly
	}
	return differs
}
