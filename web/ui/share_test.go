//go:build !js

package ui

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	engineexport "memtide/engine/export"
	"memtide/profiles"
	"memtide/wasm/serve"
	"memtide/web/jobs"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/export"
	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
)

func TestAddresses(t *testing.T) {
	s := pagetest.First(t)
	p := &permalink.Origin{Base: "https://example.org/x/index.html"}
	s.View.From, s.View.To = 10*time.Millisecond, 20*time.Millisecond
	s.View.Wanted = "B18"
	if got, want := p.Address(s, true),
		"https://example.org/x/index.html#v=1&sum=f695ae&p=resnet101-b32&m=60%25&t=10-20&sel=B18"; got != want {
		t.Errorf("exact: %s, want %s", got, want)
	}
	if got, want := p.Address(s, false),
		"https://example.org/x/index.html#v=1&sum=5db101&p=resnet101-b32&m=60%25"; got != want {
		t.Errorf("without zoom and selection: %s, want %s", got, want)
	}
	if got, want := p.Folder(), "https://example.org/x/"; got != want {
		t.Errorf("folder %s, want %s", got, want)
	}
	s.Sharing = &state.Sharing{Exact: true}
	s.View.Frame.Title = `a "b" <c> [d] \`
	for _, f := range (&Share{S: s, Page: p}).Fields() {
		want := map[string]string{
			"markdown": `[a "b" \<c> \[d\] \\](https://example.org/x/index.html#v=1`,
			"iframe":   `title="a &#34;b&#34; &lt;c&gt; [d] \"`,
			"element":  `<script src="https://example.org/x/view.js" defer>`,
		}[f.ID]
		if !strings.Contains(f.Text, want) {
			t.Errorf("%s: %s\nwant %s in it", f.ID, f.Text, want)
		}
	}
	// The link of a frame names the theme of the page, and the frame has the background of that theme.
	if got := (&Share{S: s, Page: p}).Fields()[1].Text; !strings.Contains(got, `#embed=1&amp;theme=light&amp;v=1`) ||
		!strings.Contains(got, "color-scheme:light") {
		t.Errorf("the frame is %s; want a light one", got)
	}
	s.View.Theme = "dark"
	if got := (&Share{S: s, Page: p}).Fields()[1].Text; !strings.Contains(got, `#embed=1&amp;theme=dark&amp;v=1`) ||
		!strings.Contains(got, "color-scheme:dark") {
		t.Errorf("from a dark page the frame is %s; want a dark one", got)
	}
	s.View.Theme = ""
	c := &Share{S: s, Page: p}
	if got, want := c.address(), "title=a%20%22b%22%20%3Cc%3E%20%5Bd%5D"; !strings.Contains(got, want) {
		t.Errorf("the link is %s; want %s in it", got, want)
	}
}

// TestShareFromFile checks that a page that was saved as a file shares the address of the site that it is from,
// and never its place on the disk.
func TestShareFromFile(t *testing.T) {
	s := pagetest.First(t)
	s.Sharing = &state.Sharing{Exact: true}
	for _, c := range []struct{ href, site, address, docs, fields string }{
		{"https://example.org/x/?a=1#v=1", "https://other.example/",
			"https://example.org/x/#v=1&sum=5db101&p=resnet101-b32&m=60%25", "docs/", "markdown iframe element"},
		{"file:///home/ann/saved.html#v=1", "https://example.org/x/index.html",
			"https://example.org/x/index.html#v=1&sum=5db101&p=resnet101-b32&m=60%25", "https://example.org/x/docs/",
			"markdown iframe element"},
		{"file:///home/ann/memtide.html", "", "#v=1&sum=5db101&p=resnet101-b32&m=60%25", "", ""},
	} {
		p := new(permalink.Origin)
		p.Locate(c.href, c.site)
		share := &Share{S: s, Page: p}
		var fields []string
		for _, f := range share.Fields() {
			fields = append(fields, f.ID)
			if strings.Contains(f.Text, "ann") {
				t.Errorf("%s: %s tells where the file lies: %s", c.href, f.ID, f.Text)
			}
		}
		if got := p.Address(s, true); got != c.address {
			t.Errorf("%s: address %s; want %s", c.href, got, c.address)
		}
		if got := p.Docs(); got != c.docs {
			t.Errorf("%s: documentation at %q; want %q", c.href, got, c.docs)
		}
		if got := strings.Join(fields, " "); got != c.fields {
			t.Errorf("%s: fields %s; want %s", c.href, got, c.fields)
		}
	}
}

