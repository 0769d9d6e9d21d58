//go:build !js

// Package browsertest tests the real page in a headless Chromium. It serves the built site, opens it, and checks what
// the page shows, what the console reports and which addresses are requested. The browser resolves no host names, so
// that requests to other hosts fail and are noticed.
//
// Tests run in parallel, as many as -parallel allows, in tabs of one browser with separate storage. They do not depend
// on the clock: they wait for states (Wait), until the page has drawn its state (Drawn) or until it is idle (Done). To
// check that nothing happens, they wait until something later has happened.
//
// The site is the directory named by MEMTIDE_DIST; if that is not set, the site is
// built once per test run. Without a browser the tests are skipped, or fail if the variable CI is set.
package browsertest

import (
	"os"
	"os/exec"
)

// Browser returns the path of a Chromium, or "" if no Chromium is found. One without windows is preferred, whose tabs
// take a third less time to open. The variable CHROME overrides the search.
func Browser() string {
	if p := os.Getenv("CHROME"); p != "" {
		return p
	}
	for _, name := range []string{"chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser",
		"google-chrome", "google-chrome-stable", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	return ""
}
