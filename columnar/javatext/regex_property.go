package javatext

import (
	"strings"
	"sync"
	"unicode"
)

// property reads p{Name} or P{Name}.
func (p *regexParser) property() *charClass {
	negative := p.raw(p.i) == 'P'
	c := p.next()
	name := ""
	if c != '{' {
		if p.i >= len(p.t) {
			p.fail("Illegal/unsupported escape sequence")
		}
		name = string(c)
		p.read()
	} else {
		p.i++
		from := p.i
		for p.i < len(p.t) && p.t[p.i] != '}' {
			p.i++
		}
		switch {
		case p.i >= len(p.t):
			p.fail("Unclosed character family")
			return emptyClass
		case p.i == from:
			p.fail("Empty character family")
			return emptyClass
		}
		name = string(p.t[from:p.i])
		p.i++
	}
	class := p.namedClass(name)
	if negative {
		class = class.negate()
	}
	return class
}

func (p *regexParser) namedClass(name string) *charClass {
	fold := p.has(flagCaseInsensitive)
	if key, value, ok := strings.Cut(name, "="); ok {
		var class *charClass
		switch strings.ToLower(key) {
		case "sc", "script":
			class = scriptClass(value)
		case "blk", "block":
			class = blockClass(value)
		case "gc", "general_category":
			class = categoryClass(value, fold)
		}
		if class == nil {
			p.fail("Unknown Unicode property {name=<" + strings.ToLower(key) + ">, value=<" + value + ">}")
			return emptyClass
		}
		return class
	}
	var class *charClass
	switch {
	case strings.HasPrefix(name, "In"):
		class = blockClass(name[2:])
	case strings.HasPrefix(name, "Is"):
		if class = binaryProperty(name[2:], fold); class == nil {
			class = categoryClass(name[2:], fold)
		}
		if class == nil {
			class = scriptClass(name[2:])
		}
	default:
		if p.has(flagUnicodeClass) {
			class = unicodePosix(name, fold)
		}
		if class == nil {
			class = categoryClass(name, fold)
		}
	}
	if class == nil {
		p.fail("Unknown character property name {" + name + "}")
		return emptyClass
	}
	return class
}

// asciiClass returns a POSIX class of ASCII, or nil.
func asciiClass(name string) *charClass {
	var in func(c byte) bool
	switch name {
	case "ASCII":
		in = func(byte) bool { return true }
	case "Alnum":
		in = func(c byte) bool { return isASCIILetter(c) || isASCIIDigit(c) }
	case "Alpha":
		in = isASCIILetter
	case "Blank":
		in = func(c byte) bool { return c == ' ' || c == '\t' }
	case "Cntrl":
		in = func(c byte) bool { return c < ' ' || c == 0x7f }
	case "Digit":
		in = isASCIIDigit
	case "Graph":
		in = func(c byte) bool { return c > ' ' && c < 0x7f }
	case "Lower":
		in = func(c byte) bool { return c >= 'a' && c <= 'z' }
	case "Print":
		in = func(c byte) bool { return c >= ' ' && c < 0x7f }
	case "Punct":
		in = func(c byte) bool { return c > ' ' && c < 0x7f && !isASCIILetter(c) && !isASCIIDigit(c) }
	case "Space":
		in = func(c byte) bool { return isRegexSpace(rune(c)) }
	case "Upper":
		in = func(c byte) bool { return c >= 'A' && c <= 'Z' }
	case "XDigit":
		in = isHexDigit
	default:
		return nil
	}
	return &charClass{func(r rune) bool { return r >= 0 && r < 0x80 && in(byte(r)) }}
}

var casedLetters = tableClass(unicode.Lu, unicode.Ll, unicode.Lt)

