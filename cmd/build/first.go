//go:build !js

package main

import (
	"context"
	"strings"

	"memtide/cmd/cli"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/jobs"
	"memtide/web/ui"
)

// firstPicture is what a visitor sees before any script runs: the element #app
// as the page's own components draw it, with the schedule that the page's own
// engine finds for the default example. The program takes it over without a
// jump because it draws the same.
func firstPicture() string {
	var b strings.Builder
	cli.Check(ui.StaticPage(&b, cli.Must(jobs.First(context.Background(), new(serve.Local), choice.Example()))))
	return b.String()
}
