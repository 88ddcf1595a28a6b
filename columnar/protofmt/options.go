package protofmt

import (
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// Options are those of Spark's from_protobuf and to_protobuf.
type Options struct {
	Permissive    bool // mode: a message that is damaged is NULL instead of an error
	MaxDepth      int  // recursive.fields.max.depth: how often a message may stand within itself; -1 for not at all
	EmitDefaults  bool // emit.default.values: a field without presence that is missing has its zero value
	EnumsAsInts   bool // enums.as.ints
	UnwrapWrapper bool // unwrap.primitive.wrapper.types: google.protobuf.Int32Value and others are INT and so on
	AnyAsJSON     bool // convert.any.fields.to.json
	UpcastUint    bool // upcast.unsigned.ints: uint32 is BIGINT, uint64 DECIMAL(20,0)
	RetainEmpty   bool // retain.empty.message.types: a message without fields has one that is always NULL
}

// ParseOptions reads options by Spark's names, in any case; others are left alone. fn is the function's name in messages.
func ParseOptions(fn string, in map[string]string) (Options, error) {
	o := Options{MaxDepth: -1}
	flags := map[string]*bool{
		"emit.default.values": &o.EmitDefaults, "enums.as.ints": &o.EnumsAsInts, "unwrap.primitive.wrapper.types": &o.UnwrapWrapper,
		"convert.any.fields.to.json": &o.AnyAsJSON, "upcast.unsigned.ints": &o.UpcastUint, "retain.empty.message.types": &o.RetainEmpty,
	}
	for k, v := range in {
		switch k = strings.ToLower(k); {
		case flags[k] != nil:
			switch strings.ToLower(v) {
			case "true", "false":
				*flags[k] = strings.EqualFold(v, "true")
			default:
				return o, sparkerr.New("INVALID_OPTIONS", "the option %q of `%s` is %q; write true or false", k, fn, v)
			}
		case k == "recursive.fields.max.depth":
			n, err := strconv.Atoi(v)
			if err != nil {
				return o, sparkerr.New("INVALID_OPTIONS", "the option %q of `%s` is %q; write a number from 1 to 10", k, fn, v)
			}
			o.MaxDepth = n
		case k == "mode":
			switch strings.ToUpper(v) {
			case "PERMISSIVE":
				o.Permissive = true
			case "FAILFAST":
			default:
				return o, sparkerr.New("PARSE_MODE_UNSUPPORTED", "the function `%s` doesn't support the %s mode; acceptable modes are PERMISSIVE and FAILFAST", fn, v)
			}
		}
	}
	return o, nil
}
