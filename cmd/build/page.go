//go:build !js

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"memtide/cmd/cli"
)

// policy is what the browser is told to forbid. That a file which was dropped
// cannot be sent anywhere follows from connect-src, form-action and the rest:
// there is no other host in it.
//
//   - script-src: no eval, and no script in the text, but for start.js in the page,
//     by its hash; WebAssembly may be compiled.
//   - style-src-attr: the tooltip of the charts and Vugu's :style set style
//     attributes.
//   - worker-src: workers start from a blob that imports our script, because
//     sandboxed frames refuse new Worker(address). The blob obeys this policy too.
var policy = strings.Join([]string{
	"default-src 'none'",
	"script-src 'self' 'wasm-unsafe-eval'",
	"style-src 'self'",
	"style-src-attr 'unsafe-inline'",
	"img-src 'self' data: blob:",
	"worker-src 'self' blob:",
	"connect-src 'self'",
	"manifest-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
}, "; ")

// page fills in index.html.
func (s *site) page() {
	tmpl := s.template("index.html")
	if s.First == "" {
		s.First = cli.Must(run(s.root, nil, "go", "run", "memtide/cmd/build/first"))
	}
	var out bytes.Buffer
	cli.Check(tmpl.Execute(&out, struct {
		*site
		Policy string
	}{s, strings.Replace(policy, "script-src", "script-src "+sourceHash([]byte(s.Start)), 1)}))
	// Without this file GitHub Pages would run the site through Jekyll.
	s.put(".nojekyll", nil)
	s.put("index.html", out.Bytes())
}

// sourceHash names a script or a style sheet that stands in a page, for the policy.
func sourceHash(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
