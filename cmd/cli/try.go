package cli

import (
	"fmt"

	"memtide/profiles"
)

// Programs that do one thing after the other, and end at the first error whatever it is,
// say so once: Try is around all of it, Check and Must are at every call that may fail,
// and Fail is what is wrong otherwise.

// Try runs do up to its first error, which it returns; see profiles.Try.
func Try(do func()) error {
	_, err := profiles.Try(func() any { do(); return nil })
	return err
}

// Within runs do within Try; an error of it ends that, with what it was about before it.
func Within(what string, do func()) {
	if err := Try(do); err != nil {
		Fail("%s: %w", what, err)
	}
}

// Check ends what Try runs with an error, if there is one.
func Check(err error) { profiles.End(err) }

// Must returns the result of a call; an error of it ends what Try runs.
func Must[T any](result T, err error) T {
	Check(err)
	return result
}

// Fail ends what Try runs with an error of these words.
func Fail(format string, args ...any) { Check(fmt.Errorf(format, args...)) }
