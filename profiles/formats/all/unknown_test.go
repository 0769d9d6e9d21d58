package all

import (
	"errors"
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// TestUnknownContent: what nobody claims is named where that can be told.
func TestUnknownContent(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{"", "The content is empty"},
		{" \n\t", "The content is empty"},
		{"\x89PNG\r\n\x1a\n....", "This looks like a PNG image"},
		{"\xff\xd8\xff\xe0", "This looks like a JPEG image"},
		{"%PDF-1.7\n", "This looks like a PDF document"},
		{"PK\x03\x04....", "This looks like a zip archive (a PyTorch checkpoint, .npz or a spreadsheet)"},
		{"\x08\x03\x12\x0bonnx-caffe2", "This looks like an ONNX model without its graph"},
		{"\x40\x00\x00\x00\x00\x00\x00\x00{\"w\":{\"data_offsets\":[0,4]}}", "This looks like a safetensors file: weights"},
		{"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "This looks like a Git LFS pointer: the file itself is elsewhere"},
		{"PK\x03\x04....archive/data.pkl", "This looks like a checkpoint of weights (torch.save)"},
		{`{"schema": "1.0.2-chakra.0.0.4", "pid": 7, "nodes": [{"id": 2, "name": "aten::mm"}]}`, "This is an execution trace of PyTorch: its operators have neither times nor sizes of memory"},
		{`[[1700000000000, 1700000000100], [[0, 4096, 0], [0, 4096, 512]]]`, "This looks like a memory timeline (export_memory_timeline)"},
		{"\xff\xfea\x00,\x00", "This looks like UTF-16 text"},
		{`{"architectures":["GPT2"],"n_embd":768}`, "This looks like a Hugging Face config.json"},
		{`{"stages":[{"forward_s":1}]}`, `This looks like a profile without "format": "memtide/1"`},
		{`{"a":{"format":"memtide/1"}}`, `This is JSON without "format": "memtide/1"`},
		{`{"format":7}`, `This is JSON without "format": "memtide/1"`},
		{"a,b,c\n1,2,3\n", `This looks like a table whose first line is "a,b,c"`},
		{"<!DOCTYPE html><html>", "This looks like a web page"},
		{"import torch\n", "This looks like a Python program"},
		{strings.Repeat("\n", 100) + "{}", `This is JSON without "format": "memtide/1"`},
		{"Dear all,\n", `This is text that begins with "Dear all,"`},
		{"\x00\x01\x02\x03", "This is binary data of an unknown kind"},
	} {
		_, err := profiles.Decode("profile.json", profiles.Bytes(c.input), nil)
		list := profiles.Problems(err)
		if len(list) != 1 || list[0].Found != c.want {
			t.Errorf("Decode(%q) = %v, want %q", c.input, err, c.want)
			continue
		}
		for _, f := range profiles.Formats() {
			if !strings.Contains(list[0].Expected, f.Title) {
				t.Errorf("Decode(%q) does not say that %q is read: %s", c.input, f.Title, list[0].Expected)
			}
		}
		formattest.CheckProblems(t, err)
	}
}

// TestProblemParts pins the parts that a page shows apart from the text.
func TestProblemParts(t *testing.T) {
	_, err := profiles.Decode("x", profiles.Bytes(`{"format":"memtide/1","stages":[{"forward_s":1,"backward_s":2,"output_bytes":3},{"name":"layer1.0","forward_s":1,"backward_s":-2,"output_bytes":1}]}`), nil)
	got := *profiles.Problems(err)[0]
	want := profiles.FormatError{Format: "memtide", Path: "stages[1].backward_s", Stage: 2, Name: "layer1.0", Found: "backward_s is -2",
		Expected: "Times cannot be negative.", Remedy: "Correct the number, or measure again; 0 is allowed."}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	_, err = profiles.Decode("x", profiles.Bytes("name,forward_s,backward_s,output_bytes\na,1,-2,3\na,1,-2,3\n"), nil)
	if first, ok := errors.AsType[*profiles.FormatError](err); !ok || first.Line != 2 || len(profiles.Problems(err)) != 2 {
		t.Errorf("errors.AsType finds %+v in %v, want the first of two problems", first, err)
	}
}
