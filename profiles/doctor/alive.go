package doctor

import (
	"cmp"
	"slices"

	"memtide/engine"
	"memtide/profiles"
)

// Alive is what is in use after an event.
type Alive struct {
	At         int          `json:"at"`
	Time       int64        `json:"time_us,omitempty"`
	Bytes      engine.Bytes `json:"bytes"` // as asked for
	Count      int          `json:"count"`
	Categories []Share      `json:"categories"`
	Sites      []Site       `json:"sites"` // the largest
	OtherSites Site         `json:"other_sites"`
	Flame      *Flame       `json:"flame"`
}

// Share is what a category has in use. Guessed is what of it no stack told.
type Share struct {
	Category Category     `json:"category"`
	Bytes    engine.Bytes `json:"bytes"`
	Count    int          `json:"count"`
	Guessed  engine.Bytes `json:"guessed_bytes"`
}

// Site is what one place in the program has in use. The category is that of most bytes.
type Site struct {
	Site     string       `json:"site"`
	Category Category     `json:"category,omitempty"`
	Bytes    engine.Bytes `json:"bytes"`
	Count    int          `json:"count"`
}

// Flame is a flame graph: what was asked for within a call, and by the calls within it,
// the largest first. What is too small to be seen is left out of Calls; the bytes of a
// call contain it. The category is that of most bytes.
type Flame struct {
	Name     string       `json:"name"`
	Category Category     `json:"category"`
	Bytes    engine.Bytes `json:"bytes"`
	Calls    []*Flame     `json:"calls,omitempty"`
}

// Bounds of what is told about a moment: sites, and the share of a call that is shown.
const (
	mostSites  = 30
	leastShare = 200
)

// Alive returns what is in use after an event, or at the Decisive moment; after the first or
// the last one if there is no such event.
func (r *Recording) Alive(at int) *Alive {
	if at == Decisive {
		at = r.facts.PeakAt
		if r.facts.Failure != nil {
			at = r.facts.Failure.At
		}
	}
	a := &Alive{At: max(0, min(at, r.facts.Events-1))}
	at = a.At
	if r.history.Times != nil {
		a.Time = r.history.Times[at]
	}
	var shares [len(parts{})]Share
	byStack := make([]parts, len(r.history.Stacks.Calls))
	for i := range r.Requests.Buffers {
		if !r.Lives(i, at) {
			continue
		}
		n, k := r.Requests.Buffers[i].Bytes, r.kinds[i]
		c := slices.Index(Categories, k.category)
		s := &shares[c]
		s.Category, s.Bytes, s.Count = k.category, s.Bytes+n, s.Count+1
		if k.guessed {
			s.Guessed += n
		}
		a.Bytes, a.Count = a.Bytes+n, a.Count+1
		byStack[r.history.Stack[i]][c] += n
	}
	for _, s := range shares {
		if s.Count > 0 {
			a.Categories = append(a.Categories, s)
		}
	}
	a.Sites = r.sites(at)
	if n := len(a.Sites); n > mostSites {
		for _, s := range a.Sites[mostSites:] {
			a.OtherSites.Bytes, a.OtherSites.Count = a.OtherSites.Bytes+s.Bytes, a.OtherSites.Count+s.Count
		}
		a.Sites = a.Sites[:mostSites]
	}
	a.Flame = flame(&r.history.Stacks, byStack)
	return a
}

// sites returns all places with something in use after an event, the largest first.
func (r *Recording) sites(at int) (list []Site) {
	held, kinds := map[string]*Site{}, map[string]*parts{}
	for i := range r.Requests.Buffers {
		if !r.Lives(i, at) {
			continue
		}
		site := r.site(i)
		if held[site] == nil {
			held[site], kinds[site] = &Site{Site: site}, &parts{}
		}
		n := r.Requests.Buffers[i].Bytes
		held[site].Bytes, held[site].Count = held[site].Bytes+n, held[site].Count+1
		kinds[site][slices.Index(Categories, r.kinds[i].category)] += n
	}
	for site, s := range held {
		s.Category = kinds[site].category()
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b Site) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Site, b.Site))
	})
	return list
}

// parts are bytes by category, in the order of Categories.
type parts [6]engine.Bytes

func (p *parts) total() (sum engine.Bytes) {
	for _, n := range p {
		sum += n
	}
	return sum
}

// category returns that of most bytes.
func (p *parts) category() Category {
	best := 0
	for i, n := range p {
		if n > p[best] {
			best = i
		}
	}
	return Categories[best]
}

// flame adds up the bytes of stacks along their calls. Stacks come after those that
// they begin with. It adds up in place.
func flame(s *profiles.Stacks, sums []parts) *Flame {
	own := sums[0]
	for i := len(sums) - 1; i > 0; i-- {
		for k, n := range sums[i] {
			sums[s.Calls[i].Parent][k] += n
		}
	}
	all := sums[0].total()
	root := &Flame{Name: "all", Category: sums[0].category(), Bytes: all}
	nodes := make([]*Flame, len(sums))
	nodes[0] = root
	for i := 1; i < len(sums); i++ {
		up, n := nodes[s.Calls[i].Parent], sums[i].total()
		if up == nil || n == 0 || n < all/leastShare {
			continue
		}
		nodes[i] = &Flame{Name: s.Frames[s.Calls[i].Frame].Text(), Category: sums[i].category(), Bytes: n}
		up.Calls = append(up.Calls, nodes[i])
	}
	if n := own.total(); n > 0 {
		root.Calls = append(root.Calls, &Flame{Name: "no stack recorded", Category: own.category(), Bytes: n})
	}
	for _, n := range nodes {
		if n != nil {
			slices.SortStableFunc(n.Calls, func(a, b *Flame) int { return cmp.Compare(b.Bytes, a.Bytes) })
		}
	}
	return root
}
