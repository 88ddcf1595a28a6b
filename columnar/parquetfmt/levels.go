package parquetfmt

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
)

// checkLevels refuses a data page whose levels are fewer than its values, as a damaged file may have them.
func checkLevels(page file.Page, maxRep, maxDef int16) error {
	switch p := page.(type) {
	case *file.DataPageV1:
		data, n := p.Data(), int(p.NumValues())
		for _, l := range []struct {
			max      int16
			encoding parquet.Encoding
		}{{maxRep, p.RepetitionLevelEncoding()}, {maxDef, p.DefinitionLevelEncoding()}} {
			if l.max == 0 {
				continue
			}
			if l.encoding != parquet.Encodings.RLE {
				return nil // the old form has its length from the number of values
			}
			if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
				return fmt.Errorf("a page of %d values is cut off within its levels", n)
			}
			size := int(binary.LittleEndian.Uint32(data))
			if err := checkRuns(data[4:4+size], l.max, n); err != nil {
				return err
			}
			data = data[4+size:]
		}
	case *file.DataPageV2:
		rep, def := int(p.RepetitionLevelByteLen()), int(p.DefinitionLevelByteLen())
		data, n := p.Data(), int(p.NumValues())
		if rep < 0 || def < 0 || rep+def > len(data) {
			return fmt.Errorf("a page of %d values is cut off within its levels", n)
		}
		if maxRep > 0 {
			if err := checkRuns(data[:rep], maxRep, n); err != nil {
				return err
			}
		}
		if maxDef > 0 {
			return checkRuns(data[rep:rep+def], maxDef, n)
		}
	}
	return nil
}

// checkRuns counts the levels in runs of the hybrid encoding.
func checkRuns(data []byte, most int16, want int) error {
	width := bits.Len16(uint16(most))
	levels := 0
	for rest := data; levels < want; {
		header, n := binary.Uvarint(rest)
		if n <= 0 {
			return fmt.Errorf("a page has %d levels, but %d values", levels, want)
		}
		rest = rest[n:]
		count, size := header>>1, uint64((width+7)/8)
		if header&1 == 1 { // groups of eight, packed
			size = count * uint64(width)
			count *= 8
		}
		if count == 0 || count > 1<<31 || size > uint64(len(rest)) && header&1 == 0 {
			return fmt.Errorf("a page has %d levels, but %d values", levels, want)
		}
		if size > uint64(len(rest)) { // the last group may be cut off behind its levels
			size = uint64(len(rest))
			count = size * 8 / uint64(width)
			if count == 0 {
				return fmt.Errorf("a page has %d levels, but %d values", levels, want)
			}
		}
		levels += int(count)
		rest = rest[size:]
	}
	return nil
}
