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
