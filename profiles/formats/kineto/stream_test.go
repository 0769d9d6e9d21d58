package kineto

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// TestStreamed checks that packed traces read like unpacked ones, with and without a byte order mark. Damage of
// the packed data is reported as such.
func TestStreamed(t *testing.T) {
	plain := formattest.Read(t, "testdata/modules.trace.json")
	want, err := profiles.Decode("x", profiles.Bytes(plain), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range [][]byte{plain, append([]byte("\xef\xbb\xbf"), plain...)} {
		packed := formattest.Pack(t, content)
		got, err := profiles.Decode("x", profiles.Bytes(packed), nil)
		if err != nil || formattest.Text(got) != formattest.Text(want) {
			t.Errorf("the packed trace: %v, %s\nwant\n%s", err, formattest.Text(got), formattest.Text(want))
		}
	}
	// Random text compresses badly, so the head is read long before the end.
	long := append(bytes.TrimSuffix(bytes.TrimSpace(plain), []byte("}")), `, "rest": "`...)
	for i := range 300_000 {
		long = append(long, byte('a'+i*i%23))
	}
	packed := formattest.Pack(t, append(long, `"}`...))
	if _, err := profiles.Decode("x", profiles.Bytes(packed), nil); err != nil {
		t.Errorf("a trace with more than a buffer behind its events: %v", err)
	}
	for cut := range 8 {
		_, err := profiles.Decode("x", profiles.Bytes(packed[:len(packed)*cut/8]), nil)
		formattest.CheckProblems(t, err)
		if err == nil {
			t.Errorf("%d/8 of a packed trace is read", cut)
		}
	}
	damaged := bytes.Clone(packed)
	damaged[len(damaged)-6] ^= 1 // in the checksum
	if _, err := profiles.Decode("x", profiles.Bytes(damaged), nil); err == nil ||
		!strings.Contains(err.Error(), "The gzip data is damaged") {
		t.Errorf("a wrong checksum: %v, want to hear of damaged gzip data", err)
	}
}

// TestStreamInPieces checks that the number of bytes per read does not matter.
func TestStreamInPieces(t *testing.T) {
	plain := formattest.Read(t, "testdata/stacks.trace.json")
	want, err := profiles.Decode("x", profiles.Bytes(plain), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := profiles.Try(func() *profiles.Profile {
		return decode("x",
			iotest.OneByteReader(bytes.NewReader(plain)), 0, nil)
	})
	if err != nil || got.Totals() != want.Totals() {
		t.Errorf("byte by byte: %v, %+v; want %+v", err, got, want.Totals())
	}
}

// TestKinetoProgress checks that progress counts the bytes of the unpacked content.
func TestKinetoProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		b.WriteString(`{"traceEvents": [`)
		for range 3 * 4096 {
			b.WriteString(`{"ph":"M","name":"thread_name"},` + "\n")
		}
		b.WriteString("]}")
		// Each poll advances the clock of the bubble enough for a report.
		ticking := context.WithValue(t.Context(), engine.Yield{}, func() { time.Sleep(engine.ReportEvery) })
		var all []engine.Progress
		poll := engine.NewPoll(ticking, func(p engine.Progress) { all = append(all, p) })
		if _, err := profiles.Decode("x", profiles.Bytes(b.String()), poll); err == nil {
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
