package app

import "github.com/hack-pad/safejs"

// tip is the words beside the pointer.
type tip struct{ element safejs.Value }

func (t *tip) init() {
	t.element = create(global("document", "body"), "div", "tooltip")
	t.hide()
	call(t.element, "setAttribute", "aria-hidden", "true")
	for _, name := range []string{"pointerdown", "scroll"} {
		listen(global("document"), name, func(safejs.Value) { t.hide() })
	}
}

func (t *tip) hide() { set(t.element, "hidden", true) }

// show shows words beside the pointer; none hide them. A finger would cover them:
// it gets them when it is lifted, above its place, until something else is touched
// or the page is scrolled.
func (t *tip) show(words string, event safejs.Value) {
	touch := text(event, "pointerType") == "touch"
	if words == "" || touch && text(event, "type") != "pointerup" {
		t.hide()
		return
	}
	set(t.element, "textContent", words)
	set(t.element, "hidden", false)
	x, y := number(event, "clientX"), number(event, "clientY")
	w, h := number(t.element, "offsetWidth"), number(t.element, "offsetHeight")
	if touch {
		right := number(safejs.Global(), "innerWidth") - w - 8
		set(get(t.element, "style"), "transform", "translate("+px(max(8, min(x-w/2, right)))+","+px(max(8, y-h-28))+")")
		return
	}
	if x+14+w > number(safejs.Global(), "innerWidth") {
		x = max(x-w-14, 0) - 14
	}
	if y+18+h > number(safejs.Global(), "innerHeight") {
		y = y - h - 30
	}
	set(get(t.element, "style"), "transform", "translate("+px(x+14)+","+px(y+18)+")")
}
