package delta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// rowSet is a set of row numbers of a file, as a deletion vector holds them: 64-bit Roaring bitmaps in their portable
// format. The containers stay as they were stored, so that a set takes no more memory than its bytes.
type rowSet struct {
	containers []container // ascending by key, none of them twice
}

// container holds the row numbers that share all but their lower 16 bits.
type container struct {
	key  uint64 // row number >> 16
	kind containerKind
	data []byte // little-endian numbers of 16 bits, of runs pairs of first and length-1; or 1024 words of 64 bits
}

type containerKind uint8

const (
	arrayContainer containerKind = iota
	bitmapContainer
	runContainer
)

const (
	roaringArrayMagic = 1681511377 // of the portable format
	serialCookie      = 12347      // with run containers
	serialCookiePlain = 12346      // without them
	offsetThreshold   = 4          // from this number of containers on there is a table of offsets also with runs
	arrayMax          = 4096       // the most numbers of an array container
	bitmapBytes       = 8192
)

var errShortSet = errors.New("it ends within its row numbers")

// parseRowSet reads a set and checks that it holds as many rows as it should.
func parseRowSet(data []byte, cardinality int64) (*rowSet, error) {
	in := setReader{data}
	magic, err := in.u32()
	if err != nil {
		return nil, err
	}
	if magic != roaringArrayMagic {
		return nil, fmt.Errorf("its row numbers begin with %d, expected %d: they are in another format than the protocol's", magic, roaringArrayMagic)
	}
	maps, err := in.u64()
	if err != nil {
		return nil, err
	}
	s, last := &rowSet{}, int64(-1)
	for range maps {
		high, err := in.u32()
		if err != nil {
			return nil, err
		}
		if int64(high) <= last {
			return nil, fmt.Errorf("its bitmaps are not in order: %d comes behind %d", high, last)
		}
		last = int64(high)
		if err := s.bitmap(&in, uint64(high)<<16); err != nil {
			return nil, err
		}
	}
	if len(in.data) > 0 {
		return nil, fmt.Errorf("%d bytes follow its row numbers", len(in.data))
	}
	if n := s.size(); n != cardinality {
		return nil, fmt.Errorf("it has %d row numbers, the log says %d", n, cardinality)
	}
	return s, nil
}

// bitmap reads one 32-bit bitmap, whose row numbers >> 16 begin with high.
func (s *rowSet) bitmap(in *setReader, high uint64) error {
	cookie, err := in.u32()
	if err != nil {
		return err
	}
	var n int
	var runs []byte
	switch {
	case cookie&0xffff == serialCookie:
		n = int(cookie>>16) + 1
		if runs, err = in.take((n + 7) / 8); err != nil {
			return err
		}
	case cookie == serialCookiePlain:
		size, err := in.u32()
		if err != nil {
			return err
		}
		if size > 1<<16 {
			return fmt.Errorf("a bitmap has %d containers, expected 65536 at most", size)
		}
		n = int(size)
	default:
		return fmt.Errorf("a bitmap begins with %d, expected %d or %d", cookie, serialCookie, serialCookiePlain)
	}
	header, err := in.take(4 * n)
	if err != nil {
		return err
	}
	if runs == nil || n >= offsetThreshold {
		if _, err := in.take(4 * n); err != nil {
			return err
		}
	}
	last := -1
	for i := range n {
		key, size := binary.LittleEndian.Uint16(header[4*i:]), int(binary.LittleEndian.Uint16(header[4*i+2:]))+1
		if int(key) <= last {
			return fmt.Errorf("its containers are not in order: %d comes behind %d", key, last)
		}
		last = int(key)
		c := container{key: high | uint64(key)}
		switch {
		case runs != nil && runs[i/8]>>(i%8)&1 == 1:
			count, err := in.u16()
			if err != nil {
				return err
			}
			c.kind = runContainer
			c.data, err = in.take(4 * int(count))
			if err != nil {
				return err
			}
		case size <= arrayMax:
			c.data, err = in.take(2 * size)
		default:
			c.kind = bitmapContainer
			c.data, err = in.take(bitmapBytes)
		}
		if err != nil {
			return err
		}
		if found := c.size(); found != int64(size) {
			return fmt.Errorf("a container has %d row numbers, its header says %d", found, size)
		}
		s.containers = append(s.containers, c)
	}
	return nil
}

// size is the number of rows of the set.
func (s *rowSet) size() int64 {
	n := int64(0)
	for i := range s.containers {
		n += s.containers[i].size()
	}
	return n
}

func (c *container) size() int64 {
	n := int64(0)
	switch c.kind {
	case arrayContainer:
		return int64(len(c.data) / 2)
	case runContainer:
		for i := 0; i < len(c.data); i += 4 {
			n += int64(binary.LittleEndian.Uint16(c.data[i+2:])) + 1
		}
	case bitmapContainer:
		for i := 0; i < len(c.data); i += 8 {
			n += int64(bits.OnesCount64(binary.LittleEndian.Uint64(c.data[i:])))
		}
	}
	return n
}

// each visits the container's numbers from..to-1 as runs of lower bits, first and the one behind the last.
func (c *container) each(from, to int, visit func(from, to int)) {
	clip := func(a, b int) {
		if a, b = max(a, from), min(b, to); a < b {
			visit(a, b)
		}
	}
	switch c.kind {
	case arrayContainer:
		for i := 0; i < len(c.data); i += 2 {
			v := int(binary.LittleEndian.Uint16(c.data[i:]))
			clip(v, v+1)
		}
	case runContainer:
		for i := 0; i < len(c.data); i += 4 {
			v := int(binary.LittleEndian.Uint16(c.data[i:]))
			clip(v, v+int(binary.LittleEndian.Uint16(c.data[i+2:]))+1)
		}
	case bitmapContainer:
		for w := from / 64; w*64 < to; w++ {
			for word := binary.LittleEndian.Uint64(c.data[8*w:]); word != 0; word &= word - 1 {
				v := w*64 + bits.TrailingZeros64(word)
				clip(v, v+1)
			}
		}
	}
}

// kept are the places of the rows among from..from+n-1 that are not in the set, counted from from; all is true, and the
// list empty, when that is every one of them.
func (s *rowSet) kept(from int64, n int) (idx []int32, all bool) {
	gone := make([]bool, n)
	left := n
	for i := range s.containers {
		c := &s.containers[i]
		base := int64(c.key) << 16
		if base >= from+int64(n) {
			break
		}
		if base+1<<16 <= from {
			continue
		}
		c.each(int(max(from-base, 0)), int(min(from+int64(n)-base, 1<<16)), func(a, b int) {
			for v := a; v < b; v++ {
				at := base + int64(v) - from
				if !gone[at] {
					gone[at] = true
					left--
				}
			}
		})
	}
	if left == n {
		return nil, true
	}
	idx = make([]int32, 0, left)
	for i, g := range gone {
		if !g {
			idx = append(idx, int32(i))
		}
	}
	return idx, false
}

// setReader takes little-endian numbers off a text of bytes.
type setReader struct{ data []byte }

func (r *setReader) take(n int) ([]byte, error) {
	if n > len(r.data) {
		return nil, errShortSet
	}
	out := r.data[:n:n]
	r.data = r.data[n:]
	return out, nil
}

func (r *setReader) u16() (uint16, error) {
	b, err := r.take(2)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint16(b), nil
}

func (r *setReader) u32() (uint32, error) {
	b, err := r.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (r *setReader) u64() (uint64, error) {
	b, err := r.take(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}
