package columnar

import "testing"

func TestParseDDL(t *testing.T) {
	for in, want := range map[string]string{
		"":      "",
		"a INT": "a INT",
		"a int, `b c` string NOT NULL COMMENT 'it\\'s', d decimal":                   "a INT,`b c` STRING NOT NULL COMMENT 'it\\'s',d DECIMAL(10,0)",
		"s STRUCT<x: ARRAY<MAP<STRING,TIMESTAMP>>, y DEC(5,2) NOT NULL>, e STRUCT<>": "s STRUCT<x: ARRAY<MAP<STRING, TIMESTAMP>>, y: DECIMAL(5,2) NOT NULL>,e STRUCT<>",
		"i INTERVAL DAY TO SECOND, j INTERVAL MONTH, k INTERVAL, t TIME(3)":          "i INTERVAL DAY TO SECOND,j INTERVAL MONTH,k INTERVAL,t TIME(3)",
	} {
		s, err := ParseDDL(in)
		if err != nil || s.String() != want {
			t.Errorf("ParseDDL(%q) = %v, %v; want %s", in, s, err, want)
		}
	}
	for _, in := range []string{"a", "a INT,", "a FOO", "a ARRAY<INT", "a DECIMAL(39)", "a INTERVAL DAY TO MONTH", "a INT b", "a STRUCT<b INT,>", "'"} {
		if s, err := ParseDDL(in); err == nil {
			t.Errorf("ParseDDL(%q) = %s, want an error", in, s)
		}
	}
}