// categoryClass returns the class of a name that stands alone: a general category, a POSIX class of ASCII, or a method of
// java.lang.Character.
func categoryClass(name string, fold bool) *charClass {
	switch name {
	case "Lu", "Ll", "Lt":
		if fold {
			return casedLetters
		}
	case "Cn":
		return &charClass{func(r rune) bool { return !isDefined(r) }}
	case "LC":
		return casedLetters
	case "LD":
		return tableClass(unicode.L, unicode.Nd)
	case "L1":
		return rangeClass(0, 0xff)
	case "all":
		return &charClass{func(rune) bool { return true }}
	case "C":
		return &charClass{func(r rune) bool { return !isDefined(r) || unicode.Is(unicode.C, r) }}
	case "Lower", "Upper":
		if fold {
			return asciiClass("Alpha")
		}
	}
	if class := asciiClass(name); class != nil {
		return class
	}
	if table, ok := unicode.Categories[name]; ok && len(name) <= 2 {
		return tableClass(table)
	}
	if method, ok := strings.CutPrefix(name, "java"); ok {
		return javaMethodClass(method, fold)
	}
	return nil
}

func isDefined(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
}

func isJavaLower(r rune) bool { return unicode.In(r, unicode.Ll, unicode.Other_Lowercase) }

func isJavaUpper(r rune) bool { return unicode.In(r, unicode.Lu, unicode.Other_Uppercase) }

// javaMethodClass returns the class of a method isX of java.lang.Character.
func javaMethodClass(method string, fold bool) *charClass {
	is := func(f func(r rune) bool) *charClass { return &charClass{f} }
	if fold && (method == "LowerCase" || method == "UpperCase" || method == "TitleCase") {
		return is(func(r rune) bool { return isJavaLower(r) || isJavaUpper(r) || unicode.Is(unicode.Lt, r) })
	}
	ignorable := func(r rune) bool {
		return r >= 0 && r <= 8 || r >= 0xe && r <= 0x1b || r >= 0x7f && r <= 0x9f || unicode.Is(unicode.Cf, r)
	}
	idStart := func(r rune) bool { return unicode.In(r, unicode.L, unicode.Nl) }
	idPart := func(r rune) bool {
		return idStart(r) || ignorable(r) || unicode.In(r, unicode.Pc, unicode.Nd, unicode.Mc, unicode.Mn)
	}
	switch method {
	case "LowerCase":
		return is(isJavaLower)
	case "UpperCase":
		return is(isJavaUpper)
	case "Alphabetic":
		return is(isAlphabetic)
	case "Ideographic":
		return tableClass(unicode.Ideographic)
	case "TitleCase":
		return tableClass(unicode.Lt)
	case "Digit":
		return tableClass(unicode.Nd)
	case "Defined":
		return is(isDefined)
	case "Letter":
		return tableClass(unicode.L)
	case "LetterOrDigit":
		return tableClass(unicode.L, unicode.Nd)
	case "JavaIdentifierStart":
		return is(func(r rune) bool { return idStart(r) || unicode.In(r, unicode.Sc, unicode.Pc) })
	case "JavaIdentifierPart":
		return is(func(r rune) bool { return idPart(r) || unicode.Is(unicode.Sc, r) })
	case "UnicodeIdentifierStart":
		return is(func(r rune) bool { return idStart(r) || unicode.Is(unicode.Other_ID_Start, r) })
	case "UnicodeIdentifierPart":
		return is(func(r rune) bool {
			return idPart(r) || unicode.In(r, unicode.Other_ID_Start, unicode.Other_ID_Continue)
		})
	case "IdentifierIgnorable":
		return is(ignorable)
	case "SpaceChar":
		return tableClass(unicode.Z)
	case "Whitespace":
		return is(IsWhitespace)
	case "ISOControl":
		return is(func(r rune) bool { return r >= 0 && r <= 0x1f || r >= 0x7f && r <= 0x9f })
	}
	return nil
}

