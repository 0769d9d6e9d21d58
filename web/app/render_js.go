package app

import (
	realjs "syscall/js"

	"github.com/hack-pad/safejs"
	"github.com/vugu/vugu"
	"github.com/vugu/vugu/js"

	"memtide/web/dom"
)

// renderer draws the components.
type renderer struct {
	env    *vugu.BuildEnv
	tree   dom.Tree
	script safejs.Value // memtideDOM
}

func (r *renderer) init() error {
	var err error
	r.env, err = vugu.NewBuildEnv()
	r.script = global("memtideDOM")
	return err
}

// draw brings the page to what the components say now. If that fails, which takes
// somebody else who changes the page, it starts from what is there.
func (r *renderer) draw(root vugu.Builder, m *meter) error {
	m.begin()
	results := r.env.RunBuild(root)
	m.end("build")
	err := r.apply(results, m)
	if err != nil {
		complain("components", err)
		r.tree.Forget()
		err = r.apply(results, m)
	}
	return err
}

// apply carries out in one crossing what differs, and gives new elements away.
func (r *renderer) apply(results *vugu.BuildResults, m *meter) error {
	instructions, hosts, err := r.tree.Update(results)
	if err != nil {
		return err
	}
	m.end("write")
	if _, err := r.script.Call("update", string(instructions)); err != nil {
		return err
	}
	m.end("apply")
	for _, h := range hosts {
		if element := call(r.script, "node", h.ID); exists(element) {
			h.Handler.JSValueHandle(js.Value(realjs.Value(safejs.Unsafe(element))))
		}
	}
	return nil
}

// meter writes down in the browser's timeline how long the parts of a drawing
// take, if a measurement has asked for it before the page was opened.
type meter struct {
	on bool
	at float64
}

func (m *meter) init() { m.on = truth(safejs.Global(), "memtideMeasure") }

// begin is the beginning of the first part.
func (m *meter) begin() {
	if m.on {
		m.at = now()
	}
}

// end is the end of a part and the beginning of the next.
func (m *meter) end(part string) {
	if !m.on {
		return
	}
	at := now()
	call(global("performance"), "measure", "memtide:"+part, map[string]any{"start": m.at, "end": at})
	m.at = now()
}
