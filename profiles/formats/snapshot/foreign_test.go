package snapshot

import (
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// TestForeignPickles checks that the error for a pickle that is not a snapshot says what it is.
func TestForeignPickles(t *testing.T) {
	const checkpoint = "This is a checkpoint of weights (torch.save), no profile"
	for _, c := range []struct{ data, want string }{
		{"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.", checkpoint},
		{"\x80\x02}X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\nq\x00", checkpoint},
		{string(pickle(4, pyDict{"forward_time", list(1, 2), "backward_time", list(3, 4)})),
			"This is a pickled profile"},
		{"\x80\x02}X\x03\x00\x00\x00fwdcnumpy.core.multiarray\nscalar\nq\x00X\x03\x00\x00\x00bwd",
			"This is a pickled profile"},
		{"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x00", "This is a pickle of NumPy arrays"},
		{string(pickle(4, pyDict{"a", 1})), "This pickle holds no memory snapshot"},
	} {
		_, err := profiles.Decode("x", profiles.Bytes(c.data), nil)
		formattest.CheckProblems(t, err)
		if err == nil || !strings.HasPrefix(profiles.Problems(err)[0].Found, c.want) {
			t.Errorf("%q: %v, want %q", c.data, err, c.want)
		}
	}
}
