//go:build !js

package browsertest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"memtide/web/fileserver"
)

// SlowNetwork makes the tab load the site over a line with the given rate and a latency for every request. The
// tab gets a slow server of its own, because the browser's emulation slows the page and not its workers. Call
// SlowNetwork before the first address is opened.
func (p *Page) SlowNetwork(bytesPerSecond float64, latency time.Duration) {
	p.t.Helper()
	l := &line{bytesPerSecond: bytesPerSecond}
	site := sandboxable(fileserver.Handler(shared.dist))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(latency)
		site.ServeHTTP(&slowWriter{w, l}, r)
	}))
	p.t.Cleanup(server.Close)
	p.URL, p.line = server.URL+"/", l
}

// Received returns the number of bytes that were sent over the slow line since its last call, without headers.
func (p *Page) Received() int64 { return p.line.sent.Swap(0) }

// line is shared by all responses of a slow server.
type line struct {
	bytesPerSecond float64
	sent           atomic.Int64
	mu             sync.Mutex
	free           time.Time // when everything sent so far has arrived
}

// send waits until the given number of bytes has arrived.
func (l *line) send(bytes int) {
	l.sent.Add(int64(bytes))
	l.mu.Lock()
	if now := time.Now(); l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(float64(bytes) / l.bytesPerSecond * float64(time.Second)))
	free := l.free
	l.mu.Unlock()
	time.Sleep(time.Until(free))
}

type slowWriter struct {
	http.ResponseWriter
	line *line
}

// packet is the number of bytes that are sent at a time, so that several responses share the line.
const packet = 8 << 10

func (w *slowWriter) Write(b []byte) (n int, err error) {
	for len(b) > 0 && err == nil {
		part := b[:min(len(b), packet)]
		b = b[len(part):]
		w.line.send(len(part))
		var m int
		m, err = w.ResponseWriter.Write(part)
		n += m
		if f, ok := w.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
	}
	return n, err
}
