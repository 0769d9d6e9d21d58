package all

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// TestByteOrderMark checks that the mark that some editors write before UTF-8 text is ignored.
func TestByteOrderMark(t *testing.T) {
	for _, file := range sampleFiles(t) {
		data := formattest.Read(t, file)
		p, err := profiles.Decode("x", profiles.Bytes(append([]byte("\xef\xbb\xbf"), data...)), nil)
		if err != nil {
			t.Errorf("%s with a byte order mark: %v", file, err)
		} else if q, err := profiles.Decode("x", profiles.Bytes(data), nil); err != nil ||
			dump(p) != dump(q) {
			t.Errorf("%s with a byte order mark reads\n%swithout\n%s%v", file, dump(p),
				dump(q), err)
		}
	}
}

// TestDecodeStops checks that every format returns the error of a poll that stops it.
func TestDecodeStops(t *testing.T) {
	ctx := engine.LimitCalls(t.Context(), 0)
	for _, f := range profiles.Formats() {
		for _, file := range sampleFiles(t) {
			data := formattest.Read(t, file)
			if !f.Match(data[:min(len(data), profiles.HeadSize)]) {
				continue
			}
			p, err := profiles.Try(func() *profiles.Profile {
				poll := engine.NewPoll(ctx, nil)
				if f.Decode == nil {
					return f.Stream("x", bytes.NewReader(data), len(data), profiles.AnyDevice, poll)
				}
				return f.Decode("x", data, poll)
			})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %s with a poll that stops: %v, %v; want the poll's error", f.Name, file, p, err)
			}
		}
	}
}
