package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"memtide/cmd/cli"
	"memtide/web/fileserver"
)

// defaultAddr is the default address of the page. Only this machine can reach it.
const defaultAddr = "127.0.0.1:8080"

var serveCommand = &command{
	name: "serve",
	flags: func(fs *flag.FlagSet) action {
		dir := fs.String("dir", "dist", "`DIRECTORY` the built page")
		addr := fs.String("addr", defaultAddr, "`HOST:PORT` where to listen; port 0 is any that is free")
		return func(ctx context.Context, e *env, args []string) {
			if len(args) > 0 {
				fail("serve takes no files; got %q. The directory is named by -dir", args[0])
			}
			cli.Check(serveSite(ctx, e, *dir, *addr))
		}
	},
}

// shutdownTime is how long open requests may take when the server stops.
const shutdownTime = 3 * time.Second

func serveSite(ctx context.Context, e *env, dir, addr string) error {
	if st, err := os.Stat(filepath.Join(dir, "index.html")); err != nil || !st.Mode().IsRegular() {
		return cli.Bad("there is no built page in %q, which would have an index.html; build it with: go run ./cmd/build", dir)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("cannot listen: %w; -addr chooses another address", err)
	}
	server := fileserver.Server(dir)
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		patience, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		stopped <- server.Shutdown(patience)
	})
	defer stop()
	fmt.Fprintf(e.stdout, "Serving %s at http://%s/ (Ctrl-C ends it)\n", dir, listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	if err := <-stopped; err != nil {
		server.Close() // cut off the rest
	}
	return nil
}
