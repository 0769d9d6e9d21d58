package fileserver

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener that returns one end of a pipe for each connection. The client has the other end.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// TestPatience checks that the server closes the connections of clients that send only half a request, make no
// further request, or do not read the answer.
func TestPatience(t *testing.T) {
	dir := site(t, "index.html")
	if err := os.WriteFile(filepath.Join(dir, "large.js"), make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		do   func(c net.Conn, in *bufio.Reader) error
		want time.Duration
	}{
		{"half a request", func(c net.Conn, _ *bufio.Reader) error {
			_,
				err := io.WriteString(c, "GET / HTTP/1.1\r\n")
			return err
		}, readTime},
		{"one request and no other", func(c net.Conn, in *bufio.Reader) error {
			if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				return err
			}
			answer, err := http.ReadResponse(in, nil)
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, answer.Body)
			return err
		}, idleTime},
		{"an answer that is not read", func(c net.Conn, _ *bufio.Reader) error {
			_, err := io.WriteString(c, "GET /large.js HTTP/1.1\r\nHost: x\r\n\r\n")
			return err
		}, writeTime + time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			server, listener := Server(dir), &pipes{make(chan net.Conn), make(chan struct{})}
			go server.Serve(listener)
			near, far := net.Pipe()
			listener.accepted <- far
			begun, in := time.Now(), bufio.NewReader(near)
			if err := c.do(near, in); err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			if c.want > writeTime {
				time.Sleep(c.want) // reading earlier would let the server write the rest of the answer
			}
			_, err := io.Copy(io.Discard, in)
			if got := time.Since(begun); err != nil || got != c.want {
				t.Errorf("%s: the connection was ended after %v, %v; want %v", c.what, got, err, c.want)
			}
			server.Close()
		})
	}
}
