//go:build !js

package names

import (
	"testing"

	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

func TestTitle(t *testing.T) {
	s := pagetest.First(t)
	name := s.Network.Profile.Name
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"alone", func() {}, name + ": Best choice of blocks in 2.58 GiB – memtide"},
		{"two budgets", func() { s.Update(state.ToggleCompare{}) }, name + ": Best choice of blocks, A against B – memtide"},
		{"two strategies", func() { s.Update(state.SetStrategy{Name: "greedy"}) }, name + ": Best choice of blocks against Greedy offload – memtide"},
		{"a title of the link", func() { s.View.Frame.Title = "Mine" }, "Mine – memtide"},
	} {
		c.do()
		if got := PageTitle(s); got != c.want {
			t.Errorf("%s: %q; want %q", c.name, got, c.want)
		}
	}
}
