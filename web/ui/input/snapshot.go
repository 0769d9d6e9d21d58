package input

import "memtide/web/state"

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
