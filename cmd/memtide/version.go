//go:build !js

package main

import (
	"context"
	"flag"
	"fmt"

	"memtide/cmd/cli"
	"memtide/engine"
)

func versionCommand() *command {
	return &command{
		name:     "version",
		summary:  "print the release of memtide",
		doc:      `Prints the release, as the page's footer and memtide.__version__ say it.`,
		examples: []string{"memtide version"},
		flags: func(*flag.FlagSet) action {
			return func(_ context.Context, e *env, args []string) {
				if len(args) > 0 {
					fail("version takes nothing; got %q", args[0])
				}
				cli.Must(fmt.Fprintf(e.stdout, "memtide %s\n", engine.Version))
			}
		},
	}
}
