//go:build lean

package profiles

// unknownContent is the error of content that this small build does not know.
// The page asks its reader, which is not built like this, before it comes to that.
func unknownContent([]byte) error {
	return &FormatError{Found: "The content is not in memtide's own format", Expected: "Only that is read here."}
}
