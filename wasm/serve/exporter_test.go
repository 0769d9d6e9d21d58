package serve

import (
	"strings"
	"testing"

	"memtide/wasm/proto"
)

// A program that links no exporter, like the page, says so.
func TestNoExporter(t *testing.T) {
	defer func(before Exporter) { exporter = before }(exporter)
	exporter = nil
	out, fail := new(Server).export(&proto.Export{Form: proto.FormJSON})
	if out != nil || fail == nil || fail.Kind != proto.BadRequest || !strings.Contains(fail.Error(), "cannot write schedules") {
		t.Errorf("got %v, %v; want a bad request: this program cannot write schedules", out, fail)
	}
}
