package link

import "memtide/profiles"

// about writes what a profile says of itself.
func (w *writer) about(p *profiles.Profile) {
	for _, s := range []string{p.Name, p.DType, p.Format, p.Source.Tool, string(p.Source.Times), string(p.Source.Sizes), p.Source.Device, p.Source.URL} {
		w.text(s)
	}
	w.texts(p.Source.Notes)
	w.texts(p.Warnings)
	w.device(p.Device)
}

// about reads what about wrote.
func (r *bodyReader) about() *profiles.Profile {
	p := &profiles.Profile{}
	var times, sizes string
	for _, s := range []*string{&p.Name, &p.DType, &p.Format, &p.Source.Tool, &times, &sizes, &p.Source.Device} {
		*s = r.name("a name")
	}
	p.Source.URL = r.text("the URL")
	p.Source.Times, p.Source.Sizes = profiles.Origin(times), profiles.Origin(sizes)
	p.Source.Notes, p.Warnings = r.texts("notes"), r.texts("warnings")
	p.Device = r.device()
	return p
}
