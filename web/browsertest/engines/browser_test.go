//go:build !js

package engines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Browser is a browser that was started.
type Browser interface {
	// Open opens an empty tab.
	Open(ctx context.Context) (Tab, error)
	// Downloads is the directory in which the browser saves files.
	Downloads() string
	// Ears is a script that the page has to run before its own where the driver does
	// not hear the console; empty where it does.
	Ears() string
	// Close ends the browser and everything that it has started.
	Close()
}

// Tab is a tab of a browser. The tests do what a person does by Drag, Wheel, Key
// and Files; these are real input, which the page cannot tell from a person's, where
// the driver can (see webkitTab.Wheel).
type Tab interface {
	// Navigate opens an address. It may return before the page is ready.
	Navigate(ctx context.Context, address string) error
	// Eval evaluates a JavaScript expression in the page, awaits it, and returns its
	// value as JSON.
	Eval(ctx context.Context, expression string) (json.RawMessage, error)
	// Drag moves the mouse to the first of some points, in CSS pixels of the
	// viewport, presses, moves through the others and lets go at the last. With one
	// point it clicks.
	Drag(ctx context.Context, points ...Point) error
	// Wheel turns the wheel at a point; below 0 is away from the person.
	Wheel(ctx context.Context, at Point, delta int, ctrl bool) error
	// Key presses the key of a character where the focus is, and lets it go.
	Key(ctx context.Context, key rune, ctrl bool) error
	// Files chooses files in the field of files that a selector finds.
	Files(ctx context.Context, selector string, paths ...string) error
	// Resize makes the viewport so large, in CSS pixels.
	Resize(ctx context.Context, width, height int) error
	// Shot is a PNG of what is visible.
	Shot(ctx context.Context) ([]byte, error)
	// Complaints are the errors and warnings that the console has had from this tab.
	Complaints(ctx context.Context) ([]string, error)
	Close(ctx context.Context) error
}

// Point is a place in the viewport.
type Point struct{ X, Y int }

// Missing says that a browser is not installed, and how to get it.
type Missing struct{ Name, How string }

func (m *Missing) Error() string { return "no " + m.Name + " is installed: " + m.How }

// find is the first of some programs that is installed. The variable of the
// environment overrides the search.
func find(variable string, names ...string) string {
	if p := os.Getenv(variable); p != "" {
		return p
	}
	for _, name := range names {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	return ""
}

// until asks every moment until a condition holds; it ends with the context's error
// and the condition's.
func until(ctx context.Context, holds func() error) error {
	for {
		err := holds()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// asJSON is an expression whose value is that of another as JSON, also if that is a
// promise or undefined.
func asJSON(expression string) string {
	return "(async () => JSON.stringify((await (" + expression + "\n)) ?? null))()"
}

// errGone is what calls end with when the browser has.
var errGone = errors.New("the browser has ended")
