package expr

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// patterns keeps the last pattern compiled, since nearly always it is the same for all rows.
type patterns struct {
	text string
	p    *javatext.Pattern
	repl string
	r    *javatext.Replacement
}

func (c *patterns) get(function, text string) (*javatext.Pattern, error) {
	if c.p == nil || c.text != text {
		p, err := javatext.CompilePattern(text)
		if err != nil {
			return nil, javatext.PatternError(function, text, err)
		}
		c.p, c.text, c.r = p, text, nil
	}
	return c.p, nil
}

func (c *patterns) replacement(text string) *javatext.Replacement {
	if c.r == nil || c.repl != text {
		c.r, c.repl = c.p.CompileReplacement(text), text
	}
	return c.r
}

// regexFn binds a function of a text, a pattern and a group.
func regexFn(group bool, typ *columnar.Type, f func(w *columnar.Builder, p *javatext.Pattern, s string, group int)) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		most := 2
		if group {
			most = 3
		}
		if err := b.argCount(args, 2, most); err != nil {
			return nil, err
		}
		name := b.name()
		full := args
		specs := []spec{isString, isString}
		if group {
			specs = append(specs, isInt)
			if len(args) == 2 {
				full = append(args[:2:2], NewInt(map[bool]int32{true: 0, false: 1}[name == "regexp_instr"]))
			}
		}
		full, err := b.coerceAs(sqlCall(name, full), full, specs...)
		if err != nil {
			return nil, err
		}
		e := simple(name, full, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			var c patterns
			return rows(typ, a, n, func(w *columnar.Builder, i int) error {
				p, err := c.get(name, str(a[1], i))
				if err != nil {
					return err
				}
				g := 0
				if group && name != "regexp_instr" {
					g = int(i32(a[2], i))
					if err := p.CheckGroup(name, g); err != nil {
						if p.RLike(str(a[0], i)) {
							return err
						}
						g = 0 // without a match no group is asked for
					}
				}
				f(w, p, str(a[0], i), g)
				return nil
			})
		})
		if name == "regexp_substr" {
			e.null, e.nullFn = true, nil
		}
		return e, nil
	}
}

func bindRegexpReplace(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 3, 4); err != nil {
		return nil, err
	}
	name := b.name()
	full := args
	if len(args) == 3 {
		full = append(args[:3:3], NewInt(1))
	}
	sql := sqlCall(name, full)
	full, err := b.coerceAs(sql, full, isString, isString, isString, isInt)
	if err != nil {
		return nil, err
	}
	v, ok, err := b.foldable(full[3])
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, mismatch("NON_FOLDABLE_INPUT", sql, "the input `position` should be a foldable \"INT\" expression; however, got \"%s\"", full[3].SQL())
	}
	if p, is := v.(int32); is && p < 1 {
		return nil, mismatch("VALUE_OUT_OF_RANGE", sql, "the `position` must be between (0, 2147483647] (current value = %d)", p)
	}
	return simple(name, full, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		var c patterns
		return rows(columnar.String, a, n, func(w *columnar.Builder, i int) error {
			if _, err := c.get(name, str(a[1], i)); err != nil {
				return err
			}
			buf, err := c.replacement(str(a[2], i)).AppendReplaced(w.Scratch(), str(a[0], i), int(i32(a[3], i)))
			if err != nil {
				return err
			}
			w.FinishScratch(buf)
			return nil
		})
	}), nil
}

func bindSplit(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	name := b.name()
	full := args
	if len(args) == 2 {
		full = append(args[:2:2], NewInt(-1))
	}
	full, err := b.coerceAs(sqlCall(name, full), full, isString, isString, isInt)
	if err != nil {
		return nil, err
	}
	typ := columnar.ArrayOf(columnar.String, false)
	return simple(name, full, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		var c patterns
		var parts []string
		return rows(typ, a, n, func(w *columnar.Builder, i int) error {
			p, err := c.get(name, str(a[1], i))
			if err != nil {
				return err
			}
			parts = p.AppendSplit(parts[:0], str(a[0], i), int(i32(a[2], i)))
			for _, s := range parts {
				w.Child(0).AppendString(s)
			}
			w.AppendNested()
			return nil
		})
	}), nil
}

