//go:build !js

package engines

// Input is described as in WebDriver: three sources (mouse, wheel and keyboard) have actions that happen in
// ticks. Here one source acts in each tick and the others pause.

type action map[string]any

type hands struct{ mouse, wheel, keyboard []action }

func (h *hands) tick(source *[]action, a action) {
	for _, s := range []*[]action{&h.mouse, &h.wheel, &h.keyboard} {
		if s == source {
			*s = append(*s, a)
		} else {
			*s = append(*s, action{"type": "pause"})
		}
	}
}

func (h *hands) actions() []action {
	return []action{
		{"type": "pointer", "id": "mouse", "parameters": action{"pointerType": "mouse"}, "actions": h.mouse},
		{"type": "wheel", "id": "wheel", "actions": h.wheel},
		{"type": "key", "id": "keyboard", "actions": h.keyboard},
	}
}

func dragged(points []Point) []action {
	var h hands
	for i, p := range points {
		h.tick(&h.mouse, action{"type": "pointerMove", "x": p.X, "y": p.Y})
		if i == 0 {
			h.tick(&h.mouse, action{"type": "pointerDown", "button": 0})
		}
	}
	h.tick(&h.mouse, action{"type": "pointerUp", "button": 0})
	return h.actions()
}

// control is WebDriver's code of the key Ctrl.
const control = "\uE009"

func (h *hands) holding(ctrl bool, act func()) {
	if ctrl {
		h.tick(&h.keyboard, action{"type": "keyDown", "value": control})
	}
	act()
	if ctrl {
		h.tick(&h.keyboard, action{"type": "keyUp", "value": control})
	}
}

func wheeled(at Point, delta int, ctrl bool) []action {
	var h hands
	h.tick(&h.mouse, action{"type": "pointerMove", "x": at.X, "y": at.Y})
	h.holding(ctrl, func() {
		h.tick(&h.wheel, action{"type": "scroll", "x": at.X, "y": at.Y, "deltaX": 0, "deltaY": delta})
	})
	return h.actions()
}

func typed(key rune, ctrl bool) []action {
	var h hands
	h.holding(ctrl, func() {
		h.tick(&h.keyboard, action{"type": "keyDown", "value": string(key)})
		h.tick(&h.keyboard, action{"type": "keyUp", "value": string(key)})
	})
	return h.actions()
}
