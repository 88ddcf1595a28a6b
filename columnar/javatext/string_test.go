package javatext

import (
	"encoding/hex"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar/sparkerr"
)

func mustUnquote(t *testing.T, s string) string {
	t.Helper()
	u, err := strconv.Unquote(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return u
}

func mustHex(t *testing.T, s string) string {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return string(b)
}

func TestLetterCase(t *testing.T) {
	goldenLines(t, "case", "\t", func(line int, f []string) {
		s := mustUnquote(t, f[0])
		for i, got := range [][]byte{AppendUpper(nil, s), AppendLower(nil, s), AppendInitcap(nil, s)} {
			if want := mustUnquote(t, f[1+i]); string(got) != want {
				t.Errorf("line %d: %s of %q is %q, want %q", line, []string{"upper", "lower", "initcap"}[i], s, got, want)
			}
		}
	})
}

// TestTexts compares what is done to texts that may be no valid UTF-8.
func TestTexts(t *testing.T) {
	goldenLines(t, "text", "\t", func(line int, f []string) {
		s, other := mustHex(t, f[0]), mustHex(t, f[1])
		position, _ := strconv.Atoi(f[8])
		length, _ := strconv.Atoi(f[9])
		orDash := func(b []byte, ok bool) string {
			if !ok {
				return "-"
			}
			return hex.EncodeToString(b)
		}
		decoded, err := URLDecode(s)
		unbase64, unbase64OK := AppendUnbase64(nil, javaString(s))
		binary, binaryErr := AppendToBinaryBase64(nil, s)
		got := []string{
			strconv.Itoa(Length(s)), strconv.FormatBool(IsValidUTF8(s)), hex.EncodeToString([]byte(MakeValidUTF8(s))), hex.EncodeToString([]byte(Soundex(s))),
			strconv.Itoa(Levenshtein(s, other, -1)), strconv.Itoa(Levenshtein(s, other, 2)), f[8], f[9], hex.EncodeToString([]byte(Substring(s, int32(position), int32(length)))),
			URLEncode(s), orDash([]byte(decoded), err == nil), orDash(unbase64, unbase64OK), orDash(binary, binaryErr == nil),
		}
		for _, c := range []Charset{UTF16, UTF16LE, UTF32, ISO88591, USASCII} {
			encoded, ok := c.AppendEncoded(nil, s)
			got = append(got, orDash(encoded, ok))
			text, ok := c.AppendDecoded(nil, []byte(s))
			got = append(got, orDash(text, ok))
		}
		names := []string{
			"length", "is valid", "made valid", "soundex", "levenshtein", "levenshtein within 2", "", "", "substring", "url_encode", "url_decode", "unbase64", "to_binary",
			"to utf-16", "from utf-16", "to utf-16le", "from utf-16le", "to utf-32", "from utf-32", "to iso-8859-1", "from iso-8859-1", "to us-ascii", "from us-ascii",
		}
		for i, g := range got {
			if g != f[2+i] && f[2+i] != "?" {
				t.Errorf("line %d: %s of %s (%q) is %s, want %s", line, names[i], f[0], s, g, f[2+i])
			}
		}
	})
}

func TestParseURL(t *testing.T) {
	goldenLines(t, "uri", "\t", func(line int, f []string) {
		s := mustUnquote(t, f[0])
		for i, part := range []string{"HOST", "PATH", "QUERY", "REF", "PROTOCOL", "AUTHORITY", "USERINFO"} {
			value, ok, err := ParseURL(s, part)
			if err != nil {
				if f[1] != "-" || sparkerr.Condition(err) != "INVALID_URL" {
					t.Errorf("line %d: %q is refused: %v", line, s, err)
				}
				return
			}
			if !ok {
				value = "null"
			}
			if f[1] == "-" || value != f[1+i] {
				t.Errorf("line %d: %s of %q is %s, want %s", line, part, s, value, f[1:])
				return
			}
		}
	})
	for url, want := range map[string]string{"https://example.com?x": "?x", "/relative?x=1": "/relative?x=1", "http://h/p#x": "/p", "mailto:a@b": ""} {
		if got, ok, err := ParseURL(url, "FILE"); got != want || ok != (want != "") || err != nil {
			t.Errorf("FILE of %q is %q, %v, %v", url, got, ok, err)
		}
	}
	if _, ok, err := ParseURL("http://h", "host"); ok || err != nil {
		t.Errorf("host is found: %v, %v", ok, err)
	}
}

func TestURLQueryKey(t *testing.T) {
	for _, c := range []struct{ query, key, want string }{
		{"query=1&k=v%20w", "k", "v%20w"}, {"a=1&a=2", "a", "1"}, {"xa=1&a=2", "a", "2"}, {"a=1", "b", "-"}, {"ab=1", "a.", "1"}, {"a=", "a", ""}, {"aa=1", "a", "-"}, {"=1", "", "1"},
	} {
		key, err := CompileURLQueryKey(c.key)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := key.Value(c.query)
		if !ok {
			got = "-"
		}
		if got != c.want {
			t.Errorf("%q of %q is %q, want %q", c.key, c.query, got, c.want)
		}
	}
}

func TestLike(t *testing.T) {
	goldenLines(t, "like", "\t", func(line int, f []string) {
		s, pattern := mustUnquote(t, f[0]), mustUnquote(t, f[1])
		p, err := CompileLike(pattern, rune(f[2][0]))
		got := sparkerr.Condition(err)
		if err == nil {
			got = strconv.FormatBool(p.Match(s))
		}
		if got != f[3] {
			t.Errorf("line %d: %q LIKE %q ESCAPE %s is %s, want %s", line, s, pattern, f[2], got, f[3])
		}
	})
}

func TestAppendBase64(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 4, 57: 76, 58: 76 + 2 + 4, 114: 76 + 2 + 76, 115: 76 + 2 + 76 + 2 + 4} {
		got := AppendBase64(nil, make([]byte, n))
		if len(got) != want {
			t.Errorf("%d bytes are %q", n, got)
		}
		if back, ok := AppendUnbase64(nil, string(got)); !ok || len(back) != n {
			t.Errorf("%d bytes come back as %d", n, len(back))
		}
	}
}

