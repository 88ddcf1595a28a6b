package http

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// A record of the buffer is the length of its header in 4 bytes, the lower ones first, the header as JSON, and the bodies
// one behind the other. The log below has checksums; so a record that cannot be read was written by another version.

// recordHeader says what the bodies of a record are.
type recordHeader struct {
	Requests []request `json:"requests"`
	// Keys are of requests whose records have been deleted.
	Keys []carriedKey `json:"keys,omitempty"`
}

// request is what one request has brought.
type request struct {
	At      int64             `json:"at"`             // when it came, µs since 1970
	Bytes   int               `json:"bytes"`          // length of body
	Key     string            `json:"key,omitempty"`  // its Idempotency-Key
	Hash    uint64            `json:"hash,omitempty"` // of body, where there is a key
	Headers map[string]string `json:"headers,omitempty"`
	body    []byte
}

// carriedKey is the key of a request and the hash of its body.
type carriedKey struct {
	Key  string `json:"key"`
	Hash uint64 `json:"hash"`
}

// bytes is the length of all bodies.
func (h *recordHeader) bytes() (n int64) {
	for i := range h.Requests {
		n += int64(h.Requests[i].Bytes)
	}
	return n
}

const prefixBytes = 4

func recordPrefix(header int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(header)) }

// readRecord takes a record apart; the bodies of the requests are parts of it.
func readRecord(b []byte) (h recordHeader, err error) {
	if len(b) < prefixBytes {
		return h, errors.New("the record has no header")
	}
	n := binary.LittleEndian.Uint32(b)
	b = b[prefixBytes:]
	if uint64(n) > uint64(len(b)) {
		return h, fmt.Errorf("the header has %d bytes, and the record has %d", n, len(b))
	}
	if err := json.Unmarshal(b[:n], &h); err != nil {
		return h, fmt.Errorf("header: %w", err)
	}
	rest := b[n:]
	for i := range h.Requests {
		r := &h.Requests[i]
		if r.Bytes < 0 || r.Bytes > len(rest) {
			return h, fmt.Errorf("body %d has %d bytes, and %d are there", i, r.Bytes, len(rest))
		}
		r.body, rest = rest[:r.Bytes:r.Bytes], rest[r.Bytes:]
	}
	if len(rest) > 0 {
		return h, fmt.Errorf("%d bytes belong to no body", len(rest))
	}
	return h, nil
}
