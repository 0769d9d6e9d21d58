//go:build !js

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"memtide/profiles"
	"memtide/web/format"
)

// provenance says where the numbers of the network come from, in one line.
func (in *input) provenance() string {
	s := in.profile.Source
	times := "times " + cmp.Or(string(s.Times), "of unknown origin")
	if s.Device != "" {
		times += " on " + s.Device
	}
	parts := []string{times, "sizes " + cmp.Or(string(s.Sizes), "of unknown origin")}
	if in.profile.DType != "" {
		parts = append(parts, in.profile.DType)
	}
	if s.Tool != "" && s.Tool != "preset" {
		parts = append(parts, "from "+s.Tool)
	}
	return strings.Join(parts, ", ")
}

// findings returns those about the profile and about what is chosen beside it.
func (in *input) findings() []string {
	list := slices.Clone(in.profile.Warnings)
	if text := in.otherDevice(); text != "" {
		list = append(list, text)
	}
	if in.profile.NotLinear() != "" && in.profile.Graph != nil {
		list = append(list, "The chain hides nearly every choice in one stage: -as graph solves the operations themselves.")
	}
	return list
}

// findingsText is findings and assumptions as lists.
func (in *input) findingsText() string {
	return list("Findings about the profile", in.findings()) + list("Assumed or left out", in.profile.Source.Notes)
}

// otherDevice says that the times are of another device than the link.
func (in *input) otherDevice() string {
	times, link := in.profile.Source.Device, in.device.Name
	if times == "" || link == "" || sameModel(times, link) {
		return ""
	}
	return fmt.Sprintf("The times are of %s and the link is of %s: what a transfer costs against computing is so on neither.", times, link)
}

// sameModel reports whether two names of devices share the word for the model, such as
// V100 or H200: letters, then digits.
func sameModel(a, b string) bool {
	words := modelWords(b)
	return strings.EqualFold(a, b) ||
		slices.ContainsFunc(modelWords(a), func(w string) bool { return slices.Contains(words, w) })
}

// modelWords returns the words of a name that can be a model: with digits, and no number of
// bytes or bits.
func modelWords(name string) (list []string) {
	for _, w := range strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z')
	}) {
		digits := strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
		if digits != "" && !strings.HasSuffix(w, "GB") && w != "32" && w != "16" && w != "BIT" {
			list = append(list, w)
		}
	}
	return list
}

// originReport is where the numbers come from.
type originReport struct {
	Tool   string          `json:"tool,omitempty"`
	Times  profiles.Origin `json:"times,omitempty"` // measured, exact, analytic, estimated; empty if unknown
	Sizes  profiles.Origin `json:"sizes,omitempty"`
	Device string          `json:"device,omitempty"` // of the times
	DType  string          `json:"dtype,omitempty"`
	Notes  []string        `json:"notes"` // what was assumed, or left out
}

func (in *input) origin() originReport {
	s := in.profile.Source
	notes := []string{}
	for _, n := range s.Notes {
		notes = append(notes, format.Durations(n))
	}
	return originReport{s.Tool, s.Times, s.Sizes, s.Device, in.profile.DType, notes}
}
