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

// Browser is a running browser.
type Browser interface {
	// Open opens an empty tab.
	Open(ctx context.Context) (Tab, error)
	// Downloads returns the directory in which the browser saves files.
	Downloads() string
	// Ears returns a script that the page has to run before its own scripts to record the messages of the
	// console. It is empty if the driver reports them.
	Ears() string
	// Close ends the browser and all processes that were started for it.
	Close()
}

// Tab is a tab of a browser. Drag, Wheel, Key and Files do what a person does. The page cannot distinguish them
// from a person's input, as far as the driver supports that (see webkitTab.Wheel).
type Tab interface {
	// Navigate opens an address. It may return before the page is ready.
	Navigate(ctx context.Context, address string) error
	// Eval evaluates a JavaScript expression in the page, awaits it, and returns its
	// value as JSON.
	Eval(ctx context.Context, expression string) (json.RawMessage, error)
	// Drag moves the mouse to the first point, in CSS pixels of the viewport, presses the button, moves through
	// the other points and releases the button at the last. With one point it clicks.
	Drag(ctx context.Context, points ...Point) error
	// Wheel turns the wheel at a point. A negative delta turns it away from the person.
	Wheel(ctx context.Context, at Point, delta int, ctrl bool) error
	// Key presses and releases the key of a character.
	Key(ctx context.Context, key rune, ctrl bool) error
	// Files chooses files in the file input that matches selector.
	Files(ctx context.Context, selector string, paths ...string) error
	// Resize sets the size of the viewport in CSS pixels.
	Resize(ctx context.Context, width, height int) error
	// Shot returns a PNG of the visible part of the page.
	Shot(ctx context.Context) ([]byte, error)
	// Complaints returns the errors and warnings of the tab's console.
	Complaints(ctx context.Context) ([]string, error)
	Close(ctx context.Context) error
}

// Point is a point of the viewport.
type Point struct{ X, Y int }

// Missing is the error of a browser that is not installed. How says how to install it.
type Missing struct{ Name, How string }

func (m *Missing) Error() string { return "no " + m.Name + " is installed: " + m.How }

// find returns the path of the first of the named programs that is installed, or "". The environment variable
// overrides the search.
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

// until calls holds every 50 ms until it returns nil. When ctx ends, until returns the errors of both.
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

// asJSON returns an expression whose value is that of the given one as JSON, also if that is a promise or
// undefined.
func asJSON(expression string) string {
	return "(async () => JSON.stringify((await (" + expression + "\n)) ?? null))()"
}

// errGone is the error of calls that wait for an answer when the browser ends.
var errGone = errors.New("the browser has ended")
