package javatext

import (
	"math"
	"strconv"
)

// PrintfKind is the Java class of an argument of format_string.
type PrintfKind uint8

// The classes. A DATE is an Integer there, a TIMESTAMP a Long, and all but numbers, texts and booleans is an object, of
// which only the text is known.
const (
	PrintfNull PrintfKind = iota
	PrintfBoolean
	PrintfByte
	PrintfShort
	PrintfInteger
	PrintfLong
	PrintfFloat
	PrintfDouble
	PrintfString
	PrintfObject
)

// PrintfArg is an argument of format_string: Int holds whole numbers and booleans (1 is true), Float the others, Text the
// texts and what an object's toString gives.
type PrintfArg struct {
	Kind  PrintfKind
	Int   int64
	Float float64
	Text  string
}

// javaClasses are the names of the kinds in messages.
var javaClasses = [...]string{
	"null", "java.lang.Boolean", "java.lang.Byte", "java.lang.Short", "java.lang.Integer", "java.lang.Long", "java.lang.Float",
	"java.lang.Double", "org.apache.spark.unsafe.types.UTF8String", "java.lang.Object",
}

// text returns what toString gives.
func (arg *PrintfArg) text() string {
	switch arg.Kind {
	case PrintfBoolean:
		return strconv.FormatBool(arg.Int != 0)
	case PrintfByte, PrintfShort, PrintfInteger, PrintfLong:
		return strconv.FormatInt(arg.Int, 10)
	case PrintfFloat:
		return FloatString(float32(arg.Float))
	case PrintfDouble:
		return DoubleString(arg.Float)
	}
	return arg.Text
}

// hash returns what hashCode gives.
func (arg *PrintfArg) hash() int32 {
	fold := func(v uint64) int32 { return int32(v ^ v>>32) }
	switch arg.Kind {
	case PrintfBoolean:
		if arg.Int != 0 {
			return 1231
		}
		return 1237
	case PrintfByte, PrintfShort, PrintfInteger:
		return int32(arg.Int)
	case PrintfLong:
		return fold(uint64(arg.Int))
	case PrintfFloat:
		if arg.Float != arg.Float {
			return 0x7fc00000
		}
		return int32(math.Float32bits(float32(arg.Float)))
	case PrintfDouble:
		if arg.Float != arg.Float {
			return 0x7ff80000
		}
		return fold(math.Float64bits(arg.Float))
	}
	return murmur3(arg.Text)
}

// murmur3 is the hash of Spark's strings: MurmurHash3 of 32 bits with seed 42, where each byte at the end is mixed in alone.
func murmur3(s string) int32 {
	h := uint32(42)
	mix := func(k uint32) {
		k *= 0xcc9e2d51
		k = k<<15 | k>>17
		k *= 0x1b873593
		h ^= k
		h = h<<13 | h>>19
		h = h*5 + 0xe6546b64
	}
	i := 0
	for ; i+4 <= len(s); i += 4 {
		mix(uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24)
	}
	for ; i < len(s); i++ {
		mix(uint32(int32(int8(s[i]))))
	}
	h ^= uint32(len(s))
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	h ^= h >> 16
	return int32(h)
}
