//go:build !js

package browsertest

import "memtide/web/link"

// sealed returns a link as the page writes it: with the checksum of its settings.
func sealed(hash string) string {
	l, _ := link.Parse(hash)
	return "#" + l.Sealed()
}
