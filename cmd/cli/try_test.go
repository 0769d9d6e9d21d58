package cli

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestTry checks that the first error ends the function and is returned unchanged, and that Try does not recover
// other panics.
func TestTry(t *testing.T) {
	wrong := errors.New("wrong")
	for name, c := range map[string]struct {
		do   func()
		want string
	}{
		"nothing": {func() { Check(nil); Must(1, nil) }, ""},
		"Check":   {func() { Check(wrong); panic("went on") }, "wrong"},
		"Must": {func() {
			Must(io.ReadAll(io.MultiReader(strings.NewReader("x"),
				failing{wrong})))
			panic("went on")
		}, "wrong"},
		"Fail":   {func() { Fail("it is %w", wrong); panic("went on") }, "it is wrong"},
		"within": {func() { Check(Try(func() { Check(wrong) })) }, "wrong"},
	} {
		err := Try(c.do)
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, wrong) || err.Error() != c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	defer func() {
		if got := recover(); got != "else" {
			t.Errorf("a panic became %v, want it as it was", got)
		}
	}()
	t.Error(Try(func() { panic("else") }))
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
