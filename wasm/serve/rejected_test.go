package serve

import (
	"strings"
	"testing"

	"memtide/profiles"
)

// TestRejected checks that the error for a file that cannot be read says what to do about it.
func TestRejected(t *testing.T) {
	const head = "name,forward_s,backward_s,output_bytes\n"
	for _, c := range []struct{ file, want string }{
		{head + "a,1,1,1\nb,-3,1,1\n",
			"Line 3: forward_s is -3. Times cannot be negative. Correct the number, or measure again; 0 is allowed."},
		{head + "a,-1,1,1\nb,1,1,\n",
			"Line 2: forward_s is -1. Times cannot be negative. Correct the number, or measure again; 0 is allowed.\n" +
				"Line 3: output_bytes is empty. A number of bytes is expected. Fill in the number; 0 is allowed."},
		{"a,time_ms,b\n1,2,3\n", "This looks like a table whose first line is \"a,time_ms,b\". " +
			"Give it a header line with at least forward_s, backward_s and output_bytes, or with id, lower, upper and size. Text formats that can be read: "},
	} {
		_, err := profiles.Decode("net.csv", profiles.Bytes(c.file), nil)
		if got := rejected(err); got != c.want && !(strings.HasSuffix(c.want, ": ") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%q is rejected with\n%s\nwant\n%s", c.file, got, c.want)
		}
	}
}
