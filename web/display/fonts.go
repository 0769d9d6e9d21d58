package display

// The pictures have two font sizes: of axes, and of titles and of what names a line.
// paint.js has the same.
const (
	FontSize  = 11.0
	largeSize = 13.0
	haloWidth = 4.0 // of the stroke behind a text
	fontCSS   = "11px system-ui,sans-serif"
)
