package javatext

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// TestPrintf compares formats with java.util.Formatter.
func TestPrintf(t *testing.T) {
	goldenLines(t, "printf", "\t", func(line int, f []string) {
		format := mustUnquote(t, f[0])
		var args []PrintfArg
		if f[1] != "" {
			for s := range strings.SplitSeq(f[1], ",") {
				args = append(args, printfArg(t, s))
			}
		}
		var out []byte
		p, err := CompilePrintf(format)
		if err == nil {
			out, err = p.Append(nil, args)
		}
		got := strconv.Quote(string(out))
		if err != nil {
			var javaError *JavaError
			if errors.As(err, &javaError) {
				got = strings.TrimPrefix(javaError.Exception, "java.util.")
			} else {
				got = err.Error()
			}
		}
		want := f[2]
		if strings.HasPrefix(want, `"`) {
			want = strconv.Quote(mustUnquote(t, want))
		}
		if got != want {
			t.Errorf("line %d: %q with %s is %s, want %s (%v)", line, format, f[1], got, want, err)
		}
	})
}

func printfArg(t *testing.T, s string) PrintfArg {
	kind, value, _ := strings.Cut(s, ":")
	arg := PrintfArg{Text: value}
	var err error
	switch kind {
	case "null":
		return PrintfArg{}
	case "Boolean":
		arg.Kind = PrintfBoolean
		if value == "true" {
			arg.Int = 1
		}
	case "Byte", "Short", "Integer", "Long":
		arg.Kind = map[string]PrintfKind{"Byte": PrintfByte, "Short": PrintfShort, "Integer": PrintfInteger, "Long": PrintfLong}[kind]
		arg.Int, err = strconv.ParseInt(value, 10, 64)
	case "Float", "Double":
		arg.Kind = PrintfDouble
		bits := 64
		if kind == "Float" {
			arg.Kind, bits = PrintfFloat, 32
		}
		arg.Float, err = strconv.ParseFloat(value, bits)
	default:
		arg.Kind = PrintfString
	}
	if err != nil {
		t.Fatal(err)
	}
	return arg
}

func TestPrintfZeroIndex(t *testing.T) {
	if _, err := CompilePrintf("%0$s"); sparkerr.Condition(err) != "INVALID_PARAMETER_VALUE.ZERO_INDEX" {
		t.Errorf("index 0 is refused with %v", err)
	}
	if _, err := CompilePrintf("%2000000000d"); err == nil {
		t.Error("a width of two thousand millions is taken")
	}
	p, err := CompilePrintf("%h %s")
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Append(nil, []PrintfArg{{Kind: PrintfString, Text: "hello"}, {Kind: PrintfObject, Text: "1.50"}})
	if err != nil || string(got) != "c3e28528 1.50" {
		t.Errorf("hash and object are %q, %v", got, err)
	}
}

func FuzzPrintf(f *testing.F) {
	f.Add("%-5d|%08.2f|%S %1$tY", int64(5), 1.5, "a")
	f.Add("%#x%,(d%e%g%a%c%n%%", int64(-5), 1e300, "b")
	f.Fuzz(func(t *testing.T, format string, i int64, v float64, s string) {
		if len(format) > 60 {
			return
		}
		p, err := CompilePrintf(format)
		if err != nil {
			return
		}
		for k := range p.specs {
			if p.specs[k].width > 1000 || p.specs[k].precision > 1000 {
				return
			}
		}
		p.Append(nil, []PrintfArg{{Kind: PrintfLong, Int: i}, {Kind: PrintfDouble, Float: v}, {Kind: PrintfString, Text: s}})
	})
}
