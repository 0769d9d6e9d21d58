package link

// maxFragment is the longest fragment that Parse accepts, in bytes.
const maxFragment = 64 << 10

// LongestGraph is the longest blob of a graph that links contain, in characters.
const LongestGraph = Longest - 2_000

// keySum is the key of the checksum: the first six hexadecimal digits of the CRC-32 (IEEE) of the settings.
const keySum = "sum"

const (
	blobMagic    = 'm'
	plainVersion = 1
	blobVersion  = 2
	graphVersion = 3
	maxInflated  = 4 << 20 // bytes of an unpacked body, and of all names and texts of a link
	maxMemory    = 64 << 20
)

// Longest is the longest address, in characters, that browsers and Markdown preserve.
const Longest = 32_000

// longestOps is the longest text of operators in a link. It leaves room for the chain and the settings.
const longestOps = Longest - 8_000

// Fits returns a phrase about where an address of n characters can be used. Chat messages are limited
// to 2,000 characters, bookmarks to a little more; RFC 9110 (section 4.1) recommends support for 8,000.
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
