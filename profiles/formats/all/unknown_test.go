package all

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// TestUnknownContent checks that the error for content that no format claims says what it seems to be.
func TestUnknownContent(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{"", "The content is empty"},
		{" \n\t", "The content is empty"},
		{"\x89PNG\r\n\x1a\n....", "This looks like a PNG image"},
		{"\xff\xd8\xff\xe0", "This looks like a JPEG image"},
		{"%PDF-1.7\n", "This looks like a PDF document"},
		{"PK\x03\x04....", "This looks like a zip archive (a PyTorch checkpoint, .npz or a spreadsheet)"},
		{"\x08\x03\x12\x0bonnx-caffe2", "This looks like an ONNX model without its graph"},
		{"\x40\x00\x00\x00\x00\x00\x00\x00{\"w\":{\"data_offsets\":[0,4]}}",
			"This looks like a safetensors file: weights"},
		{"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
			"This looks like a Git LFS pointer: the file itself is elsewhere"},
		{"PK\x03\x04....archive/data.pkl", "This looks like a checkpoint of weights (torch.save)"},
		{`{"schema": "1.0.2-chakra.0.0.4", "pid": 7, "nodes": [{"id": 2, "name": "aten::mm"}]}`,
			"This is an execution trace of PyTorch: its operators have neither times nor sizes of memory"},
		{`[[1700000000000, 1700000000100], [[0, 4096, 0], [0, 4096, 512]]]`,
			"This looks like a memory timeline (export_memory_timeline)"},
		{"\xff\xfea\x00,\x00", "This looks like UTF-16 text"},
		{`{"architectures":["GPT2"],"n_embd":768}`, "This looks like a Hugging Face config.json"},
		{`{"stages":[{"forward_s":1}]}`, `This looks like a profile without "format": "memtide/1"`},
		{`{"a":{"format":"memtide/1"}}`, `This is JSON without "format": "memtide/1"`},
		{`{"a":{"b":1`, "This begins as JSON, but is damaged or ends too early"},
		{`{"format":7}`, `This is JSON without "format": "memtide/1"`},
		{"a,b,c\n1,2,3\n", `This looks like a table whose first line is "a,b,c"`},
		{"<!DOCTYPE html><html>", "This looks like a web page"},
		{"import torch\n", "This looks like a Python program"},
		{strings.Repeat("\n", 100) + "{}", `This is JSON without "format": "memtide/1"`},
		{"Dear all,\n", `This is text that begins with "Dear all,"`},
		{"\x00\x01\x02\x03", "This is binary data of an unknown kind"},
		{"GGUF\x03\x00\x00\x00", "This looks like a GGUF file: weights"},
		{"7z\xbc\xaf\x27\x1c", "This looks like a 7-Zip archive"},
		{"\x93NUMPY\x01\x00v\x00", "This looks like a NumPy array"},
		{"\x18\x00\x00\x00\x00\x00\x00\x00\x01\x02\x03\x04\x09\x00\x00\x80\x9b\x9b\xd9A\x1a\rbrain.Event:2",
			"This looks like an event file of TensorBoard"},
		{"\x1c\x00\x00\x00TFL3\x00", "This looks like a TensorFlow Lite model"},
		{"trace.json" + strings.Repeat("\x00", 247) + "ustar\x0000", "This looks like a tar archive"},
		{"n\x00a\x00m\x00e\x00,\x00a\x00", "This looks like UTF-16 text"},
		{"\x00n\x00a\x00m\x00e\x00,\x00a", "This looks like UTF-16 text"},
		{"\x0a\x04\x08\x01\x10\x02\x12\x06\x0a\x01\x01\x12\x01\x05", "This looks like a pprof profile"},
		{"\x0a\x02\x18\x00\x0a\x02\x50\x01\x0a\x7f\x32\x80\x01", "This looks like a Perfetto trace"},
		{"(dp0\nVsegments\np1\n", "This looks like a pickle of protocol 0 or 1, which is not read"},
		{"}q\x00(X\x08\x00\x00\x00segments", "This looks like a pickle of protocol 0 or 1, which is not read"},
		{`{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}}]}`,
			"This looks like a CPU profile of V8 (Chrome, Node.js)"},
		{`{"segments":[],"device_traces":[[]]}`, "This looks like a memory snapshot written as JSON"},
		{`{"metadata":{},"weight_map":{"lm_head.weight":"a.safetensors"}}`,
			"This looks like the index of a checkpoint: names of weights"},
		{`{"peft_type":"LORA","r":8}`,
			"This looks like the config of an adapter (PEFT): it names only what it adds to a model"},
		{`{"_class_name":"AutoencoderKL","_diffusers_version":"0.6.0"}`,
			"This looks like the config of a Diffusers model, which is no transformer alone"},
		{`{"train_batch_size":32,"zero_optimization":{"stage":3}}`, "This looks like settings of DeepSpeed"},
		{`{"epoch":1,"log_history":[{"hidden_size":1}]}`, "This looks like the log of a Hugging Face Trainer"},
		{`{"version":"1.0","added_tokens":[]}`, "This looks like a tokenizer"},
		{`{"tokenizer_class":"LlamaTokenizer","bos_token_id":1,"eos_token_id":2}`,
			"This looks like settings of a tokenizer"},
		{`{"do_normalize":true,"image_mean":[0.5]}`, "This looks like settings of a preprocessor of images"},
		{`{"bos_token_id":1,"eos_token_id":2}`, "This looks like settings of text generation (generation_config.json)"},
		{"{\"step\":1}\n{\"step\":2}\n", "This is JSON line by line (a log?)"},
		{"Mon Nov 23\n| NVIDIA-SMI 550.54 |\n", "This looks like what nvidia-smi prints"},
		{"timestamp, name, memory.used [MiB]\n", "This looks like a log of nvidia-smi"},
		{"|  PyTorch CUDA memory summary, device ID 0  |\n", "This looks like what torch.cuda.memory_summary prints"},
		{"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",
			"This looks like the message of a run that ran out of memory"},
		{"-----\n   Name    Self CPU %   Self CPU\n", "This looks like the table of torch.profiler (key_averages)"},
		{"name|forward_s|backward_s|output_bytes\na|1|2|3\n",
			`This looks like a table whose first line is "name|forward_s|backward_s|output_bytes"`},
		{"train.py(10): main;net.py(20): forward;aten::linear 1234\n",
			"This looks like stacks with their times (export_stacks)"},
		{"\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05", "This is binary data of an unknown kind"},
		{"Error: no file\nat line 3\n", `This is text that begins with "Error: no file"`},
		{"model:\n  name: resnet50\n", "This looks like YAML: settings of a run"},
	} {
		_, err := profiles.Decode("profile.json", profiles.Bytes(c.input), nil)
		list := profiles.Problems(err)
		if len(list) != 1 || list[0].Found != c.want {
			t.Errorf("Decode(%q) = %v, want %q", c.input, err, c.want)
			continue
		}
		sort, _, _ := strings.Cut(list[0].Expected, " formats that can be read: ")
		for _, f := range profiles.Formats() {
			of := map[string]string{"JSON": ".json", "Text": ".csv .txt .log", "Binary": ".onnx .pickle .pt2"}[sort]
			want := slices.ContainsFunc(strings.Fields(of), func(end string) bool { return slices.Contains(f.Extensions, end) })
			if strings.Contains(list[0].Expected, f.Title) != want {
				t.Errorf("Decode(%q) says that %q is read: %v; want %v: %s", c.input, f.Title, !want, want, list[0].Expected)
			}
		}
		formattest.CheckProblems(t, err)
	}
}

