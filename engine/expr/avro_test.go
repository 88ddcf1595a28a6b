package expr_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/batch"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

// run gives the rows of a query as JSON, or the error.
func run(t *testing.T, query string) (string, error) {
	t.Helper()
	s := &batch.Session{Registry: expr.NewRegistry(expr.Builtins()), Settings: plan.Settings{ANSI: true}}
	res, err := s.Run(context.Background(), query)
	if err != nil {
		return "", err
	}
	var out []string
	for _, b := range res.Batches {
		for i := range b.Rows {
			out = append(out, string(datumjson.AppendRow(nil, b, i)))
		}
	}
	return strings.Join(out, "\n"), nil
}

func TestAvroValues(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{`SELECT from_avro(X'02', '"int"') r`, `{"r":1}`},
		{`SELECT from_avro(to_avro(struct(1 AS a, 'x' AS b)), '{"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"b","type":"string"}]}') r`, `{"r":{"a":1,"b":"x"}}`},
		{`SELECT hex(to_avro(5L)) a, hex(to_avro(-1.5)) c, hex(to_avro(array(1, 2))) d`, `{"a":"0A","c":"F1","d":"04020400"}`},
		{`SELECT hex(to_avro(x)) r FROM VALUES (1), (NULL) t(x)`, "{\"r\":\"0002\"}\n{\"r\":\"02\"}"},
		{`SELECT hex(to_avro(x, '["null","long"]')) r FROM VALUES (1), (NULL) t(x)`, "{\"r\":\"0202\"}\n{\"r\":\"00\"}"},
		{`SELECT hex(to_avro('b', '{"type":"enum","name":"e","symbols":["a","b"]}')) r`, `{"r":"02"}`},
		{`SELECT hex(to_avro(12.34BD, '{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}')) r`, `{"r":"0404D2"}`},
		{`SELECT from_avro(X'80', '"int"', map('mode', 'PERMISSIVE')) r`, `{"r":null}`},
		{`SELECT from_avro(to_avro(struct(1 AS a)), '{"type":"record","name":"r","fields":[{"name":"a","type":"int"}]}',
			map('avroSchema', '{"type":"record","name":"r","fields":[{"name":"b","type":["null","string"]},{"name":"a","type":"long"}]}')) r`, `{"r":{"b":null,"a":1}}`},
	} {
		if got, err := run(t, c.query); err != nil || got != c.want {
			t.Errorf("%s\n gave %s, %v\n want %s", c.query, got, err, c.want)
		}
	}
	for _, c := range []struct{ query, want string }{
		{`SELECT from_avro(X'80', '"int"')`, "MALFORMED_AVRO_MESSAGE"},
		{`SELECT from_avro('x', '"int"')`, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"},
		{`SELECT from_avro(X'02', 'int')`, "AVRO_INVALID_SCHEMA"},
		{`SELECT to_avro(array(1), '"int"')`, "DATATYPE_MISMATCH.TYPE_CHECK_FAILURE_WITH_HINT"},
	} {
		if _, err := run(t, c.query); sparkerr.Condition(err) != c.want {
			t.Errorf("%s: %v, want %s", c.query, err, c.want)
		}
	}
}

// registry answers as Confluent's does: numbers from 1, one for each text.
type registry struct {
	mu       sync.Mutex
	texts    []string
	subjects map[string][]int
	asked    int
}

func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	var id int
	path := strings.Split(strings.Trim(q.URL.Path, "/"), "/")
	fault := func(status, code int, text string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error_code":%d,"message":%q}`, code, text)
	}
	answer := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	switch {
	case len(path) == 3 && path[0] == "schemas":
		if _, err := fmt.Sscan(path[2], &id); err != nil || id < 1 || id > len(r.texts) {
			fault(404, 40403, "Schema not found")
			return
		}
		answer(map[string]any{"schema": r.texts[id-1]})
	case q.Method == http.MethodPost:
		body, _ := io.ReadAll(q.Body)
		var in struct{ Schema string }
		_ = json.Unmarshal(body, &in)
		for i, s := range r.texts {
			if s == in.Schema {
				id = i + 1
			}
		}
		if id == 0 {
			r.texts = append(r.texts, in.Schema)
			id = len(r.texts)
		}
		r.subjects[path[1]] = append(r.subjects[path[1]], id)
		answer(map[string]any{"id": id})
	default:
		ids := r.subjects[path[1]]
		if len(ids) == 0 {
			fault(404, 40401, "Subject '"+path[1]+"' not found.")
			return
		}
		id = ids[len(ids)-1]
		answer(map[string]any{"subject": path[1], "version": len(ids), "id": id, "schema": r.texts[id-1]})
	}
}

// TestAvroRegistry writes with two schemas of one subject and reads both by the later one.
func TestAvroRegistry(t *testing.T) {
	r := &registry{subjects: map[string][]int{}}
	srv := httptest.NewServer(r)
	defer srv.Close()
	options := fmt.Sprintf(`map('schema.registry.url', '%s', 'schema.registry.subject', 'clicks-value')`, srv.URL)
	for _, c := range []struct{ query, want string }{
		{`SELECT hex(to_avro(struct(1 AS a), NULL, ` + options + `)) r`, `{"r":"000000000102"}`},
		{`SELECT hex(to_avro(struct(2L AS a, 'x' AS b), NULL, ` + options + `)) r`, `{"r":"0000000002040278"}`},
		{
			`SELECT from_avro(v, NULL, ` + options + `) r FROM VALUES (X'000000000102'), (X'0000000002040278'), (NULL), (X'000000000106') t(v)`,
			"{\"r\":{\"a\":1,\"b\":null}}\n{\"r\":{\"a\":2,\"b\":\"x\"}}\n{\"r\":null}\n{\"r\":{\"a\":3,\"b\":null}}",
		},
	} {
		if got, err := run(t, c.query); err != nil || got != c.want {
			t.Errorf("%s\n gave %s, %v\n want %s", c.query, got, err, c.want)
		}
	}
	// One question for the subject, one for each of the two schemas; two to register.
	if r.asked != 5 {
		t.Errorf("the registry was asked %d times, want 5", r.asked)
	}
	if _, err := run(t, `SELECT from_avro(X'02', NULL, `+options+`)`); sparkerr.Condition(err) != "MALFORMED_AVRO_MESSAGE" {
		t.Errorf("a message without a frame: %v", err)
	}
	if _, err := run(t, `SELECT from_avro(X'02', NULL, map('schema.registry.url', '`+srv.URL+`', 'schema.registry.subject', 'other'))`); err == nil || !strings.Contains(err.Error(), "Subject 'other' not found") {
		t.Errorf("an unknown subject: %v", err)
	}
}
