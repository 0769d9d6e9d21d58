//go:build !js

package main

// firstPicture is what a visitor sees before any script runs: #app, as the
// page's own components draw it for the schedule of the default example.
func firstPicture() (string, error) {
	return `<main id="app"></main>`, nil
}
