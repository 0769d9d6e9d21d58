//go:build !js

package browsertest

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// traceWriter writes a trace of a chain of blocks as torch.profiler does, with call stacks, Python frames, arrows
// and recorded memory. The sizes and proportions of its events are about those of a real trace.
type traceWriter struct {
	w       *bufio.Writer
	written int64
	now     int64 // microseconds
	id      int64
	held    int64
}

const traceStack = "/opt/venv/lib/python3.10/site-packages/torch/nn/functional.py(2282): batch_norm;" +
	"/opt/venv/lib/python3.10/site-packages/torch/nn/modules/batchnorm.py(168): forward;" +
	"/opt/venv/lib/python3.10/site-packages/torch/nn/modules/module.py(1051): _call_impl;" +
	"/opt/venv/lib/python3.10/site-packages/torchvision/models/resnet.py(249): _forward_impl;" +
	"/opt/venv/lib/python3.10/site-packages/torch/nn/modules/module.py(1051): _call_impl;train.py(40): <module>"

func (w *traceWriter) event(format string, args ...any) {
	w.id++
	n, _ := fmt.Fprintf(w.w, format+",\n", args...) // Flush returns the error
	w.written += int64(n)
}

// op writes an operator on a thread with its kernel, the memory that it keeps, the arrows between the two, and
// Python frames around it.
func (w *traceWriter) op(thread int, name string, sequence, forward int, keeps int64) {
	from, external := w.now, w.id+1
	w.now += 12
	w.held += keeps
	w.event(`{"ph": "X", "cat": "cpu_op", "name": %q, "pid": 1, "tid": %d, "ts": %d, "dur": 11, "args": {"External id": %d, "Sequence number": %d, "Fwd thread id": %d, "Trace name": "PyTorch Profiler", "Trace iteration": 0, "Input Dims": [[32, 64, 56, 56], [64, 64, 3, 3], [], [1, 1]], "Input type": ["float", "float", "Int"], "Call stack": %q}}`,
		name, thread, from, external, sequence, forward, traceStack)
	w.event(`{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": %d, "ts": %d, "dur": 3, "args": {"cbid": 211, "correlation": %d, "external id": %d}}`, thread, from+2, external, external)
	w.event(`{"ph": "s", "id": %d, "pid": 1, "tid": %d, "ts": %d, "cat": "ac2g", "name": "ac2g"}`, external, thread,
		from+2)
	w.event(`{"ph": "f", "id": %d, "pid": 0, "tid": "stream 7", "ts": %d, "cat": "ac2g", "name": "ac2g", "bp": "e"}`,
		external, from+30)
	w.event(`{"ph": "X", "cat": "kernel", "name": "volta_scudnn_128x64_relu_interior_nn_v1", "pid": 0, "tid": "stream 7", "ts": %d, "dur": 10, "args": {"External id": %d, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": %d, "registers per thread": 126, "shared memory": 12544, "blocks per SM": 49.0, "warps per SM": 196.0, "grid": [392, 1, 10], "block": [128, 1, 1], "est. achieved occupancy %%": 31}}`, from+30, external, external)
	w.event(`{"ph": "i", "name": "[memory]", "s": "t", "pid": 1, "tid": %d, "ts": %d, "args": {"Device Type": 1, "Device Id": 0, "Addr": %d, "Bytes": %d, "Total Allocated": %d}}`, thread, from+1, 4096*external, keeps, 100_000_000+w.held)
	for frame := range 4 {
		w.event(`{"ph": "X", "cat": "python_function", "name": "torch/nn/modules/conv.py(%d): forward", "pid": 1, "tid": %d, "ts": %d, "dur": 11, "args": {"Python id": %d, "Python parent id": %d, "Python module id": 0}}`, 440+frame, thread, from, w.id, external)
	}
}

