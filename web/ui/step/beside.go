package step

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/js"

	"memtide/profiles/llm/ask"
	"memtide/web/format"
)

// besideView returns the choice of an order of passes to compare with, and below it the picture of that order.
func (c *View) besideView() *vugu.VGNode {
	now, others := c.S.View.Beside, c.S.OtherOrders()
	if !slices.Contains(others, now) {
		now = ""
	}
	var list strings.Builder
	for _, order := range append([]string{""}, others...) {
		selected := ""
		if order == now {
			selected = " selected"
		}
		fmt.Fprintf(&list, `<option value="%s"%s>%s</option>`, order, selected,
			html.EscapeString(cmp.Or(ask.Words("schedule", order), "no other order")))
	}
	_, x, failed := c.S.Beside()
	n := element("div", attr("class", "beside"), element("label", nil, element("span", nil, "Compare with"),
		element("select", attr("data-do", "beside", "data-testid", "beside"), vugu.HTML(list.String()))))
	if now == "" {
		return n
	}
	say, height := "…", 0.0
	switch {
	case failed != "":
		say = "There is no answer to B: " + failed
	case x == nil: // room for the picture
		height = c.S.Passes().Height()
	default:
		say, height = c.Differs(), x.Height()
	}
	host := element("div", attr("class", "host", "data-testid", "passes-b", "role", "img", "aria-label", say, "style",
		fmt.Sprintf("height:%gpx", height)))
	host.JSCreateHandler = vugu.JSValueFunc(func(value js.Value) { c.Hosts.Give("passes-b", value) })
	n.AppendChild(element("p", attr("class", "note", "aria-live", "polite", "data-testid", "beside-say"), say))
	n.AppendChild(host)
	return n
}

// Differs returns a sentence on how the order B differs from the chosen one, A, in time and in the memory of its
// fullest rank. It is empty until B is there.
func (c *View) Differs() string {
	a := c.reply()
	b, _, _ := c.S.Beside()
	if a == nil || b == nil || len(b.Ranks) == 0 || len(a.Ranks) == 0 {
		return ""
	}
	time, longer := "as long as A", format.Percent(format.Longer(b.Time, a.Time))
	switch share := strings.TrimLeft(longer, "+−"); {
	case share == longer: // 0 %
	case b.Time > a.Time:
		time = fmt.Sprintf("%s, %s longer than A", format.Duration(b.Time), share)
	default:
		time = fmt.Sprintf("%s, %s less than A", format.Duration(b.Time), share)
	}
	from, to := a.Ranks[a.Full].High+a.Context, b.Ranks[b.Full].High+b.Context
	memory := "as much as A’s"
	if from != to {
		memory = format.Bytes(to) + ", " + format.BytesChange(to-from)
	}
	return fmt.Sprintf("B, %s, takes %s; its fullest rank, %d, needs %s.", ask.Words("schedule", c.S.View.Beside), time,
		b.Full, memory)
}
