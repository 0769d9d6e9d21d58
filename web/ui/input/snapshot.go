package input

import (
	"strconv"

	"memtide/web/state"
)

// doctorCommand is what a command about a snapshot means; nil for others.
func (c Command) doctorCommand() state.Message {
	switch c.Do {
	case "show-buffer":
		return state.ShowBuffer{Buffer: c.Index}
	case "replays-stop":
		return state.StopReplays{}
	case "replays-go":
		return state.StopReplays{Go: true}
	case "flame-out":
		return state.ZoomOut{}
	case "second-drop":
		return state.DropSecond{}
	case "recording-device":
		if n, err := strconv.Atoi(c.Value); err == nil && c.Settled {
			return state.OpenDevice{Device: n}
		}
	}
	return nil
}

// FlameKey is what a key does while the flame graph has the focus.
func FlameKey(k Key, s *state.State) state.Message {
	switch k.Key {
	case "ArrowLeft":
		return state.MarkCall{Right: -1}
	case "ArrowRight":
		return state.MarkCall{Right: 1}
	case "ArrowUp":
		return state.MarkCall{Down: -1}
	case "ArrowDown":
		return state.MarkCall{Down: 1}
	case "Enter":
		return state.ZoomCall{Call: s.Flame().Marked().Index}
	case "Backspace":
		return state.ZoomOut{}
	}
	return nil
}
