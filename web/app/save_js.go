package app

import (
	"strings"

	"github.com/hack-pad/safejs"

	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/jobs"
	"memtide/web/link"
	"memtide/web/state"
	"memtide/web/ui"
	"memtide/web/ui/export"
	"memtide/web/ui/snapshot"
	"memtide/web/ui/step"
)

// saver makes files of what is shown and has the browser save them.
type saver struct{ *core }

// address returns that of what is shared.
func (a *saver) address() string {
	return a.page.Address(a.s, a.s.Sharing == nil || a.s.Sharing.Exact)
}

// save saves a file of what is shown.
func (a *saver) save(kind string) {
	address := a.address()
	switch kind {
	case "png":
		a.png(address)
	case "html":
		a.html(address)
	default:
		if f, ok := export.Of(a.s, kind, address); ok {
			a.file(f)
		}
	}
}

// file has the browser save a file.
func (a *saver) file(f export.File) {
	array, err := arrayOf(f.Bytes)
	if err != nil {
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
	a.Post(state.ShareNote{Text: ui.Saved(f.Name)}) // heard if the dialog is open
}

// schedule has the schedule written down, or a plan found, and saves the file.
func (a *saver) schedule(j *jobs.Runner, e state.Export) {
	f := export.Schedule(a.s, e)
	say := func(text string) { a.Do(state.ShareNote{Text: text}) }
	if e.Kind == state.PlanFile {
		if a.s.Sharing == nil {
			say = a.tell
		}
		say(ui.FindingPlan)
	}
	j.Export(e, a.address(), func(text []byte, err error) {
		if err != nil {
			say(format.Sentence(err.Error()))
			return
		}
		f.Bytes = text
		a.file(f)
		say(ui.Saved(f.Name))
	})
}

// layers saves the table of layers as a file, as it is sorted and filtered.
func (a *saver) layers() {
	if f, ok := export.Layers(a.s, a.page.Address(a.s, true)); ok {
		a.file(f)
	}
}

// flame saves the flame graph of a snapshot.
func (a *saver) flame() {
	if f, ok := snapshot.FlameFile(a.s); ok {
		a.file(f)
	}
}

// passes saves the picture of a pipeline.
func (a *saver) passes() {
	if f, ok := step.PassesFile(a.s); ok {
		a.file(f)
	}
}

// copyLine puts a line that is to be typed elsewhere into the clipboard.
func (a *saver) copyLine(line string) {
	tell := func(note string) func() { return func() { a.Later(func() { a.tell(note) }) } }
	clip(line, tell(snapshot.LineCopied(line)), tell(snapshot.LineToType(line)))
}

// shown saves what is shown as a picture, which opens it again.
func (a *saver) shown() {
	f, ok := export.Of(a.s, "svg", a.page.Address(a.s, true))
	if !ok {
		a.tell(ui.NothingToSave)
		return
	}
	a.file(f)
	a.tell(ui.SavedPicture(f.Name))
}

// tell shows what a shortcut did, for a while.
func (a *saver) tell(note string) {
	a.Do(state.Tell{Text: note})
	a.forget()
}

// pngRatio is how many pixels of a saved picture a CSS pixel has.
const pngRatio = 2

// png paints the figure on a canvas of its own.
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
	if !paintOn(canvas, &scene, colours, pngRatio) {
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

// paintOn paints a scene on a canvas in the colours of a theme.
func paintOn(canvas safejs.Value, scene *draw.Scene, colours []string, ratio float64) bool {
	var palette []any
	for _, c := range colours {
		palette = append(palette, c)
	}
	buffer := scene.AppendBuffer(nil)
	array, err := arrayOf(buffer)
	if err == nil {
		_, err = global("memtidePaint").Invoke(array, palette, ratio, canvas, get(array, "length"))
	}
	if err != nil {
		complain("picture", err)
	}
	return err == nil
}

// singleFile is the page in one file, beside the page.
const singleFile = "memtide.html"

// html saves the page in one file, opening with the link.
func (a *saver) html(address string) {
	_, fragment, _ := strings.Cut(address, "#")
	failed := func(safejs.Value) {
		a.Post(state.ShareNote{Text: ui.NoSinglePage})
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
	a.Do(state.ShareNote{Text: ui.FetchingPage})
}
