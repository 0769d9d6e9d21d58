//go:build !js

package torchtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/profiles"
	_ "memtide/profiles/formats/all"
	"memtide/profiles/formats/native"
	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/link"
)

// written returns a profile as a file. Profiles that differ in anything that is solved or shown have different
// files. Warnings are left out, since reading adds to them.
func written(t *testing.T, p *profiles.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	bare := *p
	bare.Warnings = nil
	if err := native.Encode(&b, &bare); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// opened returns the profile in the link of an address.
func opened(t *testing.T, address string) *profiles.Profile {
	t.Helper()
	_, fragment, ok := strings.Cut(strings.TrimSpace(address), "#")
	if !ok {
		t.Fatalf("%.100q is no address with a fragment", address)
	}
	l, notes := link.Parse(fragment)
	if l.Profile == nil || len(notes) > 0 {
		t.Fatalf("the link of %d characters opens nothing: %q\n%.200s", len(address), notes, address)
	}
	return l.Profile
}

// TestRecordedLink compares a link that collect.py has printed with the file that it wrote in the same run.
func TestRecordedLink(t *testing.T) {
	file, err := os.ReadFile("testdata/collected.json")
	if err != nil {
		t.Fatal(err)
	}
	address, err := os.ReadFile("testdata/collected.link")
	if err != nil {
		t.Fatal(err)
	}
	want, err := profiles.Decode("collected.json", profiles.Bytes(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Warnings) > 0 {
		t.Errorf("what collect.py writes is read with warnings: %q", want.Warnings)
	}
	if n := want.Chain.Len(); n != 11 || want.Chain.Stages[0].Forward == 0 || want.Chain.Stages[0].Saved == 0 ||
		want.Chain.Stages[n-1].Saved == 0 {
		t.Errorf("got %d stages\n%s\nwant 11, with times, sizes and a loss that is measured", n,
			enginetest.Dump(want.Chain))
	}
	if got := opened(t, string(address)); !bytes.Equal(written(t, got), written(t, want)) {
		t.Errorf("the link has\n%s\nwant\n%s", written(t, got), written(t, want))
	}
}

// TestLinks lets collect.py make links of many profiles and compares what they open.
func TestLinks(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	var all []*profiles.Profile
	for _, ref := range []string{"resnet101-b32", "vgg16-b32", "densenet121-b32"} {
		known, batch, err := preset.Parse(ref)
		if err != nil {
			t.Fatal(err)
		}
		p, err := known.Profile(batch)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	r := enginetest.Rand(7)
	for i := range 6 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 2, MaxStages: 40, MaxSize: 1 << (6 * i),
			MaxTime: 1 << (5*i + 4)})
		c.LossGradAllocated = false // collect.py always writes a loss
		if i%2 == 1 {
			enginetest.GiveUnsaved(r, c)
		}
		p := &profiles.Profile{Name: "rändom \"1\"", Chain: c, DType: "f16", Batch: 3, Warnings: []string{"one", "two"}}
		p.Source = profiles.Source{Tool: "collect.py", Times: profiles.Measured, Sizes: profiles.Exact,
			Device: "a GPU", Notes: []string{"é", ""}, URL: "https://example.org/"}
		p.Device = &engine.Device{Name: "a GPU", Memory: 1 << 40, ToHost: 12_500_000_000, ToDev: 11,
			Duplex: engine.Duplex(i % 2)}
		c.Name, c.Batch = p.Name, p.Batch
		all = append(all, p)
	}
	for i, p := range all {
		file := filepath.Join(t.TempDir(), "profile.json")
		if err := os.WriteFile(file, written(t, p), 0o644); err != nil {
			t.Fatal(err)
		}
		var complaints bytes.Buffer
		cmd := exec.Command(python, "../collect.py", "--link", file)
		cmd.Stderr = &complaints
		address, err := cmd.Output()
		if err != nil {
			t.Fatalf("profile %d (%s): %v\n%s", i, p.Name, err, complaints.String())
		}
		want, err := profiles.Decode("profile.json", profiles.Bytes(written(t, p)), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := opened(t, string(address))
		if !bytes.Equal(written(t, got), written(t, want)) || got.Format != want.Format {
			t.Errorf("profile %d (%s): the link has\n%s\nwant\n%s", i, p.Name, written(t, got), written(t, want))
		}
		l := link.Link{Said: choice.Said{Profile: want}}
		if own := len(l.String()); len(address) > own+own/10+100 {
			t.Errorf("profile %d (%s): the link has %d characters, and %d are enough", i, p.Name, len(address), own)
		}
	}
}
