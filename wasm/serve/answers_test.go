package serve_test

import (
	"testing"

	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

// The program that links everything answers every request, but what breaks workers.
func TestEveryRequestIsAnswered(t *testing.T) {
	for _, req := range proto.Requests() {
		_, breaks := req.(*proto.Break)
		if got := serve.Answers(req); got == breaks {
			t.Errorf("%T is answered: %t; want %t", req, got, !breaks)
		}
	}
}
