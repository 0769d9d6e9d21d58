package doctor

import (
	"cmp"
	"slices"

	"memtide/engine"
	"memtide/profiles"
)

// Comparison describes two recordings on one axis, each at its decisive moment.
type Comparison struct {
	First      *Report      `json:"first"`
	Second     *Report      `json:"second"`
	Axis       Axis         `json:"axis"`     // of both curves
	End        int64        `json:"axis_end"` // end of the longer recording
	Sites      []Difference `json:"sites"`    // the largest differences
	OtherSites Difference   `json:"other_sites"`
	Categories []Difference `json:"categories"`
}

// Axis is the unit of the horizontal axis of a curve.
type Axis string

// The axes.
const (
	ByTime  Axis = "time_us"
	ByEvent Axis = "event"
)

// Difference is the memory that a place in the program, or a category, has in use in each of two recordings.
type Difference struct {
	Name   string       `json:"name"`
	First  engine.Bytes `json:"first_bytes"`
	Second engine.Bytes `json:"second_bytes"`
}

// More returns how many more bytes the second recording has.
func (d *Difference) More() engine.Bytes { return d.Second - d.First }

// Compare examines two recordings and returns their differences. The errors are those of Examine.
func Compare(first, second *profiles.Profile, poll *engine.Poll) (*Comparison, error) {
	return profiles.Try(func() *Comparison {
		a, err := Read(first)
		profiles.End(err)
		b, err := Read(second)
		profiles.End(err)
		c := a.Against(b)
		c.First.Replays, c.First.Advice = a.replays(poll)
		c.Second.Replays, c.Second.Advice = b.replays(poll)
		return c
	})
}

// Against compares r with a second recording, without replays.
func (r *Recording) Against(second *Recording) *Comparison {
	c := &Comparison{Axis: ByEvent}
	if r.history.Times != nil && second.history.Times != nil {
		c.Axis = ByTime
	}
	var sites, categories [2]map[string]engine.Bytes
	for i, x := range []*Recording{r, second} {
		report := x.Report(Decisive)
		sites[i], categories[i] = map[string]engine.Bytes{}, map[string]engine.Bytes{}
		for _, s := range x.sites(report.Alive.At) {
			sites[i][s.Site] += s.Bytes
		}
		for _, s := range report.Alive.Categories {
			categories[i][string(s.Category)] += s.Bytes
		}
		if i == 0 {
			c.First = report
		} else {
			c.Second = report
		}
		last := int64(len(x.Requests.Events))
		if c.Axis == ByTime {
			last = x.history.Times[last-1]
		}
		c.End = max(c.End, last)
	}
	c.Sites, c.Categories = differences(sites), differences(categories)
	if n := len(c.Sites); n > mostSites {
		for _, d := range c.Sites[mostSites:] {
			c.OtherSites.First, c.OtherSites.Second = c.OtherSites.First+d.First, c.OtherSites.Second+d.Second
		}
		c.Sites = c.Sites[:mostSites]
	}
	return c
}

// differences returns the names in either map with both sizes, the largest difference first.
func differences(of [2]map[string]engine.Bytes) (list []Difference) {
	for name, n := range of[0] {
		list = append(list, Difference{name, n, of[1][name]})
	}
	for name, n := range of[1] {
		if _, ok := of[0][name]; !ok {
			list = append(list, Difference{name, 0, n})
		}
	}
	size := func(d Difference) engine.Bytes { return max(d.More(), -d.More()) }
	slices.SortFunc(list, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(a.Name, b.Name))
	})
	return list
}
