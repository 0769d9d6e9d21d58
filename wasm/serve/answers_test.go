package serve_test

import (
	"testing"

	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

// TestEveryRequestIsAnswered checks that the program that links all packages answers every request except Break.
func TestEveryRequestIsAnswered(t *testing.T) {
	for _, req := range proto.Requests() {
		_, breaks := req.(*proto.Break)
		if got := serve.Answers(req); got == breaks {
			t.Errorf("%T is answered: %t; want %t", req, got, !breaks)
		}
	}
}