// bindStrToMap binds str_to_map(text[, pair delimiter[, key delimiter]]); both are patterns.
func bindStrToMap(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 3); err != nil {
		return nil, err
	}
	name := b.name()
	full := args[:len(args):len(args)]
	for _, d := range []string{",", ":"}[len(args)-1:] {
		full = append(full, NewString(d))
	}
	full, err := b.expectAs(sqlCall(name, full), full, isString)
	if err != nil {
		return nil, err
	}
	typ := columnar.MapOf(columnar.String, columnar.String, true)
	return simple(name, full, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		var pc, kc patterns
		var pairs, kv []string
		return rows(typ, a, n, func(w *columnar.Builder, i int) error {
			pp, err := pc.get(name, str(a[1], i))
			if err != nil {
				return err
			}
			kp, err := kc.get(name, str(a[2], i))
			if err != nil {
				return err
			}
			pairs = pp.AppendSplit(pairs[:0], str(a[0], i), -1)
			seen := map[string]bool{}
			for _, p := range pairs {
				kv = kp.AppendSplit(kv[:0], p, 2)
				if seen[kv[0]] {
					return sparkerr.New("DUPLICATED_MAP_KEY", "duplicate map key %s was found, please check the input data", kv[0])
				}
				seen[kv[0]] = true
				w.Child(0).AppendString(kv[0])
				if len(kv) < 2 {
					w.Child(1).AppendNull()
				} else {
					w.Child(1).AppendString(kv[1])
				}
			}
			w.AppendNested()
			return nil
		})
	}), nil
}

// regexFunctions are the functions of regular expressions.
func regexFunctions() []*Function {
	const family = "regex"
	f := func(name, signature, doc, example string, bind func(b *Binder, args []Expr) (Expr, error)) *Function {
		return &Function{Name: name, Family: family, Signature: signature, Doc: doc, Example: example, Bind: bind}
	}
	extract := regexFn(true, columnar.String, func(w *columnar.Builder, p *javatext.Pattern, s string, g int) { w.AppendString(p.RegexpExtract(s, g)) })
	all := columnar.ArrayOf(columnar.String, true)
	extractAll := regexFn(true, all, func(w *columnar.Builder, p *javatext.Pattern, s string, g int) {
		for _, m := range p.AppendExtractAll(nil, s, g) {
			w.Child(0).AppendString(m)
		}
		w.AppendNested()
	})
	group1 := func(bind func(b *Binder, args []Expr) (Expr, error)) func(b *Binder, args []Expr) (Expr, error) {
		return func(b *Binder, args []Expr) (Expr, error) {
			if len(args) == 2 {
				args = append(args[:2:2], NewInt(1))
			}
			return bind(b, args)
		}
	}
	return []*Function{
		f("regexp_extract", "regexp_extract(str, pattern[, group])", "A group of the first match, '' without a match.", `SELECT regexp_extract('100-200', r'(\d+)-(\d+)', 1) → 100`, group1(extract)),
		f("regexp_extract_all", "regexp_extract_all(str, pattern[, group])", "A group of every match.", `SELECT regexp_extract_all('100-200', r'(\d+)') → [100, 200]`, group1(extractAll)),
		f("regexp_replace", "regexp_replace(str, pattern, by[, position])", "The string with every match replaced; $1 is a group.", `SELECT regexp_replace('100-200', r'(\d+)', 'num') → num-num`, bindRegexpReplace),
		f("regexp_count", "regexp_count(str, pattern)", "How many matches there are.", "SELECT regexp_count('abab', 'a') → 2", regexFn(false, columnar.Int32, func(w *columnar.Builder, p *javatext.Pattern, s string, _ int) { w.AppendInt(int64(p.RegexpCount(s))) })),
		f("regexp_instr", "regexp_instr(str, pattern)", "The place of the first match, from 1; 0 for none.", "SELECT regexp_instr('xab', 'a') → 2", regexFn(true, columnar.Int32, func(w *columnar.Builder, p *javatext.Pattern, s string, _ int) { w.AppendInt(int64(p.RegexpInstr(s))) })),
		f("regexp_substr", "regexp_substr(str, pattern)", "The first match, NULL without one.", "SELECT regexp_substr('xab', 'a.') → ab", regexFn(false, columnar.String, func(w *columnar.Builder, p *javatext.Pattern, s string, _ int) {
			if m, ok := p.RegexpSubstr(s); ok {
				w.AppendString(m)
			} else {
				w.AppendNull()
			}
		})),
		f("split", "split(str, pattern[, limit])", "The pieces of a string between matches.", "SELECT split('a,b', ',') → [a, b]", bindSplit),
		f("str_to_map", "str_to_map(text[, pairDelim[, keyDelim]])", "A map of a text of pairs.", "SELECT str_to_map('a:1,b:2') → {a -> 1, b -> 2}", bindStrToMap),
	}
}

