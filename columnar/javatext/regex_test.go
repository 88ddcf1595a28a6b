package javatext

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// TestPatternMatches compares all matches and groups of made-up patterns with Java's.
func TestPatternMatches(t *testing.T) {
	goldenLines(t, "regex", "\t", func(line int, f []string) {
		source, err := strconv.Unquote(f[0])
		if err != nil {
			t.Fatal(line, err)
		}
		text, err := strconv.Unquote(f[1])
		if err != nil {
			t.Fatal(line, err)
		}
		got := "error"
		if p, err := CompilePattern(source); err == nil {
			got = allMatches(p, text)
		}
		if got != f[2] {
			t.Errorf("line %d: %s in %s is %s, want %s", line, f[0], f[1], got, f[2])
		}
	})
}

// allMatches writes start:end of each group of each match, in characters.
func allMatches(p *Pattern, text string) string {
	m := p.matcher(text)
	defer p.release(m)
	var b strings.Builder
	for ok := m.next(true); ok; ok = m.next(false) {
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		for g := range p.prog.groups {
			if g > 0 {
				b.WriteByte(',')
			}
			from, to := m.caps[2*g], m.caps[2*g+1]
			if from < 0 || to < 0 {
				b.WriteByte('-')
				continue
			}
			b.WriteString(strconv.Itoa(utf8.RuneCountInString(text[:from])))
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(utf8.RuneCountInString(text[:to])))
		}
	}
	return b.String()
}

func TestRLike(t *testing.T) {
	for _, c := range []struct {
		s, regex string
		want     bool
	}{
		{"Spark", "^S", true},
		{"Spark", "park$", true},
		{"Spark", "spark", false},
		{"Spark", "(?i)spark", true},
		{"", "", true},
		{"a\nb", "a.b", false},
		{"a\nb", "(?s)a.b", true},
		{"a\nb", "(?m)^b", true},
		{"foobar", "foo(?=bar)", true},
		{"foobaz", "foo(?!bar)", true},
		{"日本", `\p{IsHan}+`, true},
		{"é", `\w`, false},
		{"é", `(?U)\w`, true},
		{"É", "(?i)é", false},
		{"É", "(?iu)é", true},
		{"٣", `\d`, false},
		{"a b", `\bb`, true},
		{"a", "[[:alpha:]]", true},
		{"a-b", "[a-z&&[^b]]-b", true},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "(a+)+$", false},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "^(a|aa)+$", false},
		{"x\xff", "x\ufffd", true},
	} {
		p, err := CompilePattern(c.regex)
		if err != nil {
			t.Errorf("%q: %v", c.regex, err)
		} else if got := p.RLike(c.s); got != c.want {
			t.Errorf("%q RLIKE %q is %v", c.s, c.regex, got)
		}
	}
}

