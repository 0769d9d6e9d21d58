package app

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hack-pad/safejs"
	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/jobs"
	"memtide/web/link"
	"memtide/web/state"
	"memtide/web/ui/export"
)

// files opens files and text that are dropped, pasted or chosen.
type files struct {
	*core
	follow func(fragment string) // follows the link in a file that the page has saved
}

// listen opens files that are dropped or pasted anywhere on the page. It is not called in a view in another page,
// because that page may ask the view what is open.
func (a *files) listen() {
	document := global("document")
	root := get(document, "documentElement", "dataset")
	depth := 0
	hasFiles := func(e safejs.Value) bool {
		types := get(e, "dataTransfer", "types")
		return exists(types) && truth(call(types, "includes", "Files"))
	}
	show := func(on bool) {
		if set(root, "drop", strconv.FormatBool(on)); !on {
			depth = 0
		}
	}
	listen(document, "dragenter", func(e safejs.Value) {
		if hasFiles(e) {
			depth++
			show(true)
		}
	})
	listen(document, "dragleave", func(e safejs.Value) {
		if depth--; depth <= 0 {
			show(false)
		}
	})
	listen(document, "dragover", func(e safejs.Value) {
		if hasFiles(e) {
			call(e, "preventDefault")
		}
	})
	listen(document, "drop", func(e safejs.Value) {
		show(false)
		if hasFiles(e) {
			call(e, "preventDefault")
			a.read(get(e, "dataTransfer", "files"))
		}
	})
	listen(document, "paste", func(e safejs.Value) {
		data := get(e, "clipboardData")
		if tag := text(e, "target", "tagName"); tag == "INPUT" || !exists(data) {
			return
		}
		if number(data, "files", "length") > 0 {
			a.read(get(data, "files"))
			return
		}
		s, err := call(data, "getData", "text").String()
		if err == nil && s != "" {
			a.Later(func() { a.open("pasted text", []byte(s)) })
		}
	})
}

// largeFile is the size in bytes above which a worker reads a file: copying the file through the page would block the
// page for a moment.
const largeFile = 4 << 20

// read opens the first of some files, or compares the first two.
func (a *files) read(files safejs.Value) {
	if number(files, "length") >= 2 {
		a.readTwo(get(files, "0"), get(files, "1"), int(number(files, "length")))
		return
	}
	file := get(files, "0")
	if !exists(file) {
		return
	}
	a.content(file, func(p state.PickFile) {
		if p.Handle != nil {
			a.openLarge(p.Name, file)
			return
		}
		a.Later(func() { a.open(p.Name, p.Bytes) })
	})
}

// readTwo compares the first two of several files.
func (a *files) readTwo(first, second safejs.Value, files int) {
	a.content(first, func(one state.PickFile) {
		a.content(second, func(two state.PickFile) {
			a.Post(state.PickFiles{A: one, B: two})
			if files > 2 {
				a.Post(state.Refuse{Text: fmt.Sprintf("Two files are compared: %s and %s. The other %d are left out.",
					one.Name, two.Name, files-2)})
			}
		})
	})
}

// content calls done with the content of a file, or with the handle of a large file.
func (a *files) content(file safejs.Value, done func(state.PickFile)) {
	name := text(file, "name")
	if number(file, "size") > largeFile {
		done(state.PickFile{Name: name, Handle: file})
		return
	}
	then(call(file, "arrayBuffer"), func(buffer safejs.Value) {
		done(state.PickFile{Name: name, Bytes: bytesOf(buffer)})
	}, func(reason safejs.Value) {
		a.Post(state.Refuse{Text: name + " cannot be read: " + text(reason, "message")})
	})
}

// open opens a file. A file that the page has saved restores its view; any other file is a profile.
func (a *files) open(name string, content []byte) {
	fragment, ok := link.In(content)
	if !ok {
		a.Do(state.PickFile{Name: name, Bytes: content})
		return
	}
	a.follow(fragment)
}

// openLarge opens a file that a worker reads. If the start or the end of the file contains a link that the page has
// saved, it follows the link.
func (a *files) openLarge(name string, file safejs.Value) {
	pick := func(safejs.Value) { a.Post(state.PickFile{Name: name, Handle: file}) }
	ends := []any{call(call(file, "slice", 0, link.Head), "arrayBuffer"),
		call(call(file, "slice", -link.Tail), "arrayBuffer")}
	then(call(global("Promise"), "all", ends), func(buffers safejs.Value) {
		if fragment, ok := link.InEnds(bytesOf(get(buffers, "0")), bytesOf(get(buffers, "1"))); ok {
			a.Later(func() { a.follow(fragment) })
			return
		}
		pick(buffers)
	}, pick)
}

// saver makes files of what is shown and makes the browser save them.
type saver struct{ *core }

// address returns the link that files contain.
func (a *saver) address() string {
	return a.page.Address(a.s, a.s.Sharing == nil || a.s.Sharing.Exact)
}

