package all

import (
	"bytes"
	"encoding/binary"
)

// looksLikePickle knows the pickles of protocols 0 and 1, which begin with what they
// hold.
func looksLikePickle(head []byte) (what, remedy string, ok bool) {
	const remedyOld = "Write it again with protocol 2 or higher; torch.cuda.memory._dump_snapshot does."
	for _, begin := range []string{"(dp0\n", "(lp0\n", "(dp1\n", "(lp1\n", "}q\x00", "]q\x00", "ccopy_reg\n", "c__builtin__\n"} {
		if bytes.HasPrefix(head, []byte(begin)) {
			return "This looks like a pickle of protocol 0 or 1, which is not read", remedyOld, true
		}
	}
	return "", "", false
}

// looksLikeBinary names what is no text.
func looksLikeBinary(head []byte) (what, remedy string) {
	has := func(text string, from, to int) bool {
		return len(head) > from && bytes.Contains(head[from:min(len(head), to)], []byte(text))
	}
	switch {
	case head[0] == 0x08 && has("onnx", 0, 256):
		return "This looks like an ONNX model without its graph", "Copy, download or export the model again."
	case len(head) > 9 && head[8] == '{' && has(`"data_offsets"`, 0, 4096):
		return "This looks like a safetensors file: weights", recordHint
	case has("brain.Event:", 12, 64):
		return "This looks like an event file of TensorBoard", "Open the trace that its profiler wrote beside it (.pt.trace.json), or record one."
	case has("TFL3", 4, 8):
		return "This looks like a TensorFlow Lite model", "Export the model as ONNX, or record a profile of a training step."
	case has("ustar", 257, 263):
		return "This looks like a tar archive", unpackHint
	case isWide(head):
		return "This looks like UTF-16 text", againHint
	case bytes.HasPrefix(head, []byte("\x0a\x04\x08")) && head[min(len(head)-1, 4)] == 0x10:
		return "This looks like a pprof profile", traceHint
	case isPackets(head):
		return "This looks like a Perfetto trace", "Export the trace of torch.profiler as JSON: export_chrome_trace."
	}
	return "This is binary data of an unknown kind", collectHint
}

// isWide says whether every second byte is 0 and the others are no control bytes, as of
// Latin letters in UTF-16.
func isWide(head []byte) bool {
	head = head[:min(len(head), 512)&^1]
	zeros, odd := [2]int{}, [2]int{}
	for i, c := range head {
		switch {
		case c == 0:
			zeros[i%2]++
		case isBinary(rune(c)):
			odd[i%2]++
		}
	}
	is := func(zero, letter int) bool { return zeros[letter]+odd[letter] == 0 && 4*zeros[zero] >= len(head) }
	return len(head) >= 8 && (is(0, 1) || is(1, 0))
}

// isPackets says whether the head is a list of messages of protocol buffers that are all
// the field 1, three at least.
func isPackets(head []byte) bool {
	n := 0
	for len(head) > 0 {
		if head[0] != 0x0a {
			return false
		}
		size, k := binary.Uvarint(head[1:])
		if k <= 0 || size == 0 {
			return false
		}
		if n++; size > uint64(len(head)-1-k) { // it goes on behind the head
			break
		}
		head = head[1+k+int(size):]
	}
	return n >= 3
}
