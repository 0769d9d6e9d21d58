package permalink

import (
	"strings"

	"memtide/web/link"
	"memtide/web/state"
)

// Page is where the page lies and what it was opened with.
type Page struct {
	Base string    // its address, without query and fragment; of a file, the site's that it is from, or empty
	File bool      // it was opened from a disk
	Keep link.Link // that it was opened with
}

// Locate says where the page lies. A file on a disk has an address that means
// nothing to others and names folders of its owner: what is shared from there leads
// to the site that the file is from.
func (p *Page) Locate(href, site string) {
	p.Base, _, _ = strings.Cut(href, "#")
	p.Base, _, _ = strings.Cut(p.Base, "?")
	if p.File = !strings.HasPrefix(p.Base, "http"); p.File {
		p.Base = site
	}
}

// Docs returns where the documentation lies, or the empty string if unknown.
func (p *Page) Docs() string {
	switch {
	case p == nil || !p.File:
		return "docs/"
	case p.Base == "":
		return ""
	}
	return p.Folder() + "docs/"
}

// Address returns the address of exactly what is shown, or, if exact is false,
// without the visible range and the selection.
func (p *Page) Address(s *state.State, exact bool) string {
	return p.Base + "#" + p.fragment(s, exact)
}

func (p *Page) fragment(s *state.State, exact bool) string {
	l := Of(s, p.Keep)
	if !exact {
		l.Range, l.Wanted, l.Playhead = link.Range{}, "", 0
	}
	return l.Sealed()
}

// Folder returns where the files of the site lie.
func (p *Page) Folder() string { return p.Base[:strings.LastIndexByte(p.Base, '/')+1] }
