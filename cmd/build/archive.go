//go:build !js

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"time"

	"memtide/cmd/cli"
)

// file is one in an archive.
type file struct {
	name string
	data []byte
	runs bool // it is a program
}

// mode is that of a file, and of the programs among them.
func (f file) mode() int64 {
	if f.runs {
		return 0o755
	}
	return 0o644
}

// archiveTime is when every file of an archive was changed, so that the same sources make
// the same archive: the first time that a zip can tell.
var archiveTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// tarball returns the files as a .tar.gz.
func tarball(files []file) []byte {
	var b bytes.Buffer
	z := cli.Must(gzip.NewWriterLevel(&b, gzip.BestCompression))
	w := tar.NewWriter(z)
	for _, f := range files {
		cli.Check(w.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode(), Size: int64(len(f.data)), ModTime: archiveTime, Format: tar.FormatUSTAR}))
		cli.Must(w.Write(f.data))
	}
	cli.Check(w.Close())
	cli.Check(z.Close())
	return b.Bytes()
}

// zipped returns the files as a .zip.
func zipped(files []file) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: archiveTime, CreatorVersion: 3 << 8} // of Unix, for the mode
		h.ExternalAttrs = uint32(0o100000|f.mode()) << 16
		cli.Must(cli.Must(w.CreateHeader(h)).Write(f.data))
	}
	cli.Check(w.Close())
	return b.Bytes()
}
