package tidy

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestActionsArePinned checks that workflows name actions by commit: the owner of an action can move a tag, but
// not a commit.
func TestActionsArePinned(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workflows, %v; want those of continuous integration", len(files), err)
	}
	uses := regexp.MustCompile(`(?m)^\s*-?\s*uses:\s*(.*)$`)
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	seen := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range uses.FindAllStringSubmatch(string(text), -1) {
			if !pinned.MatchString(m[1]) {
				t.Errorf("%s uses %q; want NAME@COMMIT # vVERSION, with all 40 digits", file, m[1])
			}
			name, version, _ := strings.Cut(m[1], "@")
			if other, ok := seen[name]; ok && other != version {
				t.Errorf("%s uses %s at %s and at %s; want one version", file, name, version, other)
			}
			seen[name] = version
		}
	}
	if len(seen) == 0 {
		t.Error("no action is used: the test looks in the wrong place")
	}
}

// TestPackagesArePinned checks that npm packages have one version and a hash of their content, which npm ci
// compares.
func TestPackagesArePinned(t *testing.T) {
	read := func(name string, to any) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			err = json.Unmarshal(text, to)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	type wants struct{ Dependencies, DevDependencies map[string]string }
	var manifest wants
	var lock struct {
		LockfileVersion int
		Packages        map[string]struct {
			wants
			Version, Integrity, Resolved string
			Link                         bool
		}
	}
	read("package.json", &manifest)
	read("package-lock.json", &lock)
	if own := lock.Packages[""].wants; !maps.Equal(own.Dependencies, manifest.Dependencies) ||
		!maps.Equal(own.DevDependencies, manifest.DevDependencies) {
		t.Errorf("package-lock.json is for %+v and package.json says %+v: npm install --package-lock-only", own,
			manifest)
	}
	exact := regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	for name, version := range manifest.Dependencies {
		if !exact.MatchString(version) {
			t.Errorf("package.json wants %s %s; want one version", name, version)
		}
	}
	for name, version := range manifest.DevDependencies {
		if !exact.MatchString(version) {
			t.Errorf("package.json wants %s %s; want one version", name, version)
		}
	}
	hash := regexp.MustCompile(`^sha512-[A-Za-z0-9+/]{86}==$`)
	for _, path := range slices.Sorted(maps.Keys(lock.Packages)) {
		if p := lock.Packages[path]; path != "" &&
			(!exact.MatchString(p.Version) || !hash.MatchString(p.Integrity) || p.Link) {
			t.Errorf("package-lock.json has %s at %q with the hash %q; want one version and a sha512", path,
				p.Version, p.Integrity)
		}
	}
	if len(lock.Packages) < 4 || lock.LockfileVersion < 3 {
		t.Errorf("package-lock.json has version %d and %d packages: the test looks in the wrong place",
			lock.LockfileVersion, len(lock.Packages))
	}
}

// TestModulesArePinned checks that every module in go.mod has its hashes in go.sum, that no module is replaced,
// and that go.mod agrees with the imports.
func TestModulesArePinned(t *testing.T) {
	text, err := exec.Command("go", "mod", "edit", "-json", filepath.Join(root, "go.mod")).Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct{ Path, Version string }
		Replace []any
	}
	if err := json.Unmarshal(text, &mod); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mod.Require {
		for _, want := range []string{m.Path + " " + m.Version + " h1:", m.Path + " " + m.Version + "/go.mod h1:"} {
			if !strings.Contains(string(sums), "\n"+want) && !strings.HasPrefix(string(sums), want) {
				t.Errorf("go.sum has no line %s...", want)
			}
		}
	}
	if len(mod.Require) == 0 || len(mod.Replace) != 0 {
		t.Errorf("go.mod names %d modules and replaces %d; want some, and none replaced", len(mod.Require),
			len(mod.Replace))
	}
	cmd := exec.Command("go", "mod", "tidy", "-diff")
	cmd.Dir = root
	out, err := cmd.Output()
	switch exit := (*exec.ExitError)(nil); {
	case len(out) > 0:
		t.Errorf("go mod tidy would change:\n%s", out)
	case errors.As(err, &exit) && os.Getenv("CI") == "":
		t.Skipf("go mod tidy looks at the tests of all modules, and cannot fetch them here:\n%s", exit.Stderr)
	case err != nil:
		t.Error(err)
	}
}
