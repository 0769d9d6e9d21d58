// Package formattest has helpers for the tests of formats. The contract of every format is in the tests of formats/all.
// The tests of one format are in its own folder, and link formats/all so that every format sees the content.
package formattest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"memtide/profiles"
)

// MustDecode decodes data, and fails the test on an error.
func MustDecode(t testing.TB, name string, data []byte) *profiles.Profile {
	t.Helper()
	p, err := profiles.Decode(name, profiles.Bytes(data), nil)
	if err != nil {
		t.Fatalf("Decode(%s) = %v", name, err)
	}
	return p
}

// CheckProblems checks that an error of Decode is nil or consists of complete problems. It is for calls without a poll.
func CheckProblems(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	list := profiles.Problems(err)
	if len(list) == 0 {
		t.Errorf("error %v has no problems, want a *FormatError", err)
	}
	for _, e := range list {
		if e.Found == "" || e.Remedy == "" || !strings.HasSuffix(e.Expected, ".") || !strings.HasSuffix(e.Remedy, ".") {
			t.Errorf("problem %+v lacks a part", e)
		}
	}
}

// Text returns a whole profile as text, for messages.
func Text(p *profiles.Profile) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(p); err != nil {
		return err.Error()
	}
	return b.String()
}

// Read returns the unpacked content of a sample file.
func Read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = profiles.Unpack(data, nil); err != nil {
		t.Fatal(err)
	}
	return data
}

// Pack returns gzipped content.
func Pack(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if _, err := zw.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ContentOf returns data as content that Decode does not recognize as Bytes.
func ContentOf(data []byte) profiles.Content {
	return io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data)))
}
