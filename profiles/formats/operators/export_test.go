package operators

import "memtide/profiles"

// Pack is a file in its packed form. data is a file that Read has read.
func Pack(data []byte) (string, error) {
	r, err := profiles.Try(func() *reader { return read("", data, nil) })
	if err != nil {
		return "", err
	}
	return r.pack()
}
