package profiles

// Decoders read one thing after the other, and most of it cannot be without what came
// before. They end at the first error, wherever they are: it is not handed on from
// function to function.

// ended is an error on its way to Try.
type ended struct{ err error }

// End ends what Try runs, with an error; without one it does nothing.
func End(err error) {
	if err != nil {
		panic(ended{err})
	}
}

// Try is what read returns, or the error that it ends with. An error in another
// goroutine than the caller's is a panic.
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
