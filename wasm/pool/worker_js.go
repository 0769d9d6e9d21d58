package pool

import (
	"errors"
	"fmt"

	"github.com/hack-pad/safejs"
)

// New returns a pool of workers that run module, the compiled module of this very program. The page
// must have set globalThis.memtide.worker to the address of a blob that is or imports the worker's
// script (web/static/worker.js after Go's wasm_exec.js). It may have started the first worker,
// memtide.first. If it has also set selftest, scripts may send requests (see publish). The error
// says what the browser lacks; serve.Local then still works, on the page's own thread.
func New(module safejs.Value) (*Pool, error) {
	page, start, err := starter(module)
	if err != nil {
		return nil, err
	}
	p := newPool(page.width(), adopting(page.first, start))
	if page.selftest {
		if err := publish(p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// NewReader returns a pool of workers that run another module, the second program, which most
// visits never need. It starts one worker, and others when a request waits for them.
func NewReader(module safejs.Value) (*Pool, error) {
	page, start, err := starter(module)
	if err != nil {
		return nil, err
	}
	p := newPool(page.width(), start)
	p.soloStart = never
	if page.selftest {
		_, err = spoil(p)
	}
	return p, err
}

// starter returns the page's settings and a function that starts a worker with module.
func starter(module safejs.Value) (page settings, start func(events) (port, error), err error) {
	if page, err = pageSettings(); err != nil {
		return page, nil, err
	}
	return page, func(e events) (port, error) {
		return startWorker(page.worker, module, page.selftest, e)
	}, nil
}

type settings struct {
	worker   string
	cores    int
	selftest bool
	first    safejs.Value // a worker that the page has started; undefined if there is none
}

// width returns how many workers of one program may be busy with sweeps.
func (s *settings) width() int { return min(s.cores-1, 4) }

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
	s.first, err = page.Get("first")
	return s, err
}

// cores returns the number of processors that the browser reports, or 2 if it reports none.
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

// adopting returns a function that starts workers like start, except that its first call takes over
// the worker that the page has started. first is {worker, heard}: heard are its messages so far.
func adopting(first safejs.Value, start func(events) (port, error)) func(events) (port, error) {
	return func(e events) (port, error) {
		if first.IsUndefined() {
			return start(e)
		}
		w, err := first.Get("worker")
		if err != nil {
			return port{}, err
		}
		heard, err := first.Get("heard")
		if err != nil {
			return port{}, err
		}
		first = safejs.Undefined()
		var q inbox
		p, err := listen(w, &q, e)
		if err != nil {
			return port{}, err
		}
		n, err := heard.Length()
		for i := range n {
			var message safejs.Value
			if message, err = heard.Index(i); err != nil {
				break
			}
			q.put(func() { dispatch(message, e) })
		}
		if err != nil {
			p.kill()
		}
		return p, err
	}
}

// startWorker creates a Worker from the script source and posts it the module to run.
func startWorker(source string, module safejs.Value, selftest bool, e events) (port, error) {
	w, err := construct("Worker", source)
	if err != nil {
		return port{}, err
	}
	p, err := listen(w, new(inbox), e)
	if err != nil {
		return port{}, err
	}
	start, err := safejs.ValueOf(map[string]any{"type": "init", "module": safejs.Unsafe(module), "selftest": selftest})
	if err == nil {
		_, err = w.Call("postMessage", start)
	}
	if err != nil {
		p.kill()
		return port{}, fmt.Errorf("the module cannot be posted to a worker: %w", err)
	}
	return p, nil
}

// listen registers handlers that pass the messages and errors of w to e, in order by way of q.
func listen(w safejs.Value, q *inbox, e events) (port, error) {
	var listeners []safejs.Func
	kill := func() {
		// An error here has no consequence: the worker's messages are ignored from now on.
		_, _ = w.Call("terminate")
		for _, f := range listeners {
			f.Release()
		}
		listeners = nil
	}
	for name, handle := range map[string]func(safejs.Value){
		"onmessage": func(event safejs.Value) { q.put(func() { dispatchEvent(event, e) }) },
		"onerror": func(event safejs.Value) {
			text := eventText(event) // preventDefault works only while the event is dispatched
			q.put(func() { e.died(text) })
		},
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
	return port{send: func(b []byte, handle any) error { return post(w, "request", b, handle) }, kill: kill}, nil
}

func dispatchEvent(event safejs.Value, e events) {
	data, err := event.Get("data")
	if err != nil {
		e.died(err.Error())
		return
	}
	dispatch(data, e)
}

// dispatch calls the function of e for a message {type, body|detail} of worker.js or of Serve.
func dispatch(data safejs.Value, e events) {
	kind, err := stringField(data, "type")
	if err != nil {
		e.died(err.Error())
		return
	}
	switch kind {
	case "ready":
		e.ready()
	case "beat":
		e.beat()
	case "reply", "speculative":
		b, err := body(data)
		switch {
		case err != nil:
			e.died(err.Error())
		case kind == "speculative":
			e.speculative(b)
		default:
			e.message(b)
		}
	case "exit":
		detail, err := stringField(data, "detail")
		if err != nil {
			detail = err.Error()
		}
		e.died(detail)
	}
}

func eventText(event safejs.Value) string {
	// Without this the browser would report the error too.
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

// body copies the bytes in data.body.
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

// post sends a message of type kind with the bytes b, which are transferred and not copied by the
// browser. If handle is a safejs.Value, it is a file that the other side reads, and sent too.
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
