package serve_test

import (
	"context"
	"strings"
	"testing"

	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

// TestBufferPreset checks that a preset of buffers opens like a file of buffers, and that solving it fails with
// the reason.
func TestBufferPreset(t *testing.T) {
	var pool serve.Local
	r, err := proto.Do(context.Background(), pool.Do, &proto.Open{Preset: "larger-pool-b1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Memory; m == nil || m.Count != 5 || m.Name == "" {
		t.Errorf("larger-pool-b1 is opened as %+v; want 5 buffers with a name", m)
	}
	q := &proto.Solve{Setting: proto.Setting{Network: proto.Network{Preset: "larger-pool-b1"}},
		Method: proto.Method{Strategy: "keepall"}}
	if _, err = pool.Do(context.Background(), q, nil); err == nil ||
		!strings.Contains(err.Error(), "is a list of buffers") {
		t.Errorf("solving larger-pool-b1: %v; want that it is a list of buffers", err)
	}
}
