package app

import (
	"github.com/hack-pad/safejs"

	"memtide/web/link"
	"memtide/web/state"
	"memtide/web/ui"
)

// files opens what is dropped, pasted or chosen.
type files struct {
	*core
	follow func(fragment string) // goes to a link that is in a file
}

// listen takes files that are dropped or pasted anywhere. A view takes none:
// its host may ask what is open.
func (a *files) listen() {
	document := global("document")
	root := get(document, "documentElement", "dataset")
	depth := 0
	hasFiles := func(e safejs.Value) bool {
		types := get(e, "dataTransfer", "types")
		return exists(types) && truth(call(types, "includes", "Files"))
	}
	show := func(on bool) {
		if on {
			set(root, "drop", "true")
		} else {
			set(root, "drop", "false")
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
			a.Later(func() { a.open(ui.PastedText, []byte(s)) })
		}
	})
}

// largeFile is the size in bytes above which a file is read by a worker: copying
// it through the page would stop the page for a moment.
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
				a.Post(state.BadLink{Text: ui.TwoOf(one.Name, two.Name, files)})
			}
		})
	})
}

// content gives a file to done: what is in it or, of a large one, the file itself.
func (a *files) content(file safejs.Value, done func(state.PickFile)) {
	name := text(file, "name")
	if number(file, "size") > largeFile {
		done(state.PickFile{Name: name, Handle: file})
		return
	}
	then(call(file, "arrayBuffer"), func(buffer safejs.Value) {
		done(state.PickFile{Name: name, Bytes: bytesOf(buffer)})
	}, func(reason safejs.Value) {
		a.Post(state.BadLink{Text: ui.Unreadable(name, text(reason, "message"))})
	})
}

// open opens a file: what the page has saved restores what it showed,
// everything else is a profile.
func (a *files) open(name string, content []byte) {
	fragment, ok := link.In(content)
	if !ok {
		a.Do(state.PickFile{Name: name, Bytes: content})
		return
	}
	a.follow(fragment)
}

// openLarge opens a file that a worker reads, unless its ends say what the page has
// saved in it.
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
