//go:build !js

package browsertest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// ownPolicy is the content security policy of the page itself. Other careful hosts may have the same one.
const ownPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; worker-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'"

// guarded makes the tab open a page of another origin that embeds views under a content security policy. In
// policy and body, SITE stands for the origin of the site.
func guarded(p *Page, site, policy, body string) {
	p.t.Helper()
	script := strings.TrimSuffix(heard[strings.Index(heard, "<script>")+len("<script>"):], "</script>\n") +
		"\nconst refused = [];\naddEventListener(\"securitypolicyviolation\", (e) => refused.push(e.effectiveDirective + \" \" + e.blockedURI));\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/heard.js":
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			_, _ = w.Write([]byte(script))
		case "/":
			w.Header().Set("Content-Security-Policy", strings.ReplaceAll(policy, "SITE", site))
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte(`<!doctype html><meta charset="utf-8"><title>host</title><link rel="icon" href="data:,"><script src="heard.js"></script>` +
				strings.ReplaceAll(body, "SITE", site)))
		default:
			http.NotFound(w, r)
		}
	}))
	p.t.Cleanup(server.Close)
	p.URL = server.URL + "/"
	p.Fresh("")
}

// TestEmbedUnderPolicy checks that a page with its own content security policy can embed frames and elements once
// it allows what docs/embedding.md names, and that the policy need not be weakened further.
func TestEmbedUnderPolicy(t *testing.T) {
	t.Parallel()
	const (
		frame   = `<iframe width="700" height="400" src="SITE/#embed=1&v=1&p=gpt2-medium-b4&m=70%25&s=greedy"></iframe>`
		element = `<script src="SITE/view.js" defer></script><memtide-view link="v=1&amp;p=gpt2-medium-b4&amp;m=70%25&amp;s=greedy" title="A view"></memtide-view>`
	)
	p := New(t)
	site := strings.TrimSuffix(p.URL, "/")
	framed := strings.Replace(ownPolicy, "script-src 'self'", "frame-src SITE; script-src 'self' SITE", 1)
	strictest := "default-src 'none'; frame-src SITE; script-src 'self' SITE; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
	for _, c := range []struct{ name, policy, body string }{
		{"frame", strings.Replace(framed, "'self' SITE", "'self'", 1), frame},
		{"sandboxed frame", strings.Replace(framed, "'self' SITE", "'self'", 1),
			strings.Replace(frame, "<iframe", `<iframe sandbox="allow-scripts"`, 1)},
		{"element", framed, element},
		{"frame, strictest", strictest, frame},
		{"element, strictest", strictest, element},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.HasSuffix(c.name, "strictest") {
				long(t)
			}
			p.For(t)
			guarded(p, site, c.policy, c.body)
			p.Wait(`last("ready") && last("state")?.stepMs > 1`)
			Eval[bool](p, `say({type: "set", params: {s: "rotor"}}), true`)
			p.Wait(`last("state").link.includes("m=70%25") && !last("state").link.includes("s=greedy")`)
			if c.body == element {
				p.Wait(`last("size") && document.querySelector("memtide-view iframe").offsetHeight > 300`)
			}
			if refused := Eval[[]string](p, `refused`); len(refused) > 0 {
				t.Errorf("the policy of the page refuses %q; want nothing", refused)
			}
			for _, line := range p.Console() {
				if strings.HasPrefix(line, "exception:") || strings.HasPrefix(line, "error:") &&
					!strings.Contains(line, "sandbox") {
					t.Errorf("the console says %q", line)
				}
			}
		})
	}
	t.Run("not allowed", func(t *testing.T) { // checks that the policies above are enforced
		p.For(t)
		guarded(p, site, ownPolicy, element+frame)
		p.Wait(`refused.some((r) => r.startsWith("script-src")) && refused.some((r) => r.startsWith("frame-src"))`)
	})
}