// binaryProperty returns the class of \p{IsName} for the binary properties that Java has.
func binaryProperty(name string, fold bool) *charClass {
	anyCase := &charClass{func(r rune) bool { return isJavaLower(r) || isJavaUpper(r) || unicode.Is(unicode.Lt, r) }}
	switch strings.ToUpper(name) {
	case "ALPHABETIC":
		return &charClass{isAlphabetic}
	case "ASSIGNED":
		return &charClass{isDefined}
	case "CONTROL":
		return tableClass(unicode.Cc)
	case "HEXDIGIT", "HEX_DIGIT":
		return tableClass(unicode.Hex_Digit, unicode.Nd)
	case "IDEOGRAPHIC":
		return tableClass(unicode.Ideographic)
	case "JOINCONTROL", "JOIN_CONTROL":
		return rangeClass(0x200c, 0x200d)
	case "LETTER":
		return tableClass(unicode.L)
	case "LOWERCASE":
		if fold {
			return anyCase
		}
		return &charClass{isJavaLower}
	case "UPPERCASE":
		if fold {
			return anyCase
		}
		return &charClass{isJavaUpper}
	case "TITLECASE":
		if fold {
			return anyCase
		}
		return tableClass(unicode.Lt)
	case "NONCHARACTERCODEPOINT", "NONCHARACTER_CODE_POINT":
		return &charClass{func(r rune) bool { return r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef }}
	case "PUNCTUATION":
		return tableClass(unicode.P)
	case "WHITESPACE", "WHITE_SPACE":
		return unicodeSpace
	case "WORD":
		return unicodeWord
	}
	return nil
}

// unicodePosix returns the class of a POSIX name under the flag U.
func unicodePosix(name string, fold bool) *charClass {
	graph := func(r rune) bool {
		return isDefined(r) && !unicode.In(r, unicode.Cc, unicode.Cs, unicode.Z)
	}
	blank := func(r rune) bool { return unicode.Is(unicode.Zs, r) || r == '\t' }
	switch strings.ToUpper(name) {
	case "ALPHA":
		return &charClass{isAlphabetic}
	case "LOWER":
		return binaryProperty("LOWERCASE", fold)
	case "UPPER":
		return binaryProperty("UPPERCASE", fold)
	case "SPACE":
		return unicodeSpace
	case "PUNCT":
		return tableClass(unicode.P)
	case "XDIGIT":
		return binaryProperty("HEXDIGIT", false)
	case "ALNUM":
		return &charClass{func(r rune) bool { return isAlphabetic(r) || unicode.Is(unicode.Nd, r) }}
	case "CNTRL":
		return tableClass(unicode.Cc)
	case "DIGIT":
		return unicodeDigits
	case "BLANK":
		return &charClass{blank}
	case "GRAPH":
		return &charClass{graph}
	case "PRINT":
		return &charClass{func(r rune) bool { return (graph(r) || blank(r)) && !unicode.Is(unicode.Cc, r) }}
	}
	return nil
}

// regexNames is regexnames.txt.
type regexNames struct {
	blocks  map[string]*charClass
	scripts map[string]string // name in upper case to Go's name
}

var regexNameTables = sync.OnceValue(func() *regexNames {
	t := &regexNames{make(map[string]*charClass), make(map[string]string)}
	for name := range unicode.Scripts {
		t.scripts[strings.ToUpper(name)] = name
	}
	for line := range strings.Lines(regexNamesText) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "script "); ok {
			short, long, _ := strings.Cut(rest, " ")
			if name, ok := t.scripts[long]; ok {
				t.scripts[short] = name
			}
			continue
		}
		f := strings.Split(strings.TrimPrefix(line, "block "), "|")
		bounds := strings.Fields(f[0])
		class := rangeClass(rune(tableInt(bounds[0], 16)), rune(tableInt(bounds[1], 16)))
		for _, name := range f[1:] {
			t.blocks[name] = class
		}
	}
	return t
})

func blockClass(name string) *charClass { return regexNameTables().blocks[strings.ToUpper(name)] }

func scriptClass(name string) *charClass {
	if script, ok := regexNameTables().scripts[strings.ToUpper(name)]; ok {
		return tableClass(unicode.Scripts[script])
	}
	return nil
}
