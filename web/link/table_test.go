package link

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"memtide/engine/enginetest/golden"
	"memtide/web/choice"
)

const docsFile = "../../docs/links.md"

// row writes the row of a key in the documentation to out. A key without a text of its own joins the row before
// it.
func row(out *strings.Builder, key string, w Words) {
	name := key
	if strings.HasSuffix(key, ".") {
		name += map[bool]string{true: "KEY", false: "NAME"}[key == "b."]
	}
	if w.Doc == "" {
		text := strings.TrimSuffix(out.String(), "\n")
		at := strings.LastIndex(text, "\n| ") + 3
		keys, rest, _ := strings.Cut(text[at:], " | ")
		out.Reset()
		fmt.Fprintf(out, "%s%s, `%s` | %s\n", text[:at], keys, name, rest)
		return
	}
	var examples []string
	for _, fragment := range w.Links {
		for _, p := range pairsOf(fragment) {
			if p.key == key || strings.HasSuffix(key, ".") && strings.HasPrefix(p.key, key) {
				examples = append(examples, fmt.Sprintf("[`%s=%s`](../#%s)", p.key, p.value, fragment))
			}
		}
	}
	fmt.Fprintf(out, "| `%s` | %s | %s |\n", name, w.Doc, strings.Join(examples, ", "))
}

// tables returns the two tables of the documentation. They are made from the tables of fields.
func tables() (what, how string) {
	const head = "| key | meaning | example |\n|---|---|---|\n"
	var out strings.Builder
	out.WriteString(head)
	own := func(key string) { row(&out, key, LinkWords[key]) }
	own("v")
	own(keySum)
	for _, f := range choice.Fields(new(choice.Said)) {
		key := f.Key
		if f.For == choice.OnlyB {
			key = "b." + key
		}
		row(&out, key, FieldWords[f.Key])
		if key == "p" {
			own("d")
		}
	}
	own("b.")
	what = out.String()
	out.Reset()
	out.WriteString(head)
	for _, f := range new(Look).fields() {
		row(&out, f.Key, ViewWords[f.Key])
	}
	return what, out.String()
}

// documented returns text, the documentation, with its two tables replaced.
func documented(text string) string {
	for i, table := range slices.Collect(func(yield func(string) bool) {
		what, how := tables()
		_ = yield(what) && yield(how)
	}) {
		heading := []string{"## What is shown\n\n", "## How it is shown\n\n"}[i]
		before, rest, _ := strings.Cut(text, heading)
		_, after, _ := strings.Cut(rest, "|\n\n")
		text = before + heading + table + "\n" + after
	}
	return text
}

// TestDocumentedKeys checks that the documentation of links has a row for every key in the tables of fields.
// -update writes the rows.
func TestDocumentedKeys(t *testing.T) {
	b, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, docsFile, documented(string(b)))
}

// TestWords checks that there is a text for each key, and for no other.
func TestWords(t *testing.T) {
	keys := func(all iterable) (out []string) {
		all(func(key string) { out = append(out, key) })
		slices.Sort(out)
		return out
	}
	for _, c := range []struct {
		words map[string]Words
		keys  []string
	}{
		{FieldWords, keys(func(add func(string)) {
			for _, f := range choice.Fields(new(choice.Said)) {
				add(f.Key)
			}
		})},
		{ViewWords, keys(func(add func(string)) {
			for _, f := range new(Look).fields() {
				add(f.Key)
			}
		})},
	} {
		if got := slices.Sorted(maps.Keys(c.words)); !slices.Equal(got, c.keys) {
			t.Errorf("there are words about %q; want them about %q", got, c.keys)
		}
	}
	for key := range choice.FieldWords {
		if _, ok := FieldWords[key]; !ok {
			t.Errorf("%q has a flag and is not a key", key)
		}
	}
}

// TestWordsOfNames checks that the documentation names every value of a key whose values are names.
func TestWordsOfNames(t *testing.T) {
	for key, names := range map[string][]string{"show": Panels, "open": foldNames, "c": {"all", "none"},
		"y": {"rate", "slowdown", "time"}} {
		for _, name := range names {
			if !strings.Contains(ViewWords[key].Doc, "`"+name+"`") {
				t.Errorf("the words about %s do not say what `%s` is: %s", key, name, ViewWords[key].Doc)
			}
		}
	}
}

type iterable func(add func(string))

// TestNewField checks that a field that is added to the table is parsed and written for A and for B, allowed in
// queries, and documented, without any other change.
func TestNewField(t *testing.T) {
	old, words := choice.Fields, FieldWords
	t.Cleanup(func() { choice.Fields, FieldWords = old, words })
	choice.Fields = func(s *choice.Said) choice.Table {
		t := slices.DeleteFunc(old(s), func(f choice.Field) bool { return f.Key == "alloc" })
		return append(t, choice.Field{Key: "zz", Value: choice.Name(&s.Alloc)})
	}
	FieldWords = maps.Clone(words)
	FieldWords["zz"] = Words{Doc: "what a test adds", Links: []string{"v=1&p=vgg16-b64&zz=q"}}
	const text = "v=1&p=vgg16-b64&zz=q&b.zz=r"
	l, notes := Parse("p=vgg16-b64&B.ZZ=r&ZZ=Q")
	if l.Alloc != "q" || l.B == nil || l.B.Alloc != "r" || len(notes)+len(l.Unknown) > 0 {
		t.Errorf("read as %+v with B %+v, notes %q; want q and r", l, l.B, notes)
	}
	if got := l.String(); got != text {
		t.Errorf("written as %s; want %s", got, text)
	}
	if got := Of("?"+text, ""); got != text {
		t.Errorf("of a query %s; want %s", got, text)
	}
	if what, _ := tables(); !strings.Contains(what,
		"| `zz` | what a test adds | [`zz=q`](../#v=1&p=vgg16-b64&zz=q) |\n") {
		t.Errorf("the documentation has no row for it:\n%s", what)
	}
}
