package sql_test

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/sql"
	"github.com/wstream/wstream/internal/testdirs"
)

// oracleCase is a line of the golden function cases.
type oracleCase struct {
	Expr    string `json:"expr"`
	Query   string `json:"query"`
	Error   string `json:"error"`
	Message string `json:"message"`
}

// parserErrors are the conditions that the parser alone reports.
var parserErrors = map[string]bool{
	"PARSE_SYNTAX_ERROR":                                     true,
	"INVALID_NUMERIC_LITERAL_RANGE":                          true,
	"INVALID_IDENTIFIER":                                     true,
	"INVALID_SQL_SYNTAX.EMPTY_IN_PREDICATE":                  true,
	"INVALID_INTERVAL_FORMAT.INVALID_FRACTION":               true,
	"INVALID_INTERVAL_FORMAT.INTERVAL_PARSING":               true,
	"UNSUPPORTED_TYPED_LITERAL":                              true,
	"_LEGACY_ERROR_TEMP_0026":                                true,
	"_LEGACY_ERROR_TEMP_0029":                                true,
	"INVALID_INTERVAL_FORMAT.UNSUPPORTED_FROM_TO_EXPRESSION": true,
}

// TestOracleFunctions parses every golden expression and query: it must parse, or fail with the
// condition that Spark gave.
func TestOracleFunctions(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdirs.Shared(t, "oracle/functions"), "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	n := 0
	for _, file := range files {
		for _, c := range readCases(t, file) {
			n++
			text := c.Expr
			var err error
			if c.Query != "" {
				text = c.Query
				_, err = sql.ParseQuery(text)
			} else {
				_, err = sql.ParseExpr(text)
			}
			got := sparkerr.Condition(err)
			// A schema in a string is read when the function is looked at, not by the parser.
			inString := strings.HasPrefix(text, "from_")
			switch {
			case err != nil && got == "":
				t.Errorf("%s: error without a condition: %v", text, err)
			case err != nil && got != c.Error:
				t.Errorf("%s:\n got %v\nwant %s %s", text, err, c.Error, c.Message)
			case err == nil && parserErrors[c.Error] && !inString:
				t.Errorf("%s: parses, but Spark says %s", text, c.Message)
			}
		}
	}
	t.Logf("%d cases", n)
}

// TestMutations parses golden texts with pieces taken out, doubled or swapped: each must give a tree
// whose nodes lie within one another, or an error with a condition and a place.
func TestMutations(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdirs.Shared(t, "oracle/functions"), "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("WSTREAM_TEST_SEED"); s != "" {
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("WSTREAM_TEST_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	pieces := regexp.MustCompile(`[A-Za-z_0-9]+|'[^']*'|\s+|.`)
	for _, file := range files {
		for _, c := range readCases(t, file) {
			parts := pieces.FindAllString(c.Expr+c.Query, -1)
			for range 1 + rnd.IntN(3) {
				i, j := rnd.IntN(len(parts)), rnd.IntN(len(parts))
				switch rnd.IntN(3) {
				case 0:
					parts[i] = ""
				case 1:
					parts[i] += " " + parts[j]
				default:
					parts[i], parts[j] = parts[j], parts[i]
				}
			}
			src := strings.Join(parts, "")
			if q, err := sql.ParseQuery(src); err != nil {
				checkError(t, src, err)
			} else {
				checkSpans(t, src, q)
			}
			if x, err := sql.ParseExpr(src); err != nil {
				checkError(t, src, err)
			} else {
				checkSpans(t, src, x)
			}
		}
	}
}

func readCases(t *testing.T, file string) []oracleCase {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []oracleCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c oracleCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// TestOracleSchemas reads every golden schema: the names, types and comments, or Spark's condition.
func TestOracleSchemas(t *testing.T) {
	file := filepath.Join(testdirs.Shared(t, "oracle/ddl"), "schemas.jsonl")
	f, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(f)), "\n") {
		var c struct {
			DDL     string
			Error   string
			Message string
			JSON    struct {
				Fields []struct {
					Name     string
					Nullable bool
					Metadata map[string]any
				}
			}
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		fields, err := sql.ParseSchema(c.DDL)
		if got := sparkerr.Condition(err); got != c.Error || (err != nil) != (c.Error != "") {
			t.Errorf("%q:\n got %v\nwant %s %s", c.DDL, err, c.Error, c.Message)
			continue
		}
		if err != nil {
			continue
		}
		if len(fields) != len(c.JSON.Fields) {
			t.Errorf("%q: %d fields, want %d", c.DDL, len(fields), len(c.JSON.Fields))
			continue
		}
		for i, want := range c.JSON.Fields {
			comment, _ := want.Metadata["comment"].(string)
			if f := fields[i]; f.Name != want.Name || f.NotNull == want.Nullable || f.Comment != comment {
				t.Errorf("%q: field %d is %+v, want %+v", c.DDL, i, f, want)
			}
		}
	}
}

// TestOracleStreaming parses the SQL of every golden streaming case; only those about syntax fail.
func TestOracleStreaming(t *testing.T) {
	n := 0
	err := filepath.WalkDir(testdirs.Shared(t, "oracle/streaming"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.yaml") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(text, &doc); err != nil {
			return err
		}
		syntax := strings.Contains(string(text), "error: PARSE_SYNTAX_ERROR")
		for _, q := range sqlTexts(&doc) {
			n++
			if _, err := sql.ParseQuery(q); (err != nil) != syntax {
				t.Errorf("%s: %s: %v", filepath.Base(path), q, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d queries", n)
}

// sqlTexts are the values of all keys `sql`.
func sqlTexts(n *yaml.Node) []string {
	var out []string
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "sql" && c.Kind == yaml.ScalarNode {
			out = append(out, c.Value)
			continue
		}
		out = append(out, sqlTexts(c)...)
	}
	return out
}
