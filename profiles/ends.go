package profiles

// Decoders read one element after the other and usually cannot go on without the earlier ones.
// They therefore end at the first error from any depth with End, a panic that Try recovers,
// instead of returning errors from function to function.

// ended carries an error from End to Try.
type ended struct{ err error }

// Error returns what a program says that ends outside of Try.
func (e ended) Error() string { return e.err.Error() }

// End ends the function that Try runs, and Try returns err. It does nothing if err is nil.
func End(err error) {
	if err != nil {
		panic(ended{err})
	}
}

// Try returns what read returns, or the error with which it called End. End has to be called in
// the goroutine of Try; elsewhere it is an ordinary panic.
func Try[T any](read func() T) (result T, err error) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case ended:
			err = end.err
		default:
			panic(end)
		}
	}()
	return read(), nil
}
