package ui

import (
	"fmt"

	"github.com/hack-pad/safejs"

	"memtide/web/state"
)

// readBoth compares the first two of so many files.
func (a *app) readBoth(first, second safejs.Value, files int) {
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
			if files > 2 {
				a.post(state.BadLink{Text: fmt.Sprintf("Two files are compared: %s and %s. The other %d are left out.", text(first, "name"), text(second, "name"), files-2)})
			}
		}, failed(second))
	}, failed(first))
}
