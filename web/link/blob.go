package link

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"sync"

	"memtide/profiles"
	"memtide/web/choice"
)

// A blob is CODEC.BASE64URL, where CODEC is 1 for raw deflate and 0 for stored
// bytes, whichever is shorter. The base64 holds:
//
//	"m"          magic
//	1, 2 or 3    version of the layout: 2 for a chain with extras (see extra),
//	             3 for a graph (see encodeGraph)
//	uvarint      number of bytes that follow it
//	4 bytes      CRC-32 (IEEE) of CODEC. and the body as sent, little-endian
//	body         the profile, compressed or not (see encodeBody)
//
// The length comes early so that a link that was cut says how much arrived, and
// the checksum makes sure that a damaged one never shows a wrong schedule.

var base64url = base64.RawURLEncoding.Strict()

// lastBlobs caches the blobs of two profiles, A's and B's, because the page writes its
// address at every change. Profiles never change.
var lastBlobs struct {
	sync.Mutex
	last [2]struct {
		profile *profiles.Profile
		text    string
	}
}

// blob returns the value of key d for a profile: its chain if it has one, or else its graph.
func blob(p *profiles.Profile) string {
	lastBlobs.Lock()
	defer lastBlobs.Unlock()
	last := &lastBlobs.last
	if last[0].profile != p {
		last[0], last[1] = last[1], last[0]
	}
	if last[0].profile != p {
		last[0].profile, last[0].text = p, encodeBlob(p)
	}
	return last[0].text
}

func encodeBlob(p *profiles.Profile) string {
	var body []byte
	version := byte(graphVersion)
	if p.Chain != nil {
		body, version = encodeBody(p)
	} else {
		body = encodeGraph(p)
	}
	codec, sent := "1.", newPacker().deflate(body)
	if len(sent) >= len(body) {
		codec, sent = "0.", body
	}
	head := binary.AppendUvarint([]byte{blobMagic, version}, uint64(4+len(sent)))
	head = binary.LittleEndian.AppendUint32(head, checksum(codec, sent))
	return codec + base64url.EncodeToString(append(head, sent...))
}

// newBudget returns the limits of what decoding a link may use.
func newBudget() *profiles.Budget { return profiles.NewBudget(maxInflated, maxMemory) }

// decodeBlob decodes the value of key d. Its errors are sentences for people.
func decodeBlob(s string, budget *profiles.Budget) (*profiles.Profile, error) {
	codec, text, ok := strings.Cut(s, ".")
	if !ok || codec != "0" && codec != "1" {
		return nil, choice.Sentence("This link's profile starts with %q; expected 0. or 1. followed by data. It may need a newer version of this page.", s[:min(8, len(s))])
	}
	// The text may have been cut inside a group of base64, so that only whole groups of the header are decoded.
	head, _ := base64url.DecodeString(text[:len(text)/4*4][:min(20, len(text)/4*4)])
	if len(head) < 9 {
		return nil, choice.Sentence("This link was cut: only the first %d characters of the profile arrived. Ask for the whole link, or open the file itself.", len(text))
	}
	if head[0] != blobMagic {
		return nil, errDamaged
	}
	if head[1] < plainVersion || head[1] > graphVersion {
		return nil, choice.Sentence("This link needs a newer version of this page (profile version %d, this page reads up to %d). Reload the page.", head[1], graphVersion)
	}
	length, n := binary.Uvarint(head[2:])
	if n <= 0 || length > maxFragment {
		return nil, errDamaged
	}
	if want := base64url.EncodedLen(2 + n + int(length)); len(text) < want {
		return nil, choice.Sentence("This link was cut: %d of %d characters of the profile arrived. Ask for the whole link, or open the file itself.", len(text), want)
	}
	raw, err := base64url.DecodeString(text)
	if err != nil || len(raw) != 2+n+int(length) || length < 4 {
		return nil, errDamaged
	}
	body := raw[2+n+4:]
	if checksum(codec+".", body) != binary.LittleEndian.Uint32(raw[2+n:]) {
		return nil, errDamaged
	}
	if codec == "1" {
		if e := budget.Memory("one more profile", 4*maxInflated); e != nil {
			return nil, choice.Sentence("This link holds more profiles than are read: %s. Open the files themselves instead.", e.Found)
		}
		body, err = io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(body)), maxInflated+1))
		if err != nil {
			return nil, errDamaged
		}
		if len(body) > maxInflated {
			return nil, choice.Sentence("This link unpacks to more than %d MiB; it is not shown. Open the file itself instead.", maxInflated>>20)
		}
	}
	if head[1] == graphVersion {
		return decodeGraph(body, budget)
	}
	return decodeBody(body, head[1], budget)
}

// checksum returns the checksum of the codec and the body as sent.
func checksum(codec string, sent []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte(codec)), crc32.IEEETable, sent)
}
