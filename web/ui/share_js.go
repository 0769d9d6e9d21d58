package ui

import (
	"context"
	"strings"

	"github.com/hack-pad/safejs"

	"memtide/web/draw"
	"memtide/web/link"
	"memtide/web/state"
)

// sharer keeps the focus in the dialog and does what needs the browser.
type sharer struct {
	open bool
	back safejs.Value // what had the focus before
}

// settle is called when the components have been drawn.
func (h *sharer) settle(a *app) {
	open := a.s.Sharing != nil || a.s.View.Help
	if open == h.open {
		return
	}
	h.open = open
	document := global("document")
	if open {
		h.back = get(document, "activeElement")
		field := call(document, "getElementById", "share-link")
		if a.s.View.Help {
			field = call(document, "querySelector", ".help:not(.share) button")
		}
		call(field, "focus", map[string]any{"preventScroll": true})
		if !a.s.View.Help {
			call(field, "select")
		}
	} else if exists(get(h.back, "focus")) {
		call(h.back, "focus", map[string]any{"preventScroll": true})
	}
}

// listenShare keeps the keyboard inside the dialog while it is open.
func (a *app) listenShare() {
	a.s.View.CanSend = exists(global("navigator", "share"))
	listen(global("document"), "keydown", func(e safejs.Value) {
		dialog := call(global("document"), "querySelector", ".help-layer:not([hidden]) .help")
		if !exists(dialog) {
			return
		}
		switch inside := truth(call(dialog, "contains", get(e, "target"))); {
		case text(e, "key") == "Tab":
			all := call(dialog, "querySelectorAll", "button:not(:disabled), input, select")
			first, last := get(all, "0"), call(all, "item", number(all, "length")-1)
			to, from := first, last
			if truth(e, "shiftKey") {
				to, from = last, first
			}
			if active := get(global("document"), "activeElement"); !inside || active.Equal(from) || active.Equal(dialog) && truth(e, "shiftKey") {
				call(e, "preventDefault")
				call(to, "focus")
			}
		case text(e, "key") == "Escape":
			call(e, "preventDefault")
			a.post(state.Dismiss{})
		case inside && (a.s.Sharing != nil || text(e, "key") != "?") && !truth(e, "ctrlKey") && !truth(e, "metaKey"):
			call(e, "stopImmediatePropagation") // no letter is a command here
		}
	})
}

// copyText copies a field of the dialog; where the browser refuses, the text is
// selected and a person copies it.
func (a *app) copyText(field string) {
	element := call(global("document"), "getElementById", "share-"+field)
	refused := func(safejs.Value) {
		a.later(func() {
			call(element, "focus")
			call(element, "select")
			a.do(state.ShareNote{Text: "The browser does not let the page copy. The text is selected: press Ctrl+C."})
		})
	}
	clipboard := global("navigator", "clipboard")
	if !exists(clipboard) {
		refused(clipboard)
		return
	}
	then(call(clipboard, "writeText", text(element, "value")),
		func(safejs.Value) { a.post(state.ShareNote{Text: "Copied."}) }, refused)
}

// send has the device pass the link on. A person who changes their mind is told
// nothing.
func (a *app) send() {
	address := a.page.Address(a.s, a.s.Sharing == nil || a.s.Sharing.Exact)
	then(call(global("navigator"), "share", map[string]any{"title": nameOf(a.s) + " – memtide", "url": address}),
		func(safejs.Value) { a.post(state.ShareNote{Text: "Passed on."}) },
		func(reason safejs.Value) {
			if text(reason, "name") != "AbortError" {
				a.post(state.ShareNote{Text: "The device does not take the link. Copy it instead."})
			}
		})
}

// save saves a file of what is shown.
func (a *app) save(kind string) {
	address := a.page.Address(a.s, a.s.Sharing == nil || a.s.Sharing.Exact)
	switch kind {
	case "png":
		a.savePNG(address)
	case "html":
		a.savePage(address)
	default:
		if f, ok := ExportFile(a.s, kind, address); ok {
			a.saveFile(f)
		}
	}
}

// saveFile has the browser save a file.
func (a *app) saveFile(f File) {
	array, err := get(safejs.Global(), "Uint8Array").New(len(f.Bytes))
	if err != nil {
		complain("file", err)
		return
	}
	if _, err := safejs.CopyBytesToJS(array, f.Bytes); err != nil {
		complain("file", err)
		return
	}
	blob, err := get(safejs.Global(), "Blob").New([]any{array}, map[string]any{"type": f.Type})
	if err != nil {
		complain("file", err)
		return
	}
	url := call(global("URL"), "createObjectURL", blob)
	anchor := call(global("document"), "createElement", "a")
	set(anchor, "href", url)
	set(anchor, "download", f.Name)
	call(anchor, "click")
	after(10_000, func() { call(global("URL"), "revokeObjectURL", url) })
	a.post(state.ShareNote{Text: "Saved " + f.Name + "."}) // heard if the dialog is open
}

