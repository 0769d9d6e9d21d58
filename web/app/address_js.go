package app

import (
	"strings"

	"github.com/hack-pad/safejs"

	"memtide/web/choice"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
)

// address keeps the address bar equal to the permalink.
type address struct {
	*core
	fragment string       // as written last
	graph    state.Source // the last open file without a chain, which is too long for links
	held     state.Source // the last open file of side B that was too long for the link
	altered  bool         // a person has edited the address: it gets a new checksum when it is shown
	due      *link.Link   // the link to write into the present entry of the history; nil if it is up to date
	timed    bool         // flush is scheduled
	dueAt    float64      // when due was set last, see now
	wroteAt  float64      // time of the last rewrite of an entry
	at, last int          // numbers of the present and of the last entry of the history that belong to this page
}

// Browsers refuse more than some hundred rewrites of the address in half a minute, and Chromium reads the page's icon
// again after each. All are milliseconds.
const (
	writeEvery  = 250 // the least time between two rewrites
	writeMoving = 800 // likewise while a slider is dragged
	writeCalm   = 100 // the link must not have changed for that long, unless the last rewrite is writeMoving ago
)

func (d *address) init() {
	d.fragment = strings.TrimPrefix(text(global("location"), "hash"), "#")
	if d.s.View.Frame.Embed { // embed handles the address of a view
		return
	}
	follow := func(safejs.Value) { d.Later(d.follow) }
	listen(safejs.Global(), "popstate", follow)
	listen(safejs.Global(), "hashchange", follow)
}

// follow opens the address in the address bar.
func (d *address) follow() {
	hash := strings.TrimPrefix(text(global("location"), "hash"), "#")
	if hash == d.fragment {
		return
	}
	d.fragment = hash
	d.due = nil // it belongs to another entry
	d.at = int(number(global("history", "state"), "memtide"))
	d.last = max(d.last, d.at)
	l, m, notes := permalink.Read(hash)
	m.Frame.Embed, m.Frame.Control = false, "" // a page does not become a view, see embed
	if l.Kind == "graph" && l.Preset == "" && l.Profile == nil && d.graph.Profile != nil {
		m.Choice.Source, notes = d.graph, nil // the graph that this page has read
		if l.Budget.Bytes > 0 {
			m.Choice.Budget = choice.Budget{Bytes: l.Budget.Bytes}
		}
	}
	if l.B != nil && l.B.From == choice.FromFile && d.held.Profile != nil {
		m.B, notes = permalink.BackToB(l.B, m.Choice, d.held), nil
	}
	if len(notes) > 0 && l.Preset == "" && l.Profile == nil &&
		!permalink.Empty(d.s) { // the link is cut or damaged, so that no key of it is used
		d.Do(state.Refuse{Text: permalink.Refusal(notes) + " What was shown stays."})
		return
	}
	d.page.Keep = l
	d.altered = link.Altered(hash)
	d.Do(state.Navigate(m))
	if len(notes) > 0 {
		_, _, notes = permalink.Follow(hash)
		d.Do(state.Refuse{Text: strings.Join(notes, "\n")})
	}
}

// write writes the link into the address bar. With state.Push it adds an entry to the history immediately. Otherwise
// it changes the present entry soon.
func (d *address) write(h state.History) {
	if d.s.View.Frame.Embed {
		return
	}
	if h == state.Push {
		d.flush() // Back returns to the state before the decision
		d.record("pushState", d.link())
		return
	}
	if d.due, d.dueAt = d.link(), now(); d.timed {
		return
	}
	d.timed = true
	d.flushIn(max(d.wroteAt+writeEvery-now(), 0))
}

// flushIn calls flush in ms milliseconds, or later while the link still changes.
func (d *address) flushIn(ms float64) {
	after(int(ms), func() {
		d.Later(func() {
			if now() < min(d.dueAt+writeCalm, d.wroteAt+writeMoving) {
				d.flushIn(writeCalm)
				return
			}
			d.timed = false
			d.flush()
		})
	})
}

// renew writes an address that a person has edited again when it has been opened, so that its checksum is right.
func (d *address) renew() {
	if d.altered && d.s.Opening == nil && !permalink.Empty(d.s) {
		d.altered = false
		d.write(state.Replace)
	}
}

// flush writes due, if it is not nil.
func (d *address) flush() {
	if l := d.due; l != nil {
		d.due, d.wroteAt = nil, now()
		d.record("replaceState", l)
	}
}

// link returns the link of what is shown.
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

// record writes a link into the history with method, unless it is there already.
func (d *address) record(method string, l *link.Link) {
	if fragment := l.Sealed(); fragment != d.fragment {
		d.fragment = fragment
		d.call(method, fragment)
	}
}

// call writes an entry of the history. It removes a query from the address, because the fragment replaces it.
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

// open follows the link in a file. It removes the keys that would make the page a view: going back to that address
// would load a view, which answers any page that contains it.
func (d *address) open(fragment string) {
	d.flush()
	d.call("pushState", permalink.WithoutEmbed(fragment))
	d.follow()
}

// undo goes back in the history, or with again forward, but never to another page.
func (d *address) undo(again bool) {
	d.flush()
	switch {
	case again && d.at < d.last:
		call(global("history"), "forward")
	case !again && d.at > 0:
		call(global("history"), "back")
	}
}

// copy copies the link to the clipboard.
func (d *address) copy() {
	if !d.s.View.Frame.Embed {
		d.due = d.link()
		d.flush()
	}
	clip(text(global("location"), "href"), func() { d.Post(state.Copied{}) },
		func() {
			d.Post(state.Copied{Say: "The browser does not let the page copy. The address bar holds the link."})
		})
}
