//go:build !js

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// offline writes what lets a browser keep the site: the service worker with the
// list of what belongs to it, and the manifest by which the page is installed as
// an app. It has to run after everything else was written.
func (s *site) offline() error {
	own, err := s.static([]string{"icon.svg", "offline.js"})
	if err != nil {
		return err
	}
	if err := s.put("icon.svg", own[0]); err != nil {
		return err
	}
	manifest, err := json.MarshalIndent(map[string]any{
		"name":             "memtide",
		"description":      "How a training step fits into device memory",
		"start_url":        "./",
		"scope":            "./",
		"display":          "standalone",
		"background_color": "#ffffff",
		"theme_color":      "#ffffff",
		"icons":            []map[string]string{{"src": "icon.svg", "sizes": "any", "type": "image/svg+xml"}},
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := s.put("memtide.webmanifest", append(manifest, '\n')); err != nil {
		return err
	}
	var files []string
	sum := sha256.New()
	for _, a := range s.written {
		if strings.HasPrefix(path.Base(a.name), ".") || a.name == singleName {
			continue
		}
		name := strings.TrimSuffix(a.name, "index.html")
		if name == "" {
			name = "./"
		}
		files = append(files, name)
		sum.Write(a.sum[:])
	}
	slices.Sort(files)
	list, err := json.Marshal(files)
	if err != nil {
		return err
	}
	head := fmt.Sprintf("const release = %q, files = %s;\n", hex.EncodeToString(sum.Sum(nil)[:6]), list)
	return s.put("offline.js", append([]byte(head), own[1]...))
}
