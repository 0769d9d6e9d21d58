package cli

import "fmt"

// Programs that do one thing after the other, and end at the first error whatever it is,
// say so once: Try is around all of it, Check and Must are at every call that may fail,
// and Fail is what is wrong otherwise.

// failed is an error on its way to Try.
type failed struct{ err error }

// Try runs do up to its first error, which it returns. An error in another goroutine
// than the caller's is a panic.
func Try(do func()) (err error) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case failed:
			err = end.err
		default:
			panic(end)
		}
	}()
	do()
	return nil
}

// Within runs do within Try; an error of it ends that, with what it was about before it.
func Within(what string, do func()) {
	if err := Try(do); err != nil {
		Fail("%s: %w", what, err)
	}
}

// Check ends what Try runs with an error, if there is one.
func Check(err error) {
	if err != nil {
		panic(failed{err})
	}
}

// Must is the result of a call; an error of it ends what Try runs.
func Must[T any](result T, err error) T {
	Check(err)
	return result
}

// Fail ends what Try runs with an error of these words.
func Fail(format string, args ...any) { Check(fmt.Errorf(format, args...)) }
