package records

import (
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// CheckCodec refuses a value of the option compression that is no codec. Reading goes by the names of files, but looks at
// the option all the same.
func CheckCodec(name string) error {
	switch strings.ToLower(name) {
	case "none", "uncompressed", "bzip2", "deflate", "gzip", "lz4", "snappy", "zstd":
		return nil
	}
	return sparkerr.New("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION", "The codec %s is not available. Available codecs are none, uncompressed, deflate, gzip, lz4, snappy, zstd.", name)
}
