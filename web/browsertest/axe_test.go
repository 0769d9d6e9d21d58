//go:build !js

package browsertest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// axe returns the source of axe-core, which make build installs.
func axe(t *testing.T) string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	b, err := os.ReadFile(filepath.Join(filepath.Dir(here), "..", "..", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("the accessibility rules are missing; make build installs them: %v", err)
	}
	return string(b)
}

// TestAccessible checks that the page keeps axe-core's rules in many of its states, some of them in make check-long.
func TestAccessible(t *testing.T) {
	t.Parallel()
	source := axe(t)
	p := New(t)
	rest := []string{"phone", "table", "share on a phone", "dark view with the curve", "wait", "memory snapshot",
		"documents"}
	for _, c := range []struct {
		name, address string
		width         int64
		do            func(p *Page)
	}{
		{"page", "", 1400, nil},
		{"phone", "", 390, nil},
		{"dark", "#v=1&p=resnet101-b32&m=60%25&theme=dark", 1400, nil},
		{"table", "", 1400, func(p *Page) { p.Click(`[data-do="table"]`) }},
		{"help", "", 1400, func(p *Page) { p.Click(`[data-do="help"]`) }},
		{"share", "#v=1&p=gpt2-medium-b4&s=greedy&m=70%25", 1400, func(p *Page) { p.Click(`[data-do="share"]`) }},
		{"share on a phone", "", 390, func(p *Page) { p.Click(`[data-do="share"]`) }},
		{"view", "#embed=1&controls=budget&v=1&p=resnet101-b32", 720, nil},
		{"dark view with the curve", "#embed=1&theme=dark&show=curve,time&v=1&p=resnet101-b32", 720, nil},
		{"wait", "#v=1&p=gpt2-medium-b4&s=greedy&m=70%25", 1400, func(p *Page) { p.Click(`[data-do="wait-next"]`) }},
		{"too small", "#v=1&p=resnet101-b32&m=5%25", 1400, nil},
		{"dark addresses that do not fit", "#v=1&p=gpt2-medium-b4&m=70%25&s=greedy&theme=dark&alloc=best-fit", 1400,
			func(p *Page) { p.Wait(`!!document.querySelector(".outcome")?.textContent.includes("largest hole")`) }},
		{"memory snapshot", "", 1400, openSnapshot},
		{"dark memory snapshot on a phone", "#theme=dark", 390, openSnapshot},
		{"cut link", "#v=1&d=1.abc", 1400, nil},
		{"documents", "docs/", 1400, nil},
		{"document", "docs/paper-000.html", 390, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if slices.Contains(rest, c.name) {
				long(t)
			}
			p.For(t)
			p.Viewport(c.width, 900)
			p.Fresh(c.address)
			p.Wait(`document.readyState === "complete" && document.body.dataset.state !== "solving"`)
			if c.do != nil {
				c.do(p)
			}
			p.Drawn()
			for _, v := range violations(p, source) {
				t.Errorf("%s breaks the rule %s (%s): %s\n  %s", c.name, v.ID, v.Impact, v.Help,
					strings.Join(v.where(), "\n  "))
			}
		})
	}
}

type violation struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

func (v violation) where() (out []string) {
	for _, n := range v.Nodes {
		out = append(out, n.HTML+"\n    "+strings.ReplaceAll(n.FailureSummary, "\n", "\n    "))
	}
	return out
}

// violations runs rules of axe-core on the page, all if none are named, and returns those that it breaks. It evaluates
// the source as a debugger does, which the page's content security policy does not forbid.
func violations(p *Page, source string, rules ...string) (out []violation) {
	p.t.Helper()
	Eval[bool](p, `if (!window.axe) {`+source+`} true`)
	which := "{}"
	if len(rules) > 0 {
		which = fmt.Sprintf(`{runOnly: %q.split(" ")}`, strings.Join(rules, " "))
	}
	text := Eval[string](p, `axe.run(document, `+which+`).then((r) => JSON.stringify(r.violations))`)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		p.t.Fatal(err)
	}
	return out
}
