//go:build !lean

package profiles

import (
	"bytes"
	"compress/gzip"
	"context"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"memtide/engine"
)

// pack is content, gzipped.
func pack(t *testing.T, content []byte) []byte {
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

// TestStreamed: packed traces read like unpacked ones, with and without a byte
// order mark, and damage of the packing is told as such.
func TestStreamed(t *testing.T) {
	plain := readSample(t, "testdata/modules.trace.json")
	want, err := Decode("x", plain, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range [][]byte{plain, append([]byte("\xef\xbb\xbf"), plain...)} {
		packed := pack(t, content)
		if f, _ := streamed(bytes.NewReader(packed), int64(len(packed))); f == nil || f.Name != "kineto" {
			t.Errorf("streamed(packed trace) = %v, want kineto", f)
		}
		got, err := Decode("x", packed, nil)
		if err != nil || dump(got) != dump(want) {
			t.Errorf("the packed trace: %v, %s\nwant\n%s", err, dump(got), dump(want))
		}
	}
	// Random text packs badly: the head is read long before the end.
	long := append(bytes.TrimSuffix(bytes.TrimSpace(plain), []byte("}")), `, "rest": "`...)
	for i := range 300_000 {
		long = append(long, byte('a'+i*i%23))
	}
	packed := pack(t, append(long, `"}`...))
	if _, err := Decode("x", packed, nil); err != nil {
		t.Errorf("a trace with more than a buffer behind its events: %v", err)
	}
	for cut := range 8 {
		_, err := Decode("x", packed[:len(packed)*cut/8], nil)
		checkProblems(t, err)
		if err == nil {
			t.Errorf("%d/8 of a packed trace is read", cut)
		}
	}
	damaged := bytes.Clone(packed)
	damaged[len(damaged)-6] ^= 1 // in the checksum
	if _, err := Decode("x", damaged, nil); err == nil || !strings.Contains(err.Error(), "The gzip data is damaged") {
		t.Errorf("a wrong checksum: %v, want to hear of damaged gzip data", err)
	}
}

// TestStreamInPieces: it does not matter how much a reader gives at a time.
func TestStreamInPieces(t *testing.T) {
	plain := readSample(t, "testdata/stacks.trace.json")
	want, err := Decode("x", plain, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeKineto("x", iotest.OneByteReader(bytes.NewReader(plain)), 0, nil)
	if err != nil || got.Totals() != want.Totals() {
		t.Errorf("byte by byte: %v, %+v; want %+v", err, got, want.Totals())
	}
}

// TestKinetoProgress: progress is in bytes of the unpacked content.
func TestKinetoProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		b.WriteString(`{"traceEvents": [`)
		for range 3 * 4096 {
			b.WriteString(`{"ph":"M","name":"thread_name"},` + "\n")
		}
		b.WriteString("]}")
		ticking := context.WithValue(t.Context(), engine.Yield{}, func() { time.Sleep(engine.ReportEvery) }) // all reports are heard
		var all []engine.Progress
		poll := engine.NewPoll(ticking, func(p engine.Progress) { all = append(all, p) })
		if _, err := Decode("x", []byte(b.String()), poll); err == nil {
			t.Error("a trace without operators is read")
		}
		if len(all) == 0 {
			t.Error("no progress is told")
		}
		for i, p := range all {
			if p.Total != b.Len() || p.Done <= 0 || p.Done >= p.Total || i > 0 && p.Done <= all[i-1].Done {
				t.Errorf("progress %d of %d is %+v, want some of %d, and more each time", i, len(all), p, b.Len())
			}
		}
	})
}
