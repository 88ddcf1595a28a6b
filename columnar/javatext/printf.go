package javatext

import (
	"math"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// printfFlags are the flags of a conversion.
type printfFlags uint16

const (
	flagLeft        printfFlags = 1 << iota // -
	flagUpper                               // an upper-case conversion
	flagAlternate                           // #
	flagPlus                                // +
	flagSpace                               // a space
	flagZero                                // 0
	flagGroup                               // ,
	flagParentheses                         // (
	flagPrevious                            // <
)

const printfFlagChars = "-^#+ 0,(<"

// printfSpec is a conversion, or a text between them.
type printfSpec struct {
	literal   string // of a text
	source    string // as written, for messages
	index     int    // from 1; 0 is the next argument, -1 the last one, -2 none
	flags     printfFlags
	width     int // -1 is none
	precision int // -1 is none
	conv      byte
	date      bool // %t
}

// PrintfFormat is a compiled format of format_string, with the meaning of java.util.Formatter in English. It is safe for
// use by several goroutines.
type PrintfFormat struct{ specs []printfSpec }

// CompilePrintf compiles a format. What is wrong with it is a *JavaError, as in Spark; but an argument index of zero is
// INVALID_PARAMETER_VALUE.ZERO_INDEX.
func CompilePrintf(format string) (*PrintfFormat, error) {
	if strings.Contains(format, "%0$") {
		return nil, sparkerr.New("INVALID_PARAMETER_VALUE.ZERO_INDEX", "The value of parameter(s) `strfmt` in `format_string` is invalid: expects %%1$, %%2$ and so on, but got %%0$.")
	}
	p := &PrintfFormat{}
	for i := 0; i < len(format); {
		n := strings.IndexByte(format[i:], '%')
		if n < 0 {
			n = len(format) - i
		}
		if n > 0 {
			p.specs = append(p.specs, printfSpec{literal: format[i : i+n], index: -2})
			i += n
			continue
		}
		spec, length, err := parsePrintfSpec(format[i:])
		if err != nil {
			return nil, err
		}
		p.specs = append(p.specs, spec)
		i += length
	}
	return p, nil
}

func printfError(exception, text string) error {
	return &JavaError{Exception: "java.util." + exception, Text: text}
}

// parsePrintfSpec reads %[index$][flags][width][.precision][t]conversion.
func parsePrintfSpec(s string) (spec printfSpec, length int, err error) {
	if len(s) == 1 {
		return spec, 0, printfError("UnknownFormatConversionException", "Conversion = '%'")
	}
	spec = printfSpec{width: -1, precision: -1}
	unknown := printfError("UnknownFormatConversionException", "Conversion = '"+firstChar(s[1:])+"'")
	i := 1
	digits, rest := cutDigits(s[i:])
	indexText := ""
	if digits != "" && strings.HasPrefix(rest, "$") {
		indexText = digits
		i += len(digits) + 1
	}
	flagsFrom := i
	for i < len(s) && s[i] != '^' && strings.IndexByte(printfFlagChars, s[i]) >= 0 {
		i++
	}
	flagText := s[flagsFrom:i]
	widthText, _ := cutDigits(s[i:])
	i += len(widthText)
	precisionText := ""
	if i < len(s) && s[i] == '.' {
		if precisionText, _ = cutDigits(s[i+1:]); precisionText == "" {
			return spec, 0, unknown
		}
		i += 1 + len(precisionText)
	}
	if i+1 < len(s) && s[i]|0x20 == 't' && isASCIILetter(s[i+1]) {
		spec.date = true
		if s[i] == 'T' {
			spec.flags |= flagUpper
		}
		i++
	}
	if i >= len(s) || !isASCIILetter(s[i]) && s[i] != '%' {
		return spec, 0, unknown
	}
	spec.conv = s[i]
	spec.source = s[:i+1]
	if indexText != "" {
		n, err := strconv.ParseInt(indexText, 10, 32)
		if err != nil {
			n = math.MinInt32
		}
		if n <= 0 {
			return spec, 0, printfError("IllegalFormatArgumentIndexException", "Illegal format argument index = "+strconv.FormatInt(n, 10))
		}
		spec.index = int(n)
	}
	for k := 0; k < len(flagText); k++ {
		f := printfFlags(1) << strings.IndexByte(printfFlagChars, flagText[k])
		if spec.flags&f != 0 {
			return spec, 0, printfError("DuplicateFormatFlagsException", "Flags = '"+flagText[k:k+1]+"'")
		}
		spec.flags |= f
	}
	if spec.flags&flagPrevious != 0 {
		spec.index = -1
	}
	if widthText != "" {
		n, err := strconv.ParseInt(widthText, 10, 32)
		if err != nil {
			return spec, 0, printfError("IllegalFormatWidthException", strconv.Itoa(math.MinInt32))
		}
		spec.width = int(n)
	}
	if precisionText != "" {
		n, err := strconv.ParseInt(precisionText, 10, 32)
		if err != nil {
			return spec, 0, printfError("IllegalFormatPrecisionException", strconv.Itoa(math.MinInt32))
		}
		spec.precision = int(n)
	}
	if spec.width > maxPrintfWidth || spec.precision > maxPrintfWidth {
		return spec, 0, &JavaError{Exception: "java.lang.OutOfMemoryError", Text: "format specifier '" + spec.source + "' is wider than " + strconv.Itoa(maxPrintfWidth)}
	}
	return spec, i + 1, spec.check()
}

// maxPrintfWidth bounds widths and precisions, so that no format fills the memory.
const maxPrintfWidth = 1 << 24

func firstChar(s string) string { return s[:ByteOffset(s, 1)] }

// check refuses what does not go together.
func (spec *printfSpec) check() error {
	if spec.date {
		if spec.precision != -1 {
			return spec.badPrecision()
		}
		if strings.IndexByte("HIklMNLQpzTsSaAbBCdehjmyYrRcDFZ", spec.conv) < 0 {
			return printfError("UnknownFormatConversionException", "Conversion = 't"+string(spec.conv)+"'")
		}
		return spec.checkPlain(true)
	}
	if strings.IndexByte("bBhHsScCdoxXeEfgGaA%n", spec.conv) < 0 {
		return printfError("UnknownFormatConversionException", "Conversion = '"+string(spec.conv)+"'")
	}
	if spec.conv < 'a' && spec.conv != '%' {
		spec.flags |= flagUpper
		spec.conv |= 0x20
	}
	switch spec.conv {
	case 'b', 'h':
		if spec.flags&flagAlternate != 0 {
			return spec.mismatch(flagAlternate)
		}
		fallthrough
	case 's':
		if err := spec.needsWidth(flagLeft); err != nil {
			return err
		}
		return spec.badFlags(flagPlus, flagSpace, flagZero, flagGroup, flagParentheses)
	case 'c':
		return spec.checkPlain(false)
	case 'd', 'o', 'x':
		if err := spec.checkNumeric(); err != nil {
			return err
		}
		if spec.precision != -1 {
			return spec.badPrecision()
		}
		if spec.conv == 'd' {
			return spec.badFlags(flagAlternate)
		}
		return spec.badFlags(flagGroup)
	case '%', 'n':
		return spec.checkText()
	}
	if err := spec.checkNumeric(); err != nil {
		return err
	}
	switch spec.conv {
	case 'a':
		return spec.badFlags(flagParentheses, flagGroup)
	case 'e':
		return spec.badFlags(flagGroup)
	case 'g':
		return spec.badFlags(flagAlternate)
	}
	return nil
}

// checkPlain is the check of characters and dates.
func (spec *printfSpec) checkPlain(date bool) error {
	if spec.precision != -1 {
		return spec.badPrecision()
	}
	if err := spec.badFlags(flagAlternate, flagPlus, flagSpace, flagZero, flagGroup, flagParentheses); err != nil {
		return err
	}
	return spec.needsWidth(flagLeft)
}

func (spec *printfSpec) checkNumeric() error {
	if err := spec.needsWidth(flagLeft | flagZero); err != nil {
		return err
	}
	both := func(f printfFlags) bool { return spec.flags&f == f }
	if both(flagPlus|flagSpace) || both(flagLeft|flagZero) {
		return printfError("IllegalFormatFlagsException", "Flags = '"+spec.flagText()+"'")
	}
	return nil
}

func (spec *printfSpec) checkText() error {
	spec.index = -2
	if spec.precision != -1 {
		return spec.badPrecision()
	}
	flags := spec.flags &^ flagUpper
	if spec.conv == 'n' {
		if spec.width != -1 {
			return printfError("IllegalFormatWidthException", strconv.Itoa(spec.width))
		}
		if flags != 0 {
			return printfError("IllegalFormatFlagsException", "Flags = '"+spec.flagText()+"'")
		}
		return nil
	}
	if flags != flagLeft && flags != 0 {
		return printfError("IllegalFormatFlagsException", "Flags = '"+spec.flagText()+"'")
	}
	return spec.needsWidth(flagLeft)
}

func (spec *printfSpec) flagText() string {
	text := ""
	for i := range len(printfFlagChars) {
		if spec.flags>>i&1 != 0 {
			text += printfFlagChars[i : i+1]
		}
	}
	return text
}

func (spec *printfSpec) badPrecision() error {
	return printfError("IllegalFormatPrecisionException", strconv.Itoa(spec.precision))
}

func (spec *printfSpec) needsWidth(flags printfFlags) error {
	if spec.width == -1 && spec.flags&flags != 0 {
		return printfError("MissingFormatWidthException", spec.source)
	}
	return nil
}

func (spec *printfSpec) badFlags(flags ...printfFlags) error {
	for _, f := range flags {
		if spec.flags&f != 0 {
			return spec.mismatch(f)
		}
	}
	return nil
}

func (spec *printfSpec) mismatch(flag printfFlags) error {
	one := printfSpec{flags: flag}
	return printfError("FormatFlagsConversionMismatchException", "Conversion = "+string(spec.conv)+", Flags = "+one.flagText())
}

// Append writes the format with its arguments. Errors are of type *JavaError.
func (p *PrintfFormat) Append(dst []byte, args []PrintfArg) ([]byte, error) {
	last, ordinary := -1, -1
	for i := range p.specs {
		spec := &p.specs[i]
		var arg *PrintfArg
		switch spec.index {
		case -2:
			dst = spec.appendText(dst)
			continue
		case -1:
		case 0:
			ordinary++
			last = ordinary
		default:
			last = spec.index - 1
		}
		if last < 0 || last >= len(args) {
			return dst, printfError("MissingFormatArgumentException", "Format specifier '"+spec.source+"'")
		}
		arg = &args[last]
		var err error
		if dst, err = spec.append(dst, arg); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendText writes what needs no argument.
func (spec *printfSpec) appendText(dst []byte) []byte {
	switch spec.conv {
	case 'n':
		return append(dst, '\n')
	case '%':
		start := len(dst)
		return spec.justify(append(dst, '%'), start)
	}
	return append(dst, spec.literal...)
}

// justify pads what stands behind start to the width.
func (spec *printfSpec) justify(dst []byte, start int) []byte {
	if spec.width < 0 {
		return dst
	}
	missing := spec.width - utf16Length(string(dst[start:]))
	if missing <= 0 {
		return dst
	}
	end := len(dst)
	for range missing {
		dst = append(dst, ' ')
	}
	if spec.flags&flagLeft == 0 {
		copy(dst[start+missing:], dst[start:end])
		for i := start; i < start+missing; i++ {
			dst[i] = ' '
		}
	}
	return dst
}

// appendString writes a text with the precision, the case and the width of the conversion.
func (spec *printfSpec) appendString(dst []byte, s string) []byte {
	start := len(dst)
	if spec.precision >= 0 {
		units, end, half := 0, 0, ""
		for i, r := range s {
			n := 1
			if r > 0xffff {
				n = 2
			}
			if units+n > spec.precision {
				if n == 2 && units < spec.precision {
					half = "?" // what becomes of half a pair
				}
				break
			}
			units += n
			end = i + CharLen(s[i])
		}
		s = s[:min(end, len(s))] + half
	}
	if spec.flags&flagUpper != 0 {
		dst = AppendUpper(dst, s)
	} else {
		dst = append(dst, s...)
	}
	return spec.justify(dst, start)
}

func (spec *printfSpec) badConversion(arg *PrintfArg) error {
	return printfError("IllegalFormatConversionException", string(spec.conv)+" != "+javaClasses[arg.Kind])
}

func (spec *printfSpec) append(dst []byte, arg *PrintfArg) ([]byte, error) {
	switch {
	case spec.date:
		return spec.appendDate(dst, arg)
	case spec.conv == 'b':
		text := "true"
		if arg.Kind == PrintfNull || arg.Kind == PrintfBoolean && arg.Int == 0 {
			text = "false"
		}
		return spec.appendString(dst, text), nil
	case spec.conv == 's' && spec.flags&flagAlternate != 0:
		return dst, spec.mismatch(flagAlternate)
	case arg.Kind == PrintfNull:
		return spec.appendNull(dst), nil
	}
	switch spec.conv {
	case 's':
		return spec.appendString(dst, arg.text()), nil
	case 'h':
		return spec.appendString(dst, strconv.FormatUint(uint64(uint32(arg.hash())), 16)), nil
	case 'c':
		if arg.Kind < PrintfByte || arg.Kind > PrintfInteger {
			return dst, spec.badConversion(arg)
		}
		if arg.Int < 0 || arg.Int > 0x10ffff {
			return dst, printfError("IllegalFormatCodePointException", "Code point = 0x"+strconv.FormatUint(uint64(uint32(arg.Int)), 16))
		}
		return spec.appendString(dst, string(rune(arg.Int))), nil
	case 'd', 'o', 'x':
		if arg.Kind < PrintfByte || arg.Kind > PrintfLong {
			return dst, spec.badConversion(arg)
		}
		return spec.appendInteger(dst, arg)
	}
	if arg.Kind != PrintfFloat && arg.Kind != PrintfDouble {
		return dst, spec.badConversion(arg)
	}
	return spec.appendFloat(dst, arg.Float), nil
}

// appendNull writes "null", which for numbers too follows the rules of texts.
func (spec *printfSpec) appendNull(dst []byte) []byte {
	return spec.appendString(dst, "null")
}
