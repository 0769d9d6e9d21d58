//go:build !js

package pagetest

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/staticrender"
)

// HTML renders a component.
func HTML(t *testing.T, component vugu.Builder) string {
	t.Helper()
	env, err := vugu.NewBuildEnv()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := staticrender.New(&b).Render(env.RunBuild(component)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// WellFormed fails if tags are not closed or ids are not unique.
func WellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	ids, labelled := map[string]bool{}, map[string]bool{}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			switch a.Name.Local {
			case "id":
				if ids[a.Value] {
					t.Errorf("the id %q is used twice", a.Value)
				}
				ids[a.Value] = true
			case "for", "aria-labelledby", "aria-describedby":
				for id := range strings.FieldsSeq(a.Value) {
					labelled[id] = true
				}
			}
		}
	}
	for id := range labelled {
		if !ids[id] {
			t.Errorf("a label names the id %q, which does not exist", id)
		}
	}
}

// Number reads a number as it stands on the page.
func Number(t *testing.T, text string) float64 {
	t.Helper()
	sign := 1.0
	if strings.HasPrefix(text, "−") {
		sign = -1
	}
	n, unit := 0.0, 1.0
	for _, r := range strings.TrimLeft(text, "−+±") {
		switch {
		case r == '.':
			unit = 0.1
		case unit < 1:
			n += float64(r-'0') * unit
			unit /= 10
		default:
			n = 10*n + float64(r-'0')
		}
	}
	return sign * n
}
