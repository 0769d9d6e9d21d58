package pool

import (
	"errors"
	"fmt"
	"memtide/profiles"

	"github.com/hack-pad/safejs"
)

// New returns a pool of workers that run module, the compiled module of this very program. The page
// must have set globalThis.memtide.worker to the address of a blob that is or imports the worker's
// script (web/static/worker.js after Go's wasm_exec.js). It may have started the first worker,
// memtide.first. If it has also set selftest, scripts may send requests (see publish). The error
// says what the browser lacks; serve.Local then still works, on the page's own thread.
func New(module safejs.Value) (*Pool, error) {
	return profiles.Try(func() *Pool {
		page := pageSettings()
		p := newPool(page.width(), adopting(page.first, page.starter(module)))
		if page.selftest {
			publish(p)
		}
		return p
	})
}

// NewReader returns a pool of workers that run another module, the second program, which most
// visits never need. It starts one worker, and others when a request waits for them.
func NewReader(module safejs.Value) (*Pool, error) {
	return profiles.Try(func() *Pool {
		page := pageSettings()
		p := newPool(page.width(), page.starter(module))
		p.soloStart = never
		if page.selftest {
			spoil(p)
		}
		return p
	})
}

type settings struct {
	worker   string
	cores    int
	selftest bool
	first    safejs.Value // a worker that the page has started; undefined if there is none
}

// width returns how many workers of one program may be busy with sweeps.
func (s *settings) width() int { return min(s.cores-1, 4) }

// starter returns a function that starts a worker with module.
func (s *settings) starter(module safejs.Value) func(events) (port, error) {
	return func(e events) (port, error) { return startWorker(s.worker, module, s.selftest, e) }
}

func pageSettings() *settings {
	page := get(safejs.Global(), "memtide")
	return &settings{worker: stringField(page, "worker"), cores: cores(), selftest: must(get(page,
		"selftest").Truthy()), first: get(page, "first")}
}

// cores returns the number of processors that the browser reports, or 2 if it reports none.
func cores() int {
	n, err := profiles.Try(func() int {
		return must(get(get(safejs.Global(), "navigator"),
			"hardwareConcurrency").Int())
	})
	if err != nil || n < 1 {
		return 2
	}
	return n
}

// must returns v. An error ends what profiles.Try runs, or else the program, which worker.js tells the page.
func must[T any](v T, err error) T {
	profiles.End(err)
	return v
}

func get(v safejs.Value, name string) safejs.Value { return must(v.Get(name)) }

func construct(class string, args ...any) safejs.Value {
	ctor := get(safejs.Global(), class)
	if ctor.IsUndefined() {
		profiles.End(fmt.Errorf("the browser has no %s", class))
	}
	return must(ctor.New(args...))
}

// adopting returns a function that starts workers like start, except that its first call takes over
// the worker that the page has started. first is {worker, heard}: heard are its messages so far.
func adopting(first safejs.Value, start func(events) (port, error)) func(events) (port, error) {
	return func(e events) (port, error) {
		if first.IsUndefined() {
			return start(e)
		}
		return profiles.Try(func() port {
			w, heard := get(first, "worker"), get(first, "heard")
			first = safejs.Undefined()
			var q inbox
			p := listen(w, &q, e)
			for i := range must(heard.Length()) {
				message := must(heard.Index(i))
				q.put(func() { dispatch(message, e) })
			}
			return p
		})
	}
}

// startWorker creates a Worker from the script source and posts it the module to run.
func startWorker(source string, module safejs.Value, selftest bool, e events) (port, error) {
	return profiles.Try(func() port {
		w := construct("Worker", source)
		p := listen(w, new(inbox), e)
		start := map[string]any{"type": "init", "module": safejs.Unsafe(module), "selftest": selftest}
		if _, err := w.Call("postMessage", start); err != nil {
			p.kill()
			profiles.End(fmt.Errorf("the module cannot be posted to a worker: %w", err))
		}
		return p
	})
}

// listen registers handlers that pass the messages and errors of w to e, in order by way of q.
func listen(w safejs.Value, q *inbox, e events) port {
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
		"onmessage": func(event safejs.Value) { q.put(func() { dispatch(get(event, "data"), e) }) },
		"onerror": func(event safejs.Value) {
			text := eventText(event) // preventDefault works only while the event is dispatched
			q.put(func() { e.died(text) })
		},
	} {
		f := must(safejs.FuncOf(func(_ safejs.Value, args []safejs.Value) any {
			if len(args) > 0 {
				handle(args[0])
			}
			return nil
		}))
		listeners = append(listeners, f)
		profiles.End(w.Set(name, f))
	}
	return port{
		send: func(b []byte, handle any) error { return post(w, "request", b, handle) },
		cancel: func() { // the worker is ended soon if this fails
			_, _ = w.Call("postMessage", map[string]any{"type": "cancel"})
		},
		kill: kill,
	}
}

// dispatch calls the function of e for a message {type, body|detail} of worker.js or of Serve.
func dispatch(data safejs.Value, e events) {
	act, err := profiles.Try(func() func() {
		switch stringField(data, "type") {
		case "ready":
			return e.ready
		case "beat":
			return e.beat
		case "reply":
			b := body(data)
			return func() { e.message(b) }
		case "exit":
			profiles.End(errors.New(stringField(data, "detail")))
		}
		return func() {}
	})
	if err != nil {
		e.died(err.Error())
		return
	}
	act()
}

func eventText(event safejs.Value) string {
	// Without this the browser would report the error too.
	_, _ = event.Call("preventDefault")
	text, err := profiles.Try(func() string { return stringField(event, "message") })
	if err != nil || text == "" {
		return "the worker could not be loaded"
	}
	return text
}

func stringField(v safejs.Value, name string) string {
	f := get(v, name)
	if f.Type() != safejs.TypeString {
		profiles.End(fmt.Errorf("%s is a JavaScript %v; expected a string", name, f.Type()))
	}
	return must(f.String())
}

// body copies the bytes in data.body.
func body(data safejs.Value) []byte {
	v := get(data, "body")
	b := make([]byte, must(v.Length()))
	if must(safejs.CopyBytesToGo(b, v)) != len(b) {
		profiles.End(errors.New("a message was cut"))
	}
	return b
}

// post sends a message of type kind with the bytes b, which are transferred and not copied by the
// browser. If handle is a safejs.Value, it is a file that the other side reads, and sent too.
func post(to safejs.Value, kind string, b []byte, handle any) error {
	_, err := profiles.Try(func() safejs.Value {
		array := construct("Uint8Array", len(b))
		must(safejs.CopyBytesToJS(array, b))
		message := map[string]any{"type": kind, "body": safejs.Unsafe(array)}
		if file, ok := handle.(safejs.Value); ok {
			message["file"] = safejs.Unsafe(file)
		}
		return must(to.Call("postMessage", message, []any{safejs.Unsafe(get(array, "buffer"))}))
	})
	return err
}