// urlFunctions are the functions of URLs.
func urlFunctions() []*Function {
	const family = "url"
	f := func(name, signature, doc, example string, bind func(b *Binder, args []Expr) (Expr, error)) *Function {
		return &Function{Name: name, Family: family, Signature: signature, Doc: doc, Example: example, Bind: bind}
	}
	decode := func(try bool) func(b *Binder, args []Expr) (Expr, error) {
		return typed{specs: []spec{isString}, out: columnar.String, nullable: try, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			s, err := javatext.URLDecode(str(a[0], i))
			if err != nil {
				if !try {
					return err
				}
				w.AppendNull()
				return nil
			}
			w.AppendString(s)
			return nil
		}}.bind
	}
	return []*Function{
		f("parse_url", "parse_url(url, part[, key])", "A part of a URL, or the value of a key of its query.", "SELECT parse_url('http://spark.apache.org/path?query=1', 'HOST') → spark.apache.org", bindParseURL(false)),
		f("try_parse_url", "try_parse_url(url, part[, key])", "The same, NULL for what is no URL.", "SELECT try_parse_url('inva lid', 'HOST') → NULL", bindParseURL(true)),
		f("url_encode", "url_encode(str)", "The string as it may stand in a URL.", "SELECT url_encode('a b') → a+b", stringFn(func(dst []byte, s string) []byte { return append(dst, javatext.URLEncode(s)...) })),
		f("url_decode", "url_decode(str)", "The string that a URL contains.", "SELECT url_decode('a+b') → a b", decode(false)),
		f("try_url_decode", "try_url_decode(str)", "The same, NULL where that fails.", "SELECT try_url_decode('%zz') → NULL", decode(true)),
	}
}

func bindParseURL(try bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 2, 3); err != nil {
			return nil, err
		}
		name := b.name()
		args, err := b.expect(args, isString)
		if err != nil {
			return nil, err
		}
		strict := b.ANSI && !try
		e := simple(name, args, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			var key *javatext.URLQueryKey
			keyText := ""
			return rows(columnar.String, a, n, func(w *columnar.Builder, i int) error {
				part := str(a[1], i)
				if len(a) == 3 && part != "QUERY" {
					w.AppendNull()
					return nil
				}
				v, ok, err := javatext.ParseURL(str(a[0], i), part)
				if err != nil {
					if strict {
						return err
					}
					ok = false
				}
				if ok && len(a) == 3 {
					if k := str(a[2], i); key == nil || k != keyText {
						if key, err = javatext.CompileURLQueryKey(k); err != nil {
							return err
						}
						keyText = k
					}
					v, ok = key.Value(v)
				}
				if !ok {
					w.AppendNull()
				} else {
					w.AppendString(strings.Clone(v))
				}
				return nil
			})
		})
		e.null, e.nullFn = true, nil
		return e, nil
	}
}
