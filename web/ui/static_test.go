//go:build !js

package ui

import (
	"context"
	"strings"
	"testing"

	_ "memtide/engine/all"
	"memtide/wasm/serve"
)

func TestStaticPage(t *testing.T) {
	s, err := First(context.Background(), new(serve.Local), DefaultChoice())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := StaticPage(&b, s); err != nil {
		t.Fatal(err)
	}
	t.Log(b.Len(), b.String()[:3000])
}
