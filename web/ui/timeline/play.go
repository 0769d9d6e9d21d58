package timeline

import (
	"strconv"

	"github.com/vugu/vugu"
)

// The words of playing.
const (
	wordsPlay = "Play the step"
	wordsStop = "Stop"
)

// NoPlay says that there is nothing to be played.
func (c *Pictures) NoPlay() bool { return c.S.Memory != nil || c.S.View.Frame.Embed }

// Playing is for aria-pressed.
func (c *Pictures) Playing() string { return strconv.FormatBool(c.S.View.Play.On) }

// PlayTitle says how to do it without the button.
func (c *Pictures) PlayTitle() string {
	return "A playhead crosses the pictures (Space, while they have the focus). Drag its handle to move through the step."
}

// PlayButton is what the button shows.
func (c *Pictures) PlayButton() vugu.HTML {
	words, sign := wordsPlay, "M9 7v12l10-6z"
	if c.S.View.Play.On {
		words, sign = wordsStop, "M8 8h3v10h-3zM15 8h3v10h-3z"
	}
	return vugu.HTML(`<svg viewBox="0 0 26 26" width="26" height="26" aria-hidden="true"><circle cx="13" cy="13" r="12"></circle><path d="` + sign + `"></path></svg><span>` + words + `</span>`)
}
