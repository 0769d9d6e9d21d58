package link

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"memtide/engine/enginetest/golden"
	"memtide/profiles"
)

// oldLinks returns the recorded links of all versions.
func oldLinks(t *testing.T) (out []string) {
	files, err := filepath.Glob("testdata/links/v*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no old links in testdata/links: %v", err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, maxFragment)
		for lines.Scan() {
			if s := lines.Text(); s != "" && !strings.HasPrefix(s, "#") {
				out = append(out, s)
			}
		}
	}
	return out
}

// TestOldLinks checks that links of all versions are parsed without notes and still have the recorded meaning.
func TestOldLinks(t *testing.T) {
	var got strings.Builder
	for _, old := range oldLinks(t) {
		l, notes := Parse(old)
		if len(notes) > 0 {
			t.Errorf("%.80s: notes %q, want none", old, notes)
		}
		chain := "-"
		if l.Profile != nil {
			chain = meaning(t, old, l.Profile)
			l.Profile = nil
		}
		fmt.Fprintf(&got, "%.60s\n  %s\n", old, chain)
		for _, f := range reflect.VisibleFields(reflect.TypeOf(l)) {
			// A range is one value, so its ends are left out.
			told := !f.Anonymous && f.Name != "To" || f.Type == reflect.TypeFor[Range]()
			if v := reflect.ValueOf(l).FieldByIndex(f.Index); told && !v.IsZero() {
				fmt.Fprintf(&got, "  %s: %+v\n", f.Name, v.Interface())
			}
		}
	}
	golden.File(t, "testdata/links/meaning.txt", got.String())
}

// meaning returns a summary of the profile p of an old link. It checks that a profile of a chain is still encoded
// with the plain layout.
func meaning(t *testing.T, old string, p *profiles.Profile) string {
	if p.Chain == nil {
		return fmt.Sprintf("%d operations, %d values, checksum %08x", len(p.Graph.Ops), len(p.Graph.Values),
			crc32.ChecksumIEEE(encodeGraph(p)))
	}
	body, version := encodeBody(p)
	if version != plainVersion {
		t.Errorf("%.80s: written with layout %d, want %d as before", old, version, plainVersion)
	}
	return fmt.Sprintf("%d stages, checksum %08x", p.Chain.Len(), crc32.ChecksumIEEE(body))
}

// TestNoPanic checks that no fragment makes Parse panic. It uses old links that are cut, spliced, or have
// replaced characters.
func TestNoPanic(t *testing.T) {
	old := oldLinks(t)
	r := rand.New(rand.NewPCG(7, 8))
	for range 10_000 {
		a, b := []byte(old[r.IntN(len(old))]), []byte(old[r.IntN(len(old))])
		in := append(a[:r.IntN(len(a)+1):len(a)], b[r.IntN(len(b)+1):]...)
		for range r.IntN(4) {
			if len(in) > 0 {
				in[r.IntN(len(in))] = byte(r.IntN(256))
			}
		}
		fragment := Of("?"+string(in), string(in[:r.IntN(len(in)+1)]))
		l, _ := Parse(fragment)
		once := l.String()
		again, _ := Parse(once)
		if twice := again.String(); twice != once {
			t.Fatalf("%q: written as %q, read back and written as %q", fragment, once, twice)
		}
	}
}