// step writes a training step with the given number of blocks.
func (w *traceWriter) step(number, blocks int) {
	const mib = 1 << 20
	from := w.now
	for b := range blocks {
		enter := w.now
		w.now++
		for o := range 3 {
			w.op(1, "aten::conv2d", 10*b+o, 0, mib)
		}
		w.now++
		w.event(`{"ph": "X", "cat": "python_function", "name": "nn.Module: Block_%d", "pid": 1, "tid": 1, "ts": %d, "dur": %d}`, b, enter, w.now-enter)
	}
	w.op(1, "aten::cross_entropy_loss", 10*blocks, 0, 512)
	for b := blocks - 1; b >= 0; b-- {
		for o := 2; o >= 0; o-- {
			w.op(2, "ConvolutionBackward0", 10*b+o, 1, -mib)
		}
	}
	w.op(1, "aten::add_", 10*blocks+1, 0, -512)
	w.now += 100
	w.event(`{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 1, "tid": 1, "ts": %d, "dur": %d, "args": {"External id": %d}}`, number, from, w.now-from, w.id)
}

// writeTrace writes a trace of at least size bytes to a file and returns its path.
func writeTrace(t *testing.T, blocks int, size int64) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "large.trace.json")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := &traceWriter{w: bufio.NewWriterSize(f, 1<<20), now: 1_700_000_000_000_000}
	fmt.Fprintf(w.w, `{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Test GPU", "totalGlobalMem": 17179869184}], "traceEvents": [`+"\n")
	for step := 0; w.written < size; step++ {
		w.step(step, blocks)
	}
	fmt.Fprintf(w.w, `{"ph": "M", "name": "process_name", "pid": 1}]}`)
	if err := w.w.Flush(); err != nil {
		t.Fatal(err)
	}
	return name
}

// dropPath drops a file of the disk on the page.
func dropPath(p *Page, name string) {
	p.t.Helper()
	Eval[bool](p, `(() => { const e = document.createElement("input"); e.type = "file"; e.id = "large-file"; e.hidden = true; document.body.append(e); return true })()`)
	found, err := chromedp.Call(p.Context(), runtime.Evaluate,
		runtime.EvaluateParams{Expression: `document.querySelector("#large-file")`})
	p.do(err)
	_, err = chromedp.Call(p.Context(), dom.SetFileInputFiles,
		dom.SetFileInputFilesParams{Files: []string{name}, ObjectID: found.Result.ObjectID})
	p.do(err)
	Eval[bool](p, `(() => {
		const data = new DataTransfer();
		data.items.add(document.querySelector("#large-file").files[0]);
		document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
		return true;
	})()`)
}

// tabMemory returns the most memory in bytes that any renderer of the browser has used so far, or 0 where the
// system has no /proc. A renderer holds a tab with its workers, and code of the browser.
func tabMemory() (most int64) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		cmd, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(cmd, []byte("--type=renderer")) {
			continue
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(file), "status"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
				most = max(most, n<<10)
			}
		}
	}
	return most
}

// mostTabMemory is the most memory that a tab may use when it opens a trace of hundreds of megabytes.
const mostTabMemory = 1 << 30

// TestLargeTrace checks that a worker reads a large trace from the disk in parts, so that neither the page nor
// the worker holds it as a whole. MEMTIDE_TRACE_MB sets the size of the trace. The test is not parallel, because
// it looks at the memory of all tabs.
func TestLargeTrace(t *testing.T) {
	size := int64(12_000_000) // too large for the page to read the file itself
	if n, err := strconv.ParseInt(os.Getenv("MEMTIDE_TRACE_MB"), 10, 64); err == nil {
		size = n * 1_000_000
	}
	const blocks = 50
	name := writeTrace(t, blocks, size)
	p := settledPage(t, resnet)
	Eval[bool](p, makeSnapshot)
	before := tabMemory()
	Eval[bool](p, `longest(); true`)
	dropPath(p, name)
	took := p.Wait(`document.title.startsWith("large") && document.body.dataset.state === "ready"`)
	after := tabMemory()
	t.Logf("%d MB: open and solved after %v; longest pause of the page %.0f ms; most memory of the tab %d MiB, before %d MiB; heap of the page %.0f MiB",
		size/1_000_000, took.Round(time.Millisecond), Eval[float64](p, `window.pause`), after>>20, before>>20,
		Eval[float64](p, `performance.memory.usedJSHeapSize`)/(1<<20))
	if after > mostTabMemory {
		t.Errorf("the tab held %d MiB; want at most %d MiB", after>>20, mostTabMemory>>20)
	}
	p.Click(`[data-do="layers"]`)
	// The loss is one more row.
	p.Wait(fmt.Sprintf(`document.body.textContent.includes("Block_0") && document.body.textContent.includes("%d rows")`, blocks+1))
	p.Quiet()
}
