package app

import (
	"strings"

	"github.com/hack-pad/safejs"

	"memtide/web/choice"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui"
)

// address keeps the address bar being the permalink.
type address struct {
	*core
	fragment string       // as written last
	graph    state.Source // the file without a chain that was open last, which no link holds
	held     state.Source // the file of side B that was open last and that no link holds
	altered  bool         // it has been changed by hand: it gets a new checksum once it is shown
	due      *link.Link   // what the present entry of the history is to say, nil if it says that
	timed    bool         // it is going to be written
	wroteAt  float64      // when an entry was rewritten last, as now tells it
	at, last int          // the present entry of the history and the last one, of those of this page
}

// writeEvery is the least time between two rewrites of the address in
// milliseconds: browsers refuse more than some hundred in half a minute.
const writeEvery = 250

func (d *address) init() {
	d.fragment = strings.TrimPrefix(text(global("location"), "hash"), "#")
	if d.s.View.Frame.Embed { // the address of a view is its page's, see embed
		return
	}
	follow := func(safejs.Value) { d.Later(d.follow) }
	listen(safejs.Global(), "popstate", follow)
	listen(safejs.Global(), "hashchange", follow)
}

// follow goes where the address bar says.
func (d *address) follow() {
	hash := strings.TrimPrefix(text(global("location"), "hash"), "#")
	if hash == d.fragment {
		return
	}
	d.fragment = hash
	d.due = nil // what was to be written belongs to another entry
	d.at = int(number(global("history", "state"), "memtide"))
	d.last = max(d.last, d.at)
	l, m, notes := permalink.Read(hash)
	m.Frame.Embed, m.Frame.Control = false, "" // a view is one from its start, see embed
	if l.Kind == "graph" && l.Preset == "" && l.Profile == nil && d.graph.Profile != nil {
		m.Choice.Source, notes = d.graph, nil // back to a graph that this page has read
		if l.Budget.Bytes > 0 {
			m.Choice.Budget = choice.Budget{Bytes: l.Budget.Bytes}
		}
	}
	if l.B != nil && l.B.From == choice.FromFile && d.held.Profile != nil {
		m.B, notes = permalink.BackToB(l.B, m.Choice, d.held), nil
	}
	if len(notes) > 0 && l.Preset == "" && l.Profile == nil &&
		!permalink.Empty(d.s) { // cut or damaged; a bad value drops only itself
		d.Do(state.Refuse{Text: ui.Refused(permalink.Refusal(notes))})
		return
	}
	d.page.Keep = l
	d.altered = link.Altered(hash)
	d.Do(state.Navigate(m))
	if len(notes) > 0 { // nothing has been read yet
		_, _, notes = permalink.Follow(hash)
		d.Do(state.Refuse{Text: strings.Join(notes, "\n")})
	}
}

// write puts the choice into the address bar: as a new entry of the history, or in
// place of the present one. That is done in a moment, and again after writeEvery if
// there is more by then, as while something is dragged.
func (d *address) write(h state.History) {
	if d.s.View.Frame.Embed {
		return
	}
	if h == state.Push {
		d.flush() // what was set before the decision is what Back comes to
		d.record("pushState", d.link())
		return
	}
	if d.due = d.link(); d.timed {
		return
	}
	d.timed = true
	after(int(max(d.wroteAt+writeEvery-now(), 0)), func() {
		d.Later(func() {
			d.timed = false
			d.flush()
		})
	})
}

// renew writes an address that was changed by hand anew, once what it says is
// shown: whoever passes it on passes on no checksum of something else.
func (d *address) renew() {
	if d.altered && d.s.Opening == nil && !permalink.Empty(d.s) {
		d.altered = false
		d.write(state.Replace)
	}
}

// flush writes what is due.
func (d *address) flush() {
	if l := d.due; l != nil {
		d.due, d.wroteAt = nil, now()
		d.record("replaceState", l)
	}
}

// link returns what the address bar is to say.
func (d *address) link() *link.Link {
	l := permalink.Of(d.s, d.page.Keep)
	a, b := d.s.AB()
	if n := a.Network; n != nil && n.Source.Preset == "" && n.Profile.Chain == nil {
		d.graph = n.Source
	}
	if b != nil && b.Network != nil && l.B != nil && l.B.From == choice.FromFile {
		d.held = b.Network.Source
	}
	return &l
}

// record writes a link into the history, unless that is what it says.
func (d *address) record(method string, l *link.Link) {
	if fragment := l.Sealed(); fragment != d.fragment {
		d.fragment = fragment
		d.call(method, fragment)
	}
}

// call writes an entry of the history. What a query said is in the fragment now.
func (d *address) call(method, fragment string) {
	if method == "pushState" {
		d.at++
		d.last = d.at
	}
	to := "#" + fragment
	if query := text(global("location"), "search"); link.Of(query, "") != "" {
		to = text(global("location"), "pathname") + to
	}
	call(global("history"), method, map[string]any{"memtide": d.at}, "", to)
}

// open goes to the fragment in a file, as if it were a link that was clicked. It
// never makes a view of the page: what is in the address bar is read again, when
// somebody goes back to it, by a page that would answer whoever frames it.
func (d *address) open(fragment string) {
	d.flush()
	d.call("pushState", permalink.WithoutEmbed(fragment))
	d.follow()
}

// undo goes back to the choice before the last decision, or forward again, but
// never out of the page.
func (d *address) undo(again bool) {
	d.flush()
	switch {
	case again && d.at < d.last:
		call(global("history"), "forward")
	case !again && d.at > 0:
		call(global("history"), "back")
	}
}

// copy puts the link into the clipboard, where the browser allows it.
func (d *address) copy() {
	if !d.s.View.Frame.Embed {
		d.due = d.link()
		d.flush()
	}
	clip(text(global("location"), "href"), func() { d.Post(state.Copied{}) },
		func() { d.Post(state.Copied{Say: ui.CopyFromAddress}) })
}