// export has the reader write the schedule down, and saves the file.
func (j *jobs) export(e state.Export) {
	a := j.a
	name, address := fileNameOf(a.s, a.s.Visible(), e.Kind), a.page.Address(a.s, a.s.Sharing == nil || a.s.Sharing.Exact)
	go func() {
		ctx := context.Background()
		p, err := j.reader.load(ctx)
		if err != nil {
			j.a.post(state.ShareNote{Text: "The part of memtide that writes such files cannot be loaded: " + err.Error() + "."})
			return
		}
		f, err := scheduleFile(ctx, p, e, name, address)
		j.a.later(func() {
			if err != nil {
				j.a.do(state.ShareNote{Text: sentenceOf(err.Error())})
				return
			}
			j.a.saveFile(f)
		})
	}()
}

// pngRatio is how many pixels of a saved picture a CSS pixel has.
const pngRatio = 2

// savePNG paints the figure on a canvas of its own.
func (a *app) savePNG(address string) {
	if a.s.Visible() == nil || a.s.Sharing == nil {
		return
	}
	theme := draw.Light
	if a.s.Sharing.Theme == "dark" {
		theme = draw.Dark
	}
	var scene draw.Scene
	figure(&scene, a.s, a.s.Sharing.Exact)
	canvas := call(global("document"), "createElement", "canvas")
	colours := draw.Palette(theme)
	if !paintOn(canvas, &scene, colours, pngRatio) {
		return
	}
	context := call(canvas, "getContext", "2d")
	call(context, "setTransform", 1, 0, 0, 1, 0, 0)
	set(context, "globalCompositeOperation", "destination-over")
	set(context, "fillStyle", colours[draw.Surface])
	call(context, "fillRect", 0, 0, number(canvas, "width"), number(canvas, "height"))
	name := fileName(a.s, "png")
	call(canvas, "toBlob", function(func(blob safejs.Value) {
		then(call(blob, "arrayBuffer"), func(buffer safejs.Value) {
			png := link.WithPNG(bytesOf(buffer), address)
			a.later(func() { a.saveFile(File{Name: name, Type: "image/png", Bytes: png}) })
		}, func(safejs.Value) {})
	}), "image/png")
}

// paintOn paints a scene on a canvas in the colours of a theme.
func paintOn(canvas safejs.Value, scene *draw.Scene, colours []string, ratio float64) bool {
	var palette []any
	for _, c := range colours {
		palette = append(palette, c)
	}
	buffer := scene.AppendBuffer(nil)
	array, err := get(safejs.Global(), "Uint8Array").New(len(buffer))
	if err == nil {
		_, err = safejs.CopyBytesToJS(array, buffer)
	}
	if err == nil {
		_, err = global("memtidePaint").Invoke(canvas, array, palette, ratio)
	}
	if err != nil {
		complain("picture", err)
	}
	return err == nil
}

// singleFile is the page in one file, beside the page.
const singleFile = "memtide.html"

// savePage saves the page in one file, opening with the link.
func (a *app) savePage(address string) {
	_, fragment, _ := strings.Cut(address, "#")
	failed := func(safejs.Value) {
		a.post(state.ShareNote{Text: "The page in one file cannot be fetched. If this is that file already, send it with the link."})
	}
	name := fileName(a.s, "html")
	then(call(safejs.Global(), "fetch", a.page.folder()+singleFile), func(response safejs.Value) {
		if !truth(response, "ok") {
			failed(response)
			return
		}
		then(call(response, "arrayBuffer"), func(buffer safejs.Value) {
			page, ok := link.WithHTML(bytesOf(buffer), a.page.Base, fragment)
			if !ok {
				failed(buffer)
				return
			}
			a.later(func() { a.saveFile(File{Name: name, Type: "text/html", Bytes: page}) })
		}, failed)
	}, failed)
	a.do(state.ShareNote{Text: "Fetching the page…"})
}

// openFile opens a file: what the page has saved restores what it showed,
// everything else is a profile.
func (a *app) openFile(name string, content []byte) {
	fragment, ok := link.In(content)
	if !ok {
		a.do(state.PickFile{Name: name, Bytes: content})
		return
	}
	a.address.open(fragment)
}

// openLarge opens a file that a worker reads, unless its ends say what the page has
// saved in it.
func (a *app) openLarge(name string, file safejs.Value) {
	pick := func(safejs.Value) { a.post(state.PickFile{Name: name, Handle: file}) }
	ends := []any{call(call(file, "slice", 0, link.Head), "arrayBuffer"), call(call(file, "slice", -link.Tail), "arrayBuffer")}
	then(call(global("Promise"), "all", ends), func(buffers safejs.Value) {
		if fragment, ok := link.InEnds(bytesOf(get(buffers, "0")), bytesOf(get(buffers, "1"))); ok {
			a.later(func() { a.address.open(fragment) })
			return
		}
		pick(buffers)
	}, pick)
}
