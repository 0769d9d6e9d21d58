package pool

import (
	"io"
	"time"

	"github.com/hack-pad/safejs"

	"memtide/profiles"
)

// file is a file of the browser, read a part at a time. Its reader waits for the
// disk, which only workers may do; a worker has nothing else to do meanwhile.
type file struct {
	file   safejs.Value
	reader safejs.Value // a FileReaderSync
	size   int64
	unseen int64 // bytes read since the browser could collect what was read
}

// collectEvery is how many bytes are read until the browser gets a moment to
// collect the buffers that they came in: it frees none while a program runs.
const collectEvery = 16 << 20

func newFile(of safejs.Value) (profiles.Content, error) {
	size, err := of.Get("size")
	if err != nil {
		return nil, err
	}
	n, err := size.Float()
	if err != nil {
		return nil, err
	}
	reader, err := construct("FileReaderSync")
	if err != nil {
		return nil, err
	}
	return &file{file: of, reader: reader, size: int64(n)}, nil
}

func (f *file) Size() int64 { return f.size }

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if f.unseen += int64(len(p)); f.unseen > collectEvery {
		f.unseen = 0
		time.Sleep(time.Millisecond)
	}
	n, err := f.read(p[:max(min(int64(len(p)), f.size-off), 0)], off)
	if err != nil {
		return n, &profiles.FormatError{Found: "The file cannot be read: " + err.Error(),
			Expected: "The file must not be moved or changed while it is being opened.", Remedy: "Open it again."}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) read(p []byte, off int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	part, err := f.file.Call("slice", float64(off), float64(off+int64(len(p))))
	if err != nil {
		return 0, err
	}
	buffer, err := f.reader.Call("readAsArrayBuffer", safejs.Unsafe(part))
	if err != nil {
		return 0, err
	}
	array, err := construct("Uint8Array", safejs.Unsafe(buffer))
	if err != nil {
		return 0, err
	}
	return safejs.CopyBytesToGo(p, array)
}
