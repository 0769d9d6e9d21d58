package pool

import (
	"io"
	"time"

	"github.com/hack-pad/safejs"

	"memtide/profiles"
)

// file is a file of the browser that is read in parts. FileReaderSync blocks until the disk has
// answered, which browsers allow in workers only.
type file struct {
	file   safejs.Value
	reader safejs.Value // a FileReaderSync
	size   int64
	part   safejs.Value // a Uint8Array in the browser's memory: the part that was read last
	at     int64        // offset of part in the file
	length int64        // of part
	unseen int64        // bytes read since the browser was last able to free buffers
}

// partSize is the size of one read. Each takes the browser some milliseconds, however short it is:
// with parts of 1 MiB they were two thirds of the time of a large file.
const partSize = 8 << 20

// collectEvery is how many bytes are read before fetch sleeps for a moment, so that the browser can
// free old buffers: it frees none while a program runs.
const collectEvery = 16 << 20

func newFile(of safejs.Value) (profiles.Content, error) {
	return profiles.Try(func() profiles.Content {
		return &file{file: of, reader: construct("FileReaderSync"), size: int64(must(get(of, "size").Float()))}
	})
}

func (f *file) Size() int64 { return f.size }

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	want := p[:max(min(int64(len(p)), f.size-off), 0)]
	n := 0
	for n < len(want) {
		k, err := profiles.Try(func() int { return f.read(want[n:], off+int64(n)) })
		if n += k; err != nil {
			return n, &profiles.FormatError{Found: "The file cannot be read: " + err.Error(),
				Expected: "The file must not be moved or changed while it is being opened.", Remedy: "Open it again."}
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// read copies bytes from offset off on into p, up to the end of the part. It copies at least one.
func (f *file) read(p []byte, off int64) int {
	if off < f.at || off >= f.at+f.length {
		f.fetch(off)
	}
	from := off - f.at
	return must(safejs.CopyBytesToGo(p, must(f.part.Call("subarray", float64(from), float64(min(f.length, from+int64(len(p))))))))
}

// fetch reads the part that begins at offset off.
func (f *file) fetch(off int64) {
	f.part, f.length = safejs.Value{}, 0
	n := min(partSize, f.size-off)
	if f.unseen += n; f.unseen > collectEvery {
		f.unseen = 0
		time.Sleep(time.Millisecond)
	}
	part := must(f.file.Call("slice", float64(off), float64(off+n)))
	f.part = construct("Uint8Array", safejs.Unsafe(must(f.reader.Call("readAsArrayBuffer", safejs.Unsafe(part)))))
	f.at, f.length = off, n
}
