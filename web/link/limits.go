package link

// maxFragment is the longest fragment that is read, in characters.
const maxFragment = 64 << 10

// LongestGraph is the most characters that the blob of a graph has in a link; a
// longer one does not go into links.
const LongestGraph = Longest - 2_000

// keySum is the key of the checksum: the first six digits of the CRC-32 (IEEE) of
// the settings, in hexadecimal.
const keySum = "sum"

const (
	blobMagic    = 'm'
	plainVersion = 1
	blobVersion  = 2
	graphVersion = 3
	maxInflated  = 4 << 20 // bytes of a body, unpacked, and of the names and texts of a link
	maxMemory    = 64 << 20
)