// TestEmbeddedStays checks that a view in another page stays a view, whatever link it is given.
func TestEmbeddedStays(t *testing.T) {
	frame := link.Frame{Embed: true, Control: "budget", Show: []string{"time"}, Opener: "https://example.org"}
	l, m, notes := permalink.Embedded(frame, "v=1&p=vgg16-b64&title=x")
	if l.Preset != "vgg16-b64" || len(notes) > 0 {
		t.Errorf("opened %q, notes %q", l.Preset, notes)
	}
	if f := m.Frame; !f.Embed || f.Control != "budget" || !f.Shows("time") || f.Shows("mem") || f.Title != "x" ||
		f.Opener != "" {
		t.Errorf("the view became %+v; want a view with a slider and a timeline, opened by nobody", f)
	}
	s := pagetest.First(t)
	s.View.Frame = frame
	if got, want := (&Embed{S: s, Page: &permalink.Origin{Base: "https://example.org/"}}).Address(),
		"https://example.org/#v=1&sum=adda74&p=resnet101-b32&m=60%25&show=time"; got != want {
		t.Errorf("Open leads to %s, want %s", got, want)
	}
	if got := (&Embed{S: s}).Line(); !strings.Contains(got, "per step. Opened by https://example.org") {
		t.Errorf("the caption is %q; want the step time and who opened it", got)
	}
}

// TestShow checks the parts of the page and their order in the form that the style sheet needs.
func TestShow(t *testing.T) {
	for _, c := range []struct {
		frame       link.Frame
		hide, order string
	}{
		{link.Frame{}, "", ""},
		{link.Frame{Embed: true}, "curve addr table", ""},
		{link.Frame{Show: []string{"mem", "curve"}}, "strip time addr table",
			"--row-mem:2;--row-curve:5;--row-first:2;--row-last:2;"},
		{link.Frame{Show: []string{"curve", "mem"}}, "strip time addr table",
			"--row-curve:2;--row-mem:5;--row-first:5;--row-last:5;"},
		{link.Frame{Show: []string{"time", "curve", "table", "mem"}}, "strip addr",
			"--row-time:2;--row-curve:5;--row-table:8;--row-mem:11;--row-first:2;--row-last:11;"},
		{link.Frame{Show: []string{"curve"}}, "strip time mem addr table", "--row-curve:2;"},
	} {
		r := &Root{S: &state.State{}}
		r.S.View.Frame = c.frame
		if got := r.Hidden(); got != c.hide {
			t.Errorf("%+v hides %q, want %q", c.frame, got, c.hide)
		}
		if got := r.Order(); got != c.order {
			t.Errorf("%+v: order %q, want %q", c.frame, got, c.order)
		}
	}
}

// TestShareCommands checks the messages of the commands in the dialog.
func TestShareCommands(t *testing.T) {
	s := pagetest.First(t)
	s.Sharing = &state.Sharing{Exact: true}
	for _, c := range []struct {
		command input.Command
		want    state.Message
	}{
		{input.Command{Do: "share", Settled: true}, state.ToggleShare{}},
		{input.Command{Do: "share-title", Value: "x"}, state.Retitle{Text: "x"}},
		{input.Command{Do: "share-exact", Settled: true}, state.SetExact{On: false}},
		{input.Command{Do: "share-exact"}, nil}, // comes twice, as input and as change
		{input.Command{Do: "share-theme", Value: "dark", Settled: true}, state.SetShareTheme{Theme: "dark"}},
		{input.Command{Do: "share-copy", Arg: "link", Settled: true}, state.CopyText{Field: "link"}},
		{input.Command{Do: "share-send", Settled: true}, state.SendLink{}},
		{input.Command{Do: "share-save", Arg: "svg", Settled: true}, state.SaveFile{Kind: "svg"}},
	} {
		if got := c.command.Message(s); got != c.want {
			t.Errorf("%+v means %+v, want %+v", c.command, got, c.want)
		}
	}
}

// TestShareSend checks that there is one button that passes the link on to other programs, if the device can do
// so.
func TestShareSend(t *testing.T) {
	s := pagetest.First(t)
	s.Sharing = &state.Sharing{Exact: true}
	for _, can := range []bool{false, true} {
		s.View.CanSend = can
		if got := strings.Count(pageOf(t, s), `data-do="share-send"`); got != map[bool]int{true: 1}[can] {
			t.Errorf("the device takes links: %t; the dialog has %d buttons for that", can, got)
		}
	}
	if got := s.Update(state.SendLink{}); len(got) == 0 || got[0] != (state.Send{}) {
		t.Errorf("the button has the effects %v; want that the link is passed on", got)
	}
}

