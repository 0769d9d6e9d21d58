//go:build !js

package main

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// TestIcons checks that the icons of the installed app have the sizes that the manifest gives.
func TestIcons(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range append(icons, icon{Src: "icon-apple.png", Sizes: "180x180", Type: "image/png"}) {
		b, err := os.ReadFile(filepath.Join(root, "web", "static", i.Src))
		if err != nil {
			t.Fatal(err)
		}
		if i.Type != "image/png" {
			continue
		}
		c, err := png.DecodeConfig(bytes.NewReader(b))
		if got := fmt.Sprintf("%dx%d", c.Width, c.Height); err != nil || got != i.Sizes {
			t.Errorf("%s: %s, %v; want a picture of %s", i.Src, got, err, i.Sizes)
		}
	}
}
