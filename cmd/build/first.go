//go:build !js

package main

import (
	"context"
	"strings"

	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/jobs"
	"memtide/web/ui"
)

// firstPicture is what a visitor sees before any script runs: the element #app
// as the page's own components draw it, with the schedule that the page's own
// engine finds for the default example. The program takes it over without a
// jump because it draws the same.
func firstPicture() (string, error) {
	s, err := jobs.First(context.Background(), new(serve.Local), choice.Example())
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = ui.StaticPage(&b, s)
	return b.String(), err
}
