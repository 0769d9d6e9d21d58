//go:build !js

// Command first prints what a visitor sees before any script runs: the element #app as the page's own components draw
// it, with the schedule that the page's own engine finds for the default example. cmd/build puts it into index.html.
// The page's program takes it over without a jump because it draws the same. It is a program of its own because
// cmd/build writes the components with which it is compiled.
package main

import (
	"context"
	"fmt"
	"os"

	"memtide/cmd/cli"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/jobs"
	"memtide/web/ui"
)

func main() {
	err := cli.Try(func() {
		cli.Check(ui.StaticPage(os.Stdout,
			cli.Must(jobs.First(context.Background(), new(serve.Local), choice.Example()))))
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "first:", err)
		os.Exit(1)
	}
}