func TestPatternSyntaxError(t *testing.T) {
	for regex, want := range map[string]string{
		"[": "Unclosed character class", "(": "Unclosed group", ")": "Unmatched closing ')'", "a**": "Dangling meta character '*'", "{": "Illegal repetition",
		"a{2,1}": "Illegal repetition range", "a{2": "Unclosed counted closure", `\y`: "Illegal/unsupported escape sequence", "(?<n>a)(?<n>b)": "Named capturing group <n> is already defined",
		"(?<=(ab)*)": "Look-behind group does not have an obvious maximum length", "[b-a]": "Illegal character range", `\p{Foo}`: "Unknown character property name {Foo}",
		`\`: "Unexpected internal error", "(?z)": "Unknown inline modifier", `\x{110000}`: "Hexadecimal codepoint is too big",
	} {
		_, err := CompilePattern(regex)
		syntax, ok := err.(*PatternSyntaxError)
		if !ok || syntax.Description != want {
			t.Errorf("%q is refused with %v, want %q", regex, err, want)
		}
	}
}

func TestRegexpReplace(t *testing.T) {
	for _, c := range []struct {
		s, regex, replacement string
		position              int
		want                  string
	}{
		{"100-200", `(\d+)`, "num", 1, "num-num"},
		{"100-200", `(\d+)-(\d+)`, "$2-$1", 1, "200-100"},
		{"100-200", `(\d+)`, "x", 2, "1x-x"},
		{"100-200", `(\d+)`, "x", 100, "100-200"},
		{"abc", "", "-", 1, "-a-b-c-"},
		{"abc", "b", "$1", 1, "INVALID_REGEXP_REPLACE"},
		{"abc", "b", "$0$0", 1, "abbc"},
		{"abc", "b", `\$`, 1, "a$c"},
		{"abc", "b", "$", 1, "INVALID_REGEXP_REPLACE"},
		{"abc", "x", "$", 1, "abc"},
		{"aaa", "a*", "X", 1, "XX"},
		{"日本語", "本", "😀", 1, "日😀語"},
		{"2026-03", `(?<y>\d+)-(?<m>\d+)`, "${m}/${y}", 1, "03/2026"},
		{"ab", "(a)(b)?", "$12", 1, "a2"},
		{"😀XbX", "X", "-", 4, "😀Xb-"},
		{"aXbX", "^X", "-", 2, "a-bX"},
		{"abc", "b", `\`, 1, "INVALID_REGEXP_REPLACE"},
		{"", "^", "x", 1, "x"},
		{"", "a", "x", 5, ""},
	} {
		p, err := CompilePattern(c.regex)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.CompileReplacement(c.replacement).AppendReplaced(nil, c.s, c.position)
		if s := string(got); err == nil && s != c.want || err != nil && sparkerr.Condition(err) != c.want {
			t.Errorf("%q with %q by %q from %d is %q, %v, want %q", c.s, c.regex, c.replacement, c.position, s, err, c.want)
		}
	}
}

func TestRegexpSplitAndExtract(t *testing.T) {
	for _, c := range []struct {
		s, regex string
		limit    int
		want     string
	}{
		{"oneAtwoBthreeC", "[ABC]", -1, "one,two,three,"},
		{"oneAtwoBthreeC", "[ABC]", 2, "one,twoBthreeC"},
		{"oneAtwoBthreeC", "[ABC]", 1, "oneAtwoBthreeC"},
		{"", "x", -1, ""},
		{"abc", "", -1, "a,b,c"},
		{"abc", "", 2, "a,bc"},
		{"a😀b", "", 0, "a,😀,b"},
		{"a.b", ".", 0, ",,,"},
		{"abc", "(?=b)", 0, "a,bc"},
		{"abc", "|", 0, "a,b,c,"},
	} {
		p, err := CompilePattern(c.regex)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.AppendSplit(nil, c.s, c.limit), ","); got != c.want {
			t.Errorf("%q split by %q, %d, is %q, want %q", c.s, c.regex, c.limit, got, c.want)
		}
	}
	p, _ := CompilePattern("(b)|(c)")
	if got := p.AppendExtractAll(nil, "abc", 2); len(got) != 2 || got[0] != "" || got[1] != "c" {
		t.Errorf("second groups are %q", got)
	}
	if got := p.RegexpExtract("abc", 1); got != "b" {
		t.Errorf("first group is %q", got)
	}
	if p.RegexpCount("abcb") != 3 || p.RegexpInstr("a😀b") != 4 || p.RegexpInstr("x") != 0 || p.GroupCount() != 2 {
		t.Errorf("count is %d, position %d", p.RegexpCount("abcb"), p.RegexpInstr("a😀b"))
	}
	if err := p.CheckGroup("regexp_extract", 3); sparkerr.Condition(err) != "INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX" {
		t.Errorf("group 3 is refused with %v", err)
	}
}

func FuzzPattern(f *testing.F) {
	f.Add(`(a|b)*+c{1,3}[^\d&&[a-z]]`, "abcccx")
	f.Add(`(?<n>\w+)\s\k<n>`, "hello hello")
	f.Add(`(?<=a{2})\Qb\E$`, "aab\n")
	f.Fuzz(func(t *testing.T, regex, s string) {
		if len(regex) > 40 || len(s) > 40 {
			return
		}
		p, err := CompilePattern(regex)
		if err != nil {
			return
		}
		if !p.prog.remember {
			return // may take time without bound
		}
		n := p.RegexpCount(s)
		if parts := p.AppendSplit(nil, s, -1); regex != "" && len(parts) > n+1 {
			t.Fatalf("%q splits %q into %d parts at %d matches", regex, s, len(parts), n)
		}
		p.CompileReplacement("$0").AppendReplaced(nil, s, 1)
	})
}

func BenchmarkRLike(b *testing.B) {
	line := "2026-03-01 10:11:12 INFO worker-17 request took 123 ms for user alice@example.com path /api/v1/items"
	for _, regex := range []string{"alice", `^\d+-\d+`, `(\w+)@(\w+)\.com`, `ERROR|WARN`, `took (\d+) ms`, `(?i)ALICE`} {
		p, err := CompilePattern(regex)
		if err != nil {
			b.Fatal(err)
		}
		g := regexp.MustCompile(regex)
		b.Run(regex, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.RLike(line)
			}
		})
		b.Run("go/"+regex, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g.MatchString(line)
			}
		})
	}
}