// TestMeant checks that an error about a missing number asks whether a name was meant that begins alike, in tables and
// in JSON, and says it once for all stages.
func TestMeant(t *testing.T) {
	for content, want := range map[string]string{
		"name,fwd,forward,backward_s,output_bytes\na,1,2,3,4\n": `Line 1: The header lacks forward_s; it has name, fwd, forward, backward_s, output_bytes. ` +
			`Columns forward_s and backward_s, in seconds, and output_bytes are required. Did you mean "forward"? If it holds seconds, rename it to forward_s.`,
		`{"format":"memtide/1","stages":[{"forward_s":1,"backward_s":2,"out":3},{"forward_s":1,"backward_s":2,"out":3}]}`: `Stage 1 and 1 more: output_bytes is missing. ` +
			`Every stage needs forward_s, backward_s and output_bytes. Did you mean "out"? If it holds bytes, rename it to output_bytes.`,
		"name,forward_ms,backward_us,activation_mb,out_MiB\na,1,2,3,4\n": `Line 1: The header lacks forward_s, backward_s, output_bytes; it has name, forward_ms, backward_us, activation_mb, out_mib. ` +
			`Columns forward_s and backward_s, in seconds, and output_bytes are required. ` +
			`Divide "forward_ms" by 1,000 and name it forward_s. Divide "backward_us" by 1,000,000 and name it backward_s. Multiply "out_mib" by 1,048,576 and name it output_bytes.`,
		"name,forward_s,backward_s,output_unsaved\na,1,2,true\n": `Line 1: The header lacks output_bytes; it has name, forward_s, backward_s, output_unsaved. ` +
			`Columns forward_s and backward_s, in seconds, and output_bytes are required. Add output_bytes, or rename the column that holds these numbers.`,
	} {
		_, err := profiles.Decode("x", profiles.Bytes(content), nil)
		if p := profiles.Problems(err); len(p) != 1 || p[0].Error()+" "+p[0].Remedy != want {
			t.Errorf("%q is refused with %v; want %q first, with its remedy", content, err, want)
		}
	}
}

// TestProblemParts checks the parts of an error that a page shows separately from the text.
func TestProblemParts(t *testing.T) {
	_, err := profiles.Decode("x",
		profiles.Bytes(`{"format":"memtide/1","stages":[{"forward_s":1,"backward_s":2,"output_bytes":3},{"name":"layer1.0","forward_s":1,"backward_s":-2,"output_bytes":1}]}`), nil)
	got := *profiles.Problems(err)[0]
	want := profiles.FormatError{Path: "stages[1].backward_s", Stage: 2, Name: "layer1.0",
		Found:    "backward_s is -2",
		Expected: "Times cannot be negative.", Remedy: "Correct the number, or measure again; 0 is allowed."}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	_, err = profiles.Decode("x", profiles.Bytes("name,forward_s,backward_s,output_bytes\na,1,-2,3\na,1,-3,3\n"), nil)
	if first, ok := errors.AsType[*profiles.FormatError](err); !ok || first.Line != 2 ||
		len(profiles.Problems(err)) != 2 {
		t.Errorf("errors.AsType finds %+v in %v, want the first of two problems", first, err)
	}
}
