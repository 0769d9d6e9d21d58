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

// Longest is the length up to which addresses survive in browsers and in
// Markdown; above it the file itself travels better.
const Longest = 32_000

// longestOps leaves room for the chain and what is chosen.
const longestOps = Longest - 8_000

// Fits says where an address of n characters can be used: chat messages end at
// 2,000 characters, bookmarks at a little more, RFC 9110 (section 4.1) promises
// 8,000.
func Fits(n int) string {
	switch {
	case n <= 2_000:
		return "fits everywhere"
	case n <= 8_000:
		return "too long for Discord messages and Slack bookmarks"
	case n <= Longest:
		return "works in browsers; elsewhere paste it as a Markdown link"
	}
	return "too long to survive; send the file itself, or save the page as one file"
}
