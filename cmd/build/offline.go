//go:build !js

package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"memtide/cmd/cli"
)

// icons are the pictures of the installed app. The PNG files are icon.svg, drawn by
// a browser: whole, with a wide edge for platforms that cut a shape out of it, and
// with square corners for those that round them.
var icons = []icon{
	{"icon.svg", "any", "image/svg+xml", "any"},
	{"icon-192.png", "192x192", "image/png", "any"},
	{"icon-512.png", "512x512", "image/png", "any"},
	{"icon-maskable.png", "512x512", "image/png", "maskable"},
}

// icon is an entry of the manifest, and a file in web/static.
type icon struct {
	Src     string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"`
}

// offline writes what lets a browser keep the site: the service worker with the
// list of what belongs to it, and the manifest by which the page is installed as
// an app. It has to run after everything else was written.
func (s *site) offline() {
	own := []string{"offline.js", "icon-apple.png"}
	for _, i := range icons {
		own = append(own, i.Src)
	}
	texts := s.static(own...)
	for i, name := range own[1:] {
		s.put(name, texts[i+1])
	}
	manifest := cli.Must(json.MarshalIndent(map[string]any{
		"name":             "memtide",
		"description":      "How a training step fits into device memory",
		"id":               "./",
		"start_url":        "./",
		"scope":            "./",
		"display":          "standalone",
		"background_color": "#ffffff",
		"theme_color":      "#ffffff",
		"icons":            icons,
	}, "", "  "))
	s.put("memtide.webmanifest", append(manifest, '\n'))
	var files []string
	sum := sha256.New()
	for _, a := range s.written {
		if strings.HasPrefix(path.Base(a.name), ".") || strings.HasPrefix(a.name, "puzzle") || a.name == singleName {
			continue // the puzzle has a program of its own, which a visit of the page does not load
		}
		name := strings.TrimSuffix(a.name, "index.html")
		name = cmp.Or(name, "./")
		files = append(files, name)
		sum.Write(a.sum[:])
	}
	slices.Sort(files)
	list := cli.Must(json.Marshal(files))
	head := fmt.Sprintf("const release = %q, files = %s;\n", hex.EncodeToString(sum.Sum(nil)[:6]), list)
	s.put("offline.js", append([]byte(head), texts[0]...))
}
