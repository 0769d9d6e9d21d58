package ui

import (
	"github.com/hack-pad/safejs"

	"memtide/web/state"
)

// readBoth compares two files.
func (a *app) readBoth(first, second safejs.Value) {
	failed := func(file safejs.Value) func(safejs.Value) {
		return func(reason safejs.Value) {
			a.post(state.BadLink{Text: text(file, "name") + " cannot be read: " + text(reason, "message")})
		}
	}
	then(call(first, "arrayBuffer"), func(one safejs.Value) {
		then(call(second, "arrayBuffer"), func(two safejs.Value) {
			a.post(state.PickFiles{
				A: state.PickFile{Name: text(first, "name"), Bytes: bytesOf(one)},
				B: state.PickFile{Name: text(second, "name"), Bytes: bytesOf(two)},
			})
		}, failed(second))
	}, failed(first))
}
