package app

import (
	"strconv"
	"sync"

	"github.com/hack-pad/safejs"
)

// The page must continue if the browser refuses something: the functions below then return undefined or the zero value,
// and write errors to the console.

// global returns a property of the window: global("document", "body").
func global(path ...string) safejs.Value { return get(safejs.Global(), path...) }

func get(v safejs.Value, path ...string) safejs.Value {
	for _, name := range path {
		next, err := v.Get(name)
		if err != nil {
			return safejs.Undefined()
		}
		v = next
	}
	return v
}

func exists(v safejs.Value) bool { return !v.IsUndefined() && !v.IsNull() }

func text(v safejs.Value, path ...string) string {
	if v = get(v, path...); v.Type() != safejs.TypeString {
		return ""
	}
	s, _ := v.String() // never fails on a string
	return s
}

func number(v safejs.Value, path ...string) float64 {
	if v = get(v, path...); v.Type() != safejs.TypeNumber {
		return 0
	}
	f, _ := v.Float() // never fails on a number
	return f
}

func truth(v safejs.Value, path ...string) bool {
	ok, err := get(v, path...).Truthy()
	return err == nil && ok
}

func call(v safejs.Value, method string, args ...any) safejs.Value {
	out, err := v.Call(method, args...)
	if err != nil {
		complain(method, err)
		return safejs.Undefined()
	}
	return out
}

func set(v safejs.Value, name string, value any) {
	if err := v.Set(name, value); err != nil {
		complain(name, err)
	}
}

func complain(what string, err error) {
	_, _ = global("console").Call("warn", "memtide: "+what+": "+err.Error())
}

// create appends a new element with a class to parent.
func create(parent safejs.Value, tag, class string) safejs.Value {
	e := call(global("document"), "createElement", tag)
	set(e, "className", class)
	call(parent, "appendChild", e)
	return e
}

// function returns a JavaScript function that calls f with its first argument. It is never released.
func function(f func(safejs.Value)) safejs.Func {
	fn, err := safejs.FuncOf(func(_ safejs.Value, args []safejs.Value) any {
		if len(args) == 0 {
			f(safejs.Undefined())
		} else {
			f(args[0])
		}
		return nil
	})
	if err != nil {
		complain("function", err)
	}
	return fn
}

// once returns a JavaScript function that is released when it is called.
func once(f func()) (fn safejs.Func) {
	fn = function(func(safejs.Value) {
		fn.Release()
		f()
	})
	return fn
}

// active is the options of a listener that may call preventDefault.
var active = sync.OnceValue(func() safejs.Value {
	v, err := safejs.ValueOf(map[string]any{"passive": false})
	if err != nil {
		complain("listener", err)
	}
	return v
})

// listen calls f for each event. f must not block.
func listen(target safejs.Value, event string, f func(safejs.Value)) {
	call(target, "addEventListener", event, function(f), active())
}

// pointed calls f on the page's goroutine for each pointer event, with its position in the element.
func (c *core) pointed(element safejs.Value, event string, f func(x, y float64, e safejs.Value)) {
	listen(element, event, func(e safejs.Value) {
		x, y := at(element, e)
		c.Later(func() { f(x, y, e) })
	})
}

// at returns the position of an event in an element, in CSS pixels.
func at(element, event safejs.Value) (x, y float64) {
	box := call(element, "getBoundingClientRect")
	return number(event, "clientX") - number(box, "left"), number(event, "clientY") - number(box, "top")
}

// onResize calls f when the size of an element has changed, and once at the start.
func onResize(element safejs.Value, f func()) {
	observer, err := get(safejs.Global(), "ResizeObserver").New(function(func(safejs.Value) { f() }))
	if err == nil {
		call(observer, "observe", element)
	}
}

// onNear calls f when an element comes to within 100 pixels of the screen or leaves them, and once at the start.
func onNear(element safejs.Value, f func(bool)) {
	observer, err := get(safejs.Global(), "IntersectionObserver").New(function(func(entries safejs.Value) {
		f(truth(call(entries, "at", -1), "isIntersecting"))
	}), map[string]any{"rootMargin": "100px"})
	if err == nil {
		call(observer, "observe", element)
	}
}

// clip copies words to the clipboard and calls done, or refused if the browser does not allow it.
func clip(words string, done, refused func()) {
	clipboard := global("navigator", "clipboard")
	if !exists(clipboard) {
		refused()
		return
	}
	then(call(clipboard, "writeText", words), func(safejs.Value) { done() }, func(safejs.Value) { refused() })
}

// then calls f with the value of a promise, or fail with the reason of its rejection.
func then(promise safejs.Value, f, fail func(safejs.Value)) {
	if exists(promise) {
		call(promise, "then", function(f), function(fail))
	}
}

// after calls f in ms milliseconds.
func after(ms int, f func()) {
	call(safejs.Global(), "setTimeout", once(f), ms)
}

// idly calls f when the browser is idle, at the latest in ms milliseconds.
func idly(ms int, f func()) {
	if !exists(global("requestIdleCallback")) {
		after(0, f)
		return
	}
	call(safejs.Global(), "requestIdleCallback", once(f), map[string]any{"timeout": ms})
}

// now returns the time since the page was opened, in milliseconds.
func now() float64 { return number(call(global("performance"), "now")) }

// bytesOf returns a copy of a Uint8Array or an ArrayBuffer.
func bytesOf(v safejs.Value) []byte {
	array, err := get(safejs.Global(), "Uint8Array").New(v)
	out := make([]byte, int(number(array, "length")))
	if err == nil {
		_, err = safejs.CopyBytesToGo(out, array)
	}
	if err != nil {
		complain("bytes", err)
		return nil
	}
	return out
}

// arrayOf returns a Uint8Array with a copy of b.
func arrayOf(b []byte) (safejs.Value, error) {
	array, err := get(safejs.Global(), "Uint8Array").New(len(b))
	if err == nil {
		_, err = safejs.CopyBytesToJS(array, b)
	}
	return array, err
}

func px(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) + "px" }
