//go:build !js

package ui

import (
	"fmt"
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// TestRefusedFile checks that the errors in a file are listed with their lines, and that the page goes on showing
// what it showed before.
func TestRefusedFile(t *testing.T) {
	s := pagetest.First(t)
	s.Alert = &state.Alert{File: "bad.csv",
		Text:  "bad.csv: Line 2: forward_s is <b>-3</b>. Times cannot be negative. Correct it.",
		Lines: []string{"Line 3: forward_s is \"x\". A number is expected."}}
	c := Findings{S: s}
	if got := c.Head() + " " + c.About() + " " +
		c.Role(); got != "bad.csv was not opened. What was shown before stays. alert" {
		t.Errorf("the panel says %q", got)
	}
	for _, want := range []string{`<i class="refused">refused</i>`,
		"<b>Line 2</b> forward_s is &lt;b&gt;-3&lt;/b&gt;.", "<small>Times cannot be negative. Correct it.</small>",
		"<b>Line 3</b>"} {
		if got := string(c.First()); !strings.Contains(got, want) {
			t.Errorf("the rows are %s; want %q", got, want)
		}
	}
	s.Alert.Linked = true
	if got := c.About(); got != "" {
		t.Errorf("of a link the panel says %q; want nothing of what was shown, for nothing was", got)
	}
	if got := (&Notice{S: s}).alert().Text; got != "" {
		t.Errorf("the notice tells it again: %q", got)
	}
	root := Root{S: s}
	page := pagetest.HTML(t, &root)
	if panel, verdict := strings.Index(page, `class="findings"`), strings.Index(page, `class="hero"`); panel < 0 ||
		verdict < panel {
		t.Errorf("a refused file is said at %d of the page, and the answer at %d; want it above", panel, verdict)
	}
	s.Alert = &state.Alert{Text: "The budget is not read."}
	page = pagetest.HTML(t, &root)
	if panel, verdict := strings.Index(page, `class="findings"`), strings.Index(page, `class="hero"`); panel < verdict {
		t.Errorf("what is assumed of a file is said at %d of the page, and the answer at %d; want it below", panel,
			verdict)
	}
	if got, want := (&Notice{S: s}).alert().Text, "The budget is not read."; got != want || c.Head() != "" {
		t.Errorf("what is about no file: the notice says %q, the panel %q; want %q and nothing", got, c.Head(), want)
	}
}

// TestActions checks that the assumptions about a config.json have an action each, and name no flag of the command line.
func TestActions(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.PickFile{Name: "gpt2.json", Bytes: []byte(`{"model_type": "gpt2", "n_layer": 2, "n_embd": 64,
		"n_head": 2, "vocab_size": 100, "n_positions": 128}`)})
	c := Findings{S: s}
	list := c.list()
	for _, f := range list {
		if f.Action == "" || strings.Contains(f.What+f.Better, " -") || strings.Contains(f.What, "memtide plan") {
			t.Errorf("%+v; want an action, and words of the page", f)
		}
	}
	html := string(c.First() + c.Rest())
	for _, want := range []string{`data-arg="kernel" value="foreach" data-do="option">Use foreach</button>`,
		`data-arg="device" value="" data-do="focus">`, `data-do="layers"`, `data-do="more"`} {
		if !strings.Contains(html, want) {
			t.Errorf("the panel is %s; want %s", html, want)
		}
	}
}

// TestFindings checks that the page lists everything in an open file that was left out, is doubtful or was
// assumed. A preset has no such list.
func TestFindings(t *testing.T) {
	s := pagetest.First(t)
	c := Findings{S: s}
	if got := c.Head(); got != "" {
		t.Errorf("a preset has the findings %q; want none", got)
	}
	n, p := *s.Network, *s.Network.Profile
	s.Network, n.Profile = &n, &p
	n.Source.File = "mine.csv"
	n.Lint = []string{"Unknown columns were skipped: foo.", profiles.NoChain + "one layer holds all.",
		"The backward takes 9 times as long. 1 to 3 is usual."}
	p.Source.Notes = []string{"a", "b", "c", "d"}
	var kinds []string
	for _, f := range c.list() {
		kinds = append(kinds, f.Kind)
	}
	if got, want := fmt.Sprint(kinds), "[left out doubtful doubtful assumed assumed assumed assumed]"; got != want {
		t.Errorf("the kinds are %s; want %s", got, want)
	}
	if got, want := c.Head()+" "+c.About()+" "+c.More(), "Read mine.csv. We assumed 7 things. 2 more"; got != want {
		t.Errorf("the panel says %q; want %q", got, want)
	}
	if first, rest := strings.Count(string(c.First()), "<li>"), strings.Count(string(c.Rest()), "<li>"); first != 5 ||
		rest != 2 {
		t.Errorf("%d rows and %d more; want 5 and 2", first, rest)
	}
	s.Alert = &state.Alert{File: "mine.csv", Text: "mine.csv is no useful chain.", Action: "Use the graph",
		Do: state.SetGraph{Graph: true}}
	if got := string(c.First()); strings.Count(got, "<button") != 1 ||
		!strings.Contains(got, `data-do="act">Use the graph</button></li>`) || len(c.list()) != 7 || c.Refused() {
		t.Errorf("%d rows: %s; want 7, the chain said once, with the action", len(c.list()), got)
	}
	n.Lint = []string{"In 3 stages, the saved set is smaller than the output, which it contains."}
	if got := string(c.First()); !strings.Contains(got, `data-do="layers">Show the blocks</button></li>`) {
		t.Errorf("about stages: %s; want a button that shows them", got)
	}
	s.Update(state.ToggleLayers)
	if got := string(c.First()); strings.Contains(got, "Show the blocks") {
		t.Errorf("the layers are shown: %s; want no button for it", got)
	}
}
