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

// SlowNetwork has the tab load the site over a line of so many bytes per second,
// with a latency for every request. It is a server of the tab's own, because what
// a browser emulates holds for the page and not for its workers. Call it before
// the first address is opened.
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

// Received is how much has come over the slow line since it was last asked, without
// the heads of the answers.
func (p *Page) Received() int64 { return p.line.sent.Swap(0) }

// line is what all answers of a slow server share.
type line struct {
	bytesPerSecond float64
	sent           atomic.Int64
	mu             sync.Mutex
	free           time.Time // when all that was sent so far has arrived
}

// send waits until so many bytes have arrived.
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

// packet is how much is sent at a time, so that several answers share the line.
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