// TestShareWords checks that the text about the length of the link is under the link, and that no two buttons
// have the same words.
func TestShareWords(t *testing.T) {
	s := pagetest.First(t)
	s.Sharing = &state.Sharing{Exact: true}
	_, rest, _ := strings.Cut(pageOf(t, s), `id="share-link"`)
	if under, _, ok := strings.Cut(rest, `id="share-markdown"`); !ok ||
		strings.Count(under, `data-testid="share-verdict"`) != 1 {
		t.Errorf("between the link and Markdown stands %s; want what the link's length means", under)
	}
	for _, compared := range []bool{false, true} {
		if compared {
			pagetest.Do(t, s, state.ToggleCompare{})
		}
		c, seen := &Share{S: s}, map[string]bool{}
		for _, b := range append(append(c.Pictures(), c.Data()...), ShareButton{Title: c.Steps()}) {
			if seen[b.Title] || b.Title == "" {
				t.Errorf("%s: a second button %q", b.ID, b.Title)
			}
			seen[b.Title] = true
			if got := strings.HasPrefix(b.Title, "B: "); got != (compared && b.Title == c.Steps()) {
				t.Errorf("%s, compared %t: the button %q; want B, which the controls change, where only that is saved", b.ID, compared, b.Title)
			}
		}
	}
}

// TestShareReopens checks that the dialog promises that files open the view again only if they do.
func TestShareReopens(t *testing.T) {
	s := pagetest.First(t)
	s.Sharing = &state.Sharing{Exact: true}
	if got := pageOf(t, s); !strings.Contains(got, "Every file opens this view again") {
		t.Error("a preset: the dialog does not say that files open the view again")
	}
	graph := *s.Network
	graph.Source.Preset, graph.Chain, graph.Profile = "", nil,
		&profiles.Profile{Name: strings.Repeat("net ", 100), Graph: new(engine.Graph)}
	for i := range 40_000 { // sizes in an order that does not repeat
		graph.Profile.Graph.Values = append(graph.Profile.Graph.Values,
			engine.Value{Size: engine.Bytes(i*i) * 7919 % 1_000_003, PartOf: engine.NoValue})
	}
	s.Network = &graph
	if got, want := (&Share{S: s}).Reopens(), "This graph is too long for a link"; !strings.HasPrefix(got, want) {
		t.Errorf("a graph from a file: %q, want %q", got, want)
	}
}

// TestShareSchedule checks that the dialog offers the schedule as a program, or says why it cannot, and that the
// file is the one that a server writes.
func TestShareSchedule(t *testing.T) {
	s := pagetest.First(t)
	s.Sharing = &state.Sharing{Exact: true}
	page := pageOf(t, s)
	const button = `data-arg="schedule.json"`
	if _, rest, _ := strings.Cut(page, button); rest == "" ||
		strings.Contains(rest[:strings.IndexByte(rest, '>')], "disabled") {
		t.Errorf("the button for the steps is missing or disabled: %.200s", rest)
	}
	if strings.Contains(page, `data-do="save-plan"`) || !strings.Contains(page, "PyTorch runs plans: open the file") {
		t.Error("a preset has no operators: the dialog offers a plan, or does not say what one is made of")
	}
	effects := s.Update(state.SaveFile{Kind: state.ScheduleFile})
	if len(effects) == 0 {
		t.Fatalf("effects %v, note %q; want an export", effects, s.Sharing.Note)
	}
	e := effects[0].(state.Export)
	const address, fragment = "https://example.org/#v=1&p=resnet101-b32", "v=1&p=resnet101-b32"
	f := export.Schedule(s, e)
	var err error
	f.Bytes, err = jobs.Export(context.Background(), new(serve.Local), e, address)
	if want := "resnet-101-batch-32-rotor-2.58-gib.schedule.json"; err != nil || f.Name != want {
		t.Errorf("the file is named %s (%v), want %s", f.Name, err, want)
	}
	if got, _ := link.In(f.Bytes); got != fragment {
		t.Errorf("the link of the schedule is %q, want %q", got, fragment)
	}
	var written struct {
		Schema, Name string
		Steps        []any
	}
	if err := json.Unmarshal(f.Bytes, &written); err != nil || written.Schema != engineexport.Schema ||
		written.Name != "ResNet-101, batch 32" || len(written.Steps) != len(s.Shown.Solved.Schedule) {
		t.Errorf("the schedule with a link is of %q by %q with %d steps (%v); want that of ResNet-101", written.Name,
			written.Schema, len(written.Steps), err)
	}
}

// TestShareSnapshots checks that the dialog says that links and saved files do not contain a snapshot.
func TestShareSnapshots(t *testing.T) {
	s := pagetest.Snapshot(t, "snapshot.pickle")
	c := &Share{S: s, Page: &permalink.Origin{Base: "https://example.org/"}}
	s.Sharing = &state.Sharing{Exact: true}
	if got, want := c.Verdict(), "The file is not in it: send it too."; !strings.HasSuffix(got, want) {
		t.Errorf("one snapshot: the dialog says %q; want %q at its end", got, want)
	}
	if got, wrong := c.Reopens(), "opens this view again"; strings.Contains(got, wrong) {
		t.Errorf("one snapshot: of files the dialog says %q", got)
	}
}