// save saves a file of what is shown, see state.SaveFile.
func (a *saver) save(kind string) {
	address := a.address()
	switch kind {
	case "png":
		a.png(address)
	case "html":
		a.html(address)
	default:
		a.offer(export.Of(a.s, kind, address))
	}
}

// offer saves f if ok is true.
func (a *saver) offer(f export.File, ok bool) {
	if ok {
		a.file(f)
	}
}

// file makes the browser save a file.
func (a *saver) file(f export.File) {
	blob, err := arrayOf(f.Bytes)
	if err == nil {
		blob, err = get(safejs.Global(), "Blob").New([]any{blob}, map[string]any{"type": f.Type})
	}
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
	a.Post(state.ShareNote{Text: "Saved " + f.Name + "."}) // has no effect while the dialog is closed
}

// schedule saves the schedule or plan that e asks for.
func (a *saver) schedule(j *jobs.Runner, e state.Export) {
	f := export.Schedule(a.s, e)
	say := func(text string) { a.Do(state.ShareNote{Text: text}) }
	if e.Kind == state.PlanFile {
		if a.s.Sharing == nil {
			say = a.tell
		}
		say("Looking for a plan…")
	}
	j.Export(e, a.address(), func(text []byte, err error) {
		if err != nil {
			say(format.Sentence(err.Error()))
			return
		}
		f.Bytes = text
		a.file(f)
		say("Saved " + f.Name + ".")
	})
}

// copyLine copies a line for a shell to the clipboard.
func (a *saver) copyLine(line string) {
	tell := func(note string) func() { return func() { a.Later(func() { a.tell(note) }) } }
	clip(line, tell("Copied: "+line), tell("This browser copies nothing for a page; type "+line))
}

// shown saves what is shown as a picture that contains the link.
func (a *saver) shown() {
	f, ok := export.Of(a.s, "svg", a.page.Address(a.s, true))
	if !ok {
		a.tell("There is no schedule to save yet.")
		return
	}
	a.file(f)
	a.tell("Saved " + f.Name + ". Other formats: Share.")
}

// tell shows a note for a while.
func (a *saver) tell(note string) {
	a.Do(state.Tell{Text: note})
	a.forget()
}

// pngRatio is the number of pixels of a saved picture per CSS pixel.
const pngRatio = 2

// png saves the figure as PNG.
func (a *saver) png(address string) {
	if a.s.Visible() == nil || a.s.Sharing == nil {
		return
	}
	theme := display.Light
	if a.s.Sharing.Theme == "dark" {
		theme = display.Dark
	}
	var scene draw.Scene
	export.Figure(&scene, a.s, a.s.Sharing.Exact)
	canvas := call(global("document"), "createElement", "canvas")
	colours := display.Palette(theme)
	if !paintOn(canvas, &scene, colours) {
		return
	}
	context := call(canvas, "getContext", "2d")
	call(context, "setTransform", 1, 0, 0, 1, 0, 0)
	set(context, "globalCompositeOperation", "destination-over")
	set(context, "fillStyle", colours[display.Surface])
	call(context, "fillRect", 0, 0, number(canvas, "width"), number(canvas, "height"))
	name := export.Name(a.s, "png")
	call(canvas, "toBlob", function(func(blob safejs.Value) {
		then(call(blob, "arrayBuffer"), func(buffer safejs.Value) {
			png := link.WithPNG(bytesOf(buffer), address)
			a.Later(func() { a.file(export.File{Name: name, Type: "image/png", Bytes: png}) })
		}, func(safejs.Value) {})
	}), "image/png")
}

// paintOn paints a scene on a canvas of its own. It reports whether that succeeded.
func paintOn(canvas safejs.Value, scene *draw.Scene, colours []string) bool {
	var palette []any
	for _, c := range colours {
		palette = append(palette, c)
	}
	buffer := scene.AppendBuffer(nil)
	array, err := arrayOf(buffer)
	if err == nil {
		_, err = global("memtidePaint").Invoke(array, palette, pngRatio, canvas, get(array, "length"))
	}
	if err != nil {
		complain("picture", err)
	}
	return err == nil
}

// singleFile is the name of the page in one file, in the folder of the page.
const singleFile = "memtide.html"

// html saves the page in one file that opens address.
func (a *saver) html(address string) {
	_, fragment, _ := strings.Cut(address, "#")
	failed := func(safejs.Value) {
		a.Post(state.ShareNote{Text: "The page in one file cannot be fetched. If this is that file already, send it with the link."})
	}
	name := export.Name(a.s, "html")
	then(call(safejs.Global(), "fetch", a.page.Folder()+singleFile), func(response safejs.Value) {
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
			a.Later(func() { a.file(export.File{Name: name, Type: "text/html", Bytes: page}) })
		}, failed)
	}, failed)
	a.Do(state.ShareNote{Text: "Fetching the page…"})
}
