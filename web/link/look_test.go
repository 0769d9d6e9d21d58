package link

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestViewKeys checks that the keys of unfolded parts and of the critical chain are parsed, and written in
// canonical form. Bad values give notes, and values that were once valid are ignored.
func TestViewKeys(t *testing.T) {
	const p = "v=1&p=resnet101-b32"
	for _, c := range []struct {
		in, out string // an empty out means the same as in
		want    Link
		note    string
	}{
		{in: p + "&chain=1", want: Link{Look: Look{Chain: true}}},
		{in: p + "&chain=0", out: p},
		{in: p + "&open=questions,layers", out: p + "&open=layers",
			want: Link{Look: Look{Folds: Folds{LayerList: true}}}},
		{in: p + "&open=questions", out: p},
		{in: p + "&open=TABLE,table", out: p + "&open=table", want: Link{Look: Look{Folds: Folds{Table: true}}}},
		{in: p + "&slow=7.5%25", out: p},
		{in: p + "&chain=1&open=table&slow=5%25", out: p + "&chain=1&open=table",
			want: Link{Look: Look{Chain: true, Folds: Folds{Table: true}}}},
		{in: p + "&at=412.5", want: Link{Look: Look{Playhead: 412500 * time.Microsecond}}},
		{in: p + "&at=0", out: p},
		{in: p + "&at=noon", out: p,
			note: `at: "noon" is not a time; expected milliseconds from the start of the step, such as 412.5`},
		{in: p + "&show=time,curve,mem", want: Link{Look: Look{Frame: Frame{Show: []string{"time", "curve", "mem"}}}}},
		{in: p + "&show=Timeline,curve,memory,mem,layers,addresses", out: p + "&show=time,curve,mem,strip,addr",
			want: Link{Look: Look{Frame: Frame{Show: []string{"time", "curve", "mem", "strip", "addr"}}}}},
		{in: p + "&show=cellar", out: p,
			note: `show: "cellar" is not a part of the page; expected some of strip, time, mem, curve, addr, table`},
		{in: p + "&open=memory", out: p, note: `open: "memory" is not a part of the page that unfolds`},
		{in: p + "&open=cellar", out: p,
			note: `open: "cellar" is not a part of the page that unfolds; expected some of lines, layers, table`},
	} {
		got, notes := Parse(c.in)
		if c.want.Preset = "resnet101-b32"; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: link %+v; want %+v", c.in, got, c.want)
		}
		if all := strings.Join(notes, "|"); (all == "") != (c.note == "") || !strings.HasPrefix(all, c.note) {
			t.Errorf("%s: notes %q; want %q", c.in, notes, c.note)
		}
		if c.out == "" {
			c.out = c.in
		}
		if s := got.String(); s != c.out {
			t.Errorf("%s is written as %s; want %s", c.in, s, c.out)
		}
	}
}
