package input

import "memtide/web/state"

// PassKey is what a key does while the picture of a pipeline has the focus.
func PassKey(k Key) state.Message {
	switch k.Key {
	case "ArrowLeft":
		return state.MovePass{Right: -1}
	case "ArrowRight":
		return state.MovePass{Right: 1}
	case "ArrowUp":
		return state.MovePass{Down: -1}
	case "ArrowDown":
		return state.MovePass{Down: 1}
	case "Enter":
		return state.FollowPass{}
	}
	return nil
}
