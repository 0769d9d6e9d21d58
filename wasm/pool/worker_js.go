package pool

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hack-pad/safejs"
)

// New starts workers with the compiled module of this very program. The page
// must have set globalThis.memtide.worker, the absolute address of the worker's
// script (web/static/worker.js after Go's wasm_exec.js). If it has also set
// selftest, scripts may send requests (see publish). The error says what the
// browser lacks; then serve.Local still works, on the page's own thread.
func New(module safejs.Value) (*Pool, error) {
	page, start, err := starter(module)
	if err != nil {
		return nil, err
	}
	p := newPool(min(page.cores-1, 4), start)
	if page.selftest {
		if err := publish(p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// NewReader starts one worker with another module: the program that reads all
// formats.
func NewReader(module safejs.Value) (*Pool, error) {
	_, start, err := starter(module)
	if err != nil {
		return nil, err
	}
	return newPoolOf(1, 1, start), nil
}

// starter is how workers with a module are started on this page.
func starter(module safejs.Value) (page settings, start func(events) (port, error), err error) {
	if page, err = pageSettings(); err != nil {
		return page, nil, err
	}
	source := page.worker
	if !strings.HasPrefix(source, "blob:") { // as it is in a page that is one file
		source, err = blobURL(fmt.Sprintf("importScripts(%q);", page.worker))
		if err != nil {
			return page, nil, fmt.Errorf("no worker can be made: %w", err)
		}
	}
	return page, func(e events) (port, error) {
		return startWorker(source, module, page.selftest, e)
	}, nil
}

type settings struct {
	worker   string
	cores    int
	selftest bool
}

func pageSettings() (s settings, err error) {
	page, err := safejs.Global().Get("memtide")
	if err != nil {
		return s, err
	}
	if s.worker, err = stringField(page, "worker"); err != nil {
		return s, err
	}
	v, err := page.Get("selftest")
	if err != nil {
		return s, err
	}
	if s.selftest, err = v.Truthy(); err != nil {
		return s, err
	}
	s.cores = cores()
	return s, nil
}

// cores is the number of processors that the browser admits to, 2 if it does not.
func cores() int {
	nav, err := safejs.Global().Get("navigator")
	if err != nil {
		return 2
	}
	v, err := nav.Get("hardwareConcurrency")
	if err != nil {
		return 2
	}
	n, err := v.Int()
	if err != nil || n < 1 {
		return 2
	}
	return n
}

// blobURL makes an address for a script. Workers start from it because
// new Worker(address) is refused in sandboxed frames, while a blob that imports
// the same address is not.
func blobURL(script string) (string, error) {
	blob, err := construct("Blob", []any{script}, map[string]any{"type": "text/javascript"})
	if err != nil {
		return "", err
	}
	url, err := safejs.Global().Get("URL")
	if err != nil {
		return "", err
	}
	v, err := url.Call("createObjectURL", blob)
	if err != nil {
		return "", err
	}
	return v.String()
}

func construct(class string, args ...any) (safejs.Value, error) {
	ctor, err := safejs.Global().Get(class)
	if err != nil {
		return safejs.Value{}, err
	}
	if ctor.IsUndefined() {
		return safejs.Value{}, fmt.Errorf("the browser has no %s", class)
	}
	return ctor.New(args...)
}

// startWorker makes a Worker and tells it which module it runs.
func startWorker(source string, module safejs.Value, selftest bool, e events) (port, error) {
	w, err := construct("Worker", source)
	if err != nil {
		return port{}, err
	}
	var listeners []safejs.Func
	kill := func() {
		// What can be done about an error here is done already: nobody listens any more.
		_, _ = w.Call("terminate")
		for _, f := range listeners {
			f.Release()
		}
		listeners = nil
	}
	for name, handle := range map[string]func(safejs.Value){
		"onmessage": func(event safejs.Value) { dispatch(event, e) },
		"onerror":   func(event safejs.Value) { e.died(eventText(event)) },
	} {
		f, err := safejs.FuncOf(func(_ safejs.Value, args []safejs.Value) any {
			if len(args) > 0 {
				handle(args[0])
			}
			return nil
		})
		if err == nil {
			listeners = append(listeners, f)
			err = w.Set(name, f)
		}
		if err != nil {
			kill()
			return port{}, err
		}
	}
	start, err := safejs.ValueOf(map[string]any{"type": "init", "module": safejs.Unsafe(module), "selftest": selftest})
	if err == nil {
		_, err = w.Call("postMessage", start)
	}
	if err != nil {
		kill()
		return port{}, fmt.Errorf("the module cannot be posted to a worker: %w", err)
	}
	return port{send: func(b []byte, handle any) error { return post(w, "request", b, handle) }, kill: kill}, nil
}

// dispatch reads a message of worker.js or of Serve: {type, body|detail}.
func dispatch(event safejs.Value, e events) {
	data, err := event.Get("data")
	if err != nil {
		e.died(err.Error())
		return
	}
	kind, err := stringField(data, "type")
	if err != nil {
		e.died(err.Error())
		return
	}
	switch kind {
	case "ready":
		e.ready()
	case "reply":
		b, err := body(data)
		if err != nil {
			e.died(err.Error())
			return
		}
		e.message(b)
	case "exit":
		detail, err := stringField(data, "detail")
		if err != nil {
			detail = err.Error()
		}
		e.died(detail)
	}
}

func eventText(event safejs.Value) string {
	// The browser's own report of it would be a second one.
	_, _ = event.Call("preventDefault")
	text, err := stringField(event, "message")
	if err != nil || text == "" {
		return "the worker could not be loaded"
	}
	return text
}

func stringField(v safejs.Value, name string) (string, error) {
	f, err := v.Get(name)
	if err != nil {
		return "", err
	}
	if f.Type() != safejs.TypeString {
		return "", fmt.Errorf("%s is a JavaScript %v; expected a string", name, f.Type())
	}
	return f.String()
}

// body copies the bytes of a message.
func body(data safejs.Value) ([]byte, error) {
	v, err := data.Get("body")
	if err != nil {
		return nil, err
	}
	n, err := v.Length()
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	copied, err := safejs.CopyBytesToGo(b, v)
	if err == nil && copied != n {
		err = errors.New("a message was cut")
	}
	return b, err
}

// post sends bytes, which are handed over and not copied by the browser, and with
// them a file that the other side reads, if handle is a safejs.Value.
func post(to safejs.Value, kind string, b []byte, handle any) error {
	array, err := construct("Uint8Array", len(b))
	if err != nil {
		return err
	}
	if _, err := safejs.CopyBytesToJS(array, b); err != nil {
		return err
	}
	buffer, err := array.Get("buffer")
	if err != nil {
		return err
	}
	parts := map[string]any{"type": kind, "body": safejs.Unsafe(array)}
	if file, ok := handle.(safejs.Value); ok {
		parts["file"] = safejs.Unsafe(file)
	}
	message, err := safejs.ValueOf(parts)
	if err != nil {
		return err
	}
	transfer, err := safejs.ValueOf([]any{safejs.Unsafe(buffer)})
	if err != nil {
		return err
	}
	_, err = to.Call("postMessage", message, transfer)
	return err
}