func FuzzTexts(f *testing.F) {
	f.Add("ΑΣ a\xff", "http://[::1%e]:80/x?q#f")
	f.Add("%41+", "a/_b%")
	f.Fuzz(func(t *testing.T, s, u string) {
		for _, b := range [][]byte{AppendUpper(nil, s), AppendLower(nil, s), AppendInitcap(nil, s)} {
			if !utf8.Valid(b) {
				t.Fatalf("case of %q is %q", s, b)
			}
		}
		if v := MakeValidUTF8(s); !utf8.ValidString(v) {
			t.Fatalf("%q made valid is %q", s, v)
		}
		if d, err := URLDecode(URLEncode(s)); err != nil || d != javaString(s) {
			t.Fatalf("%q decoded is %q, %v", s, d, err)
		}
		ParseURL(u, "HOST")
		Soundex(s)
		Levenshtein(s, u, 3)
		if p, err := CompileLike(u, '/'); err == nil {
			p.Match(s)
		}
		AppendToBinaryBase64(nil, s)
		for c := UTF8; c <= USASCII; c++ {
			if b, ok := c.AppendEncoded(nil, s); ok {
				if back, ok := c.AppendDecoded(nil, b); !ok || string(back) != javaString(s) && c != UTF32 && c != UTF16 {
					t.Fatalf("%q by way of %s is %q, %v", s, c, back, ok)
				}
			}
		}
	})
}

func BenchmarkLike(b *testing.B) {
	for _, pattern := range []string{"%alice%", "a%z", "%a_i%e%"} {
		p, err := CompileLike(pattern, '\\')
		if err != nil {
			b.Fatal(err)
		}
		b.Run(pattern, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Match("2026-03-01 10:11:12 INFO worker-17 request for user alice@example.com")
			}
		})
	}
}
