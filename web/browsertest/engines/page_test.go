//go:build !js

package engines

import (
	"context"
	"errors"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("MEMTIDE_DIST") == "" && built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// TestPage runs the tests in the browsers. With MEMTIDE_LONG=1 every browser runs every test. Otherwise Chromium runs
// none, because package browsertest tests much more in it, and some run in one of the others only. The browsers run at
// the same time. The tests of one browser run one after the other, because only one tab can have the focus.
func TestPage(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			if kind.name == "chromium" && os.Getenv("MEMTIDE_LONG") == "" {
				t.Skip("MEMTIDE_LONG is not set")
			}
			t.Parallel()
			b := started(t, kind.start)
			for _, c := range []struct {
				name string
				test func(*Page)
				in   string // the browser of an ordinary run, or "" for all
			}{
				{"loading", loading, ""},
				{"dragging", dragging, ""},
				{"dropping", dropping, ""},
				{"zooming", zooming, "webkit"},
				{"sharing", sharing, ""},
				{"exporting", exporting, "firefox"},
				{"embedding", embedding, ""},
				{"offline", offline, "firefox"},
				{"asking", asking, "firefox"},
				{"examining", examining, "firefox"},
			} {
				t.Run(c.name, func(t *testing.T) {
					if c.in != "" && c.in != kind.name && os.Getenv("MEMTIDE_LONG") == "" {
						t.Skip("MEMTIDE_LONG is not set")
					}
					c.test(newPage(t, b))
				})
			}
		})
	}
}

// started starts a browser for a test and its subtests.
func started(t *testing.T, start func(context.Context) (Browser, error)) Browser {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	b, err := start(ctx)
	var missing *Missing
	switch {
	case errors.As(err, &missing):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}
