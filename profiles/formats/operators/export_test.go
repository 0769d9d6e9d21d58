package operators

import "memtide/profiles"

// Pack returns the packed form of data, which is a file that Read accepts.
func Pack(data []byte) (string, error) {
	r, err := profiles.Try(func() *reader { return read("", data, nil) })
	if err != nil {
		return "", err
	}
	return r.pack()
}
