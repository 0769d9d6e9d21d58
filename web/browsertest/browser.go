//go:build !js

// Package browsertest drives the real page in a headless Chromium: it serves
// the built site, opens it, and sees what a person would see, what the console
// says and which addresses are asked for. The browser resolves no host name, so
// that a request to another host can neither succeed nor go unnoticed.
//
// Tests run beside each other, as many as -parallel allows, in tabs of one browser
// with storage of their own. None depends on the clock: they wait for states (Wait),
// for the page to have drawn what it knows (Drawn) or to be at nothing any more
// (Done). That nothing happens is seen when something later has happened.
//
// The site is the directory named by MEMTIDE_DIST; if that is not set it is
// built once per test run. Without a browser the tests skip, except in CI (CI is
// set), where they fail.
package browsertest

import (
	"os"
	"os/exec"
)

// Browser returns the path of a Chromium, empty if there is none. CHROME overrides
// the search.
func Browser() string {
	if p := os.Getenv("CHROME"); p != "" {
		return p
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	return ""
}
