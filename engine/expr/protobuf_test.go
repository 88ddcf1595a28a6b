package expr_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar/sparkerr"
)

const shopDescriptor = "../../columnar/protofmt/testdata/shop.desc"

func TestProtobufValues(t *testing.T) {
	descriptor, err := os.ReadFile(shopDescriptor)
	if err != nil {
		t.Fatal(err)
	}
	file, bytes := "'"+shopDescriptor+"'", fmt.Sprintf("X'%X'", descriptor)
	for _, c := range []struct{ query, want string }{
		{`SELECT from_protobuf(X'0A016110FFFFFFFFFFFFFFFFFF01', 'Item', ` + file + `) r`, `{"r":{"sku":"a","amount":-1,"price":null}}`},
		{`SELECT from_protobuf(X'0A0161', 'shop.Item', ` + bytes + `, map('emit.default.values', 'true')) r`, `{"r":{"sku":"a","amount":0,"price":0.0}}`},
		{`SELECT from_protobuf(NULL, 'Item', ` + file + `) r`, `{"r":null}`},
		{
			`SELECT from_protobuf(x, 'Item', ` + file + `, map('mode', 'permissive')) r FROM VALUES (X'0A'), (X'0A0162'), (NULL) t(x)`,
			`{"r":null}` + "\n" + `{"r":{"sku":"b","amount":null,"price":null}}` + "\n" + `{"r":null}`,
		},
		{`SELECT hex(to_protobuf(named_struct('SKU', s, 'price', 0D), 'Item', ` + file + `)) r FROM VALUES ('a'), (''), (NULL) t(s)`, `{"r":"0A0161"}` + "\n" + `{"r":""}` + "\n" + `{"r":""}`},
		{`SELECT hex(to_protobuf(named_struct('numbers', array(1, -1), 'counts', map('k', 2)), 'Order', ` + file + `, map())) r`, `{"r":"AA010B01FFFFFFFFFFFFFFFFFF01C201050A016B1002"}`},
		{`SELECT from_protobuf(to_protobuf(named_struct('name', 'n', 'n', 5), 'Legacy', ` + file + `), 'Legacy', ` + file + `).n r`, `{"r":5}`},
		{
			`SELECT schema_of_json('1') a, typeof(from_protobuf(X'', 'Person', ` + file + `, map('recursive.fields.max.depth', '2'))) r`,
			`{"a":"BIGINT","r":"struct<name:string,friend:struct<name:string>,children:array<struct<name:string>>>"}`,
		},
	} {
		if got, err := run(t, c.query); err != nil || got != c.want {
			t.Errorf("%.200s\n gave %s, %v\n want %s", c.query, got, err, c.want)
		}
	}
	for _, c := range []struct{ query, want string }{
		{`SELECT from_protobuf(X'0A', 'Item', ` + file + `)`, "MALFORMED_PROTOBUF_MESSAGE"},
		{`SELECT from_protobuf('x', 'Item', ` + file + `)`, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"},
		{`SELECT from_protobuf(X'', 'Nobody', ` + file + `)`, "PROTOBUF_MESSAGE_NOT_FOUND"},
		{`SELECT from_protobuf(X'', 'Item', '/nowhere.desc')`, "PROTOBUF_DESCRIPTOR_FILE_NOT_FOUND"},
		{`SELECT from_protobuf(X'', 'Item', X'FF')`, "CANNOT_PARSE_PROTOBUF_DESCRIPTOR"},
		{`SELECT from_protobuf(X'', 'Item')`, "CANNOT_LOAD_PROTOBUF_CLASS"},
		{`SELECT from_protobuf(X'', 'Person', ` + file + `)`, "RECURSIVE_PROTOBUF_SCHEMA"},
		{`SELECT from_protobuf(X'', 'Item', ` + file + `, map('mode', 'DROPMALFORMED'))`, "PARSE_MODE_UNSUPPORTED"},
		{`SELECT from_protobuf(X'', x, ` + file + `) FROM VALUES ('Item') t(x)`, "DATATYPE_MISMATCH.TYPE_CHECK_FAILURE_WITH_HINT"},
		{`SELECT to_protobuf(named_struct('no', 1), 'Item', ` + file + `)`, "UNABLE_TO_CONVERT_TO_PROTOBUF_MESSAGE_TYPE"},
		{`SELECT to_protobuf(named_struct('state', 'NOPE'), 'Order', ` + file + `)`, "CANNOT_CONVERT_SQL_VALUE_TO_PROTOBUF_ENUM_TYPE"},
		{`SELECT to_protobuf(1, 'Item', ` + file + `)`, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"},
	} {
		if _, err := run(t, c.query); sparkerr.Condition(err) != c.want {
			t.Errorf("%s: %v, want %s", c.query, err, c.want)
		}
	}
}

// TestProtobufRegistry writes with a schema of a registry and reads messages of an older and a newer one, and one that
// is not the first of its file.
func TestProtobufRegistry(t *testing.T) {
	type schema struct {
		ID         int    `json:"id"`
		Type       string `json:"schemaType"`
		Text       string `json:"schema"`
		References []any  `json:"references,omitempty"`
	}
	schemas := map[string]schema{
		"1": {1, "PROTOBUF", `syntax = "proto3"; message Other {} message Click { string url = 1; int32 n = 2; }`, nil},
		"2": {
			2, "PROTOBUF", `syntax = "proto3"; import "place.proto"; import "google/protobuf/timestamp.proto";
			message Other {} message Click { string url = 1; int64 n = 2; geo.Place place = 3; google.protobuf.Timestamp at = 4; message In { bool ok = 1; } }`,
			[]any{map[string]any{"name": "place.proto", "subject": "place", "version": 1}},
		},
		"3": {3, "PROTOBUF", `syntax = "proto3"; package geo; message Place { string city = 1; }`, nil},
		"4": {4, "AVRO", `"int"`, nil},
	}
	paths := map[string]string{
		"/schemas/ids/1": "1", "/schemas/ids/2": "2", "/schemas/ids/4": "4", "/subjects/clicks/versions/latest": "2", "/subjects/clicks/versions/1": "1", "/subjects/place/versions/1": "3",
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		s, ok := schemas[paths[q.URL.Path]]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error_code":40401,"message":"not found"}`)
			return
		}
		_ = json.NewEncoder(w).Encode(s)
	}))
	defer server.Close()
	options := func(more string) string {
		return fmt.Sprintf(`map('schema.registry.url', '%s', 'schema.registry.subject', 'clicks'%s)`, server.URL, more)
	}
	for _, c := range []struct{ query, want string }{
		{`SELECT hex(to_protobuf(named_struct('url', 'u', 'n', 5L), 'Click', ` + options("") + `)) r`, `{"r":"000000000202020A01751005"}`},
		{`SELECT hex(to_protobuf(named_struct('ok', true), 'Click.In', ` + options("") + `)) r`, `{"r":"00000000020402000801"}`},
		{`SELECT hex(to_protobuf(named_struct('url', 'u', 'n', 5), 'Click', ` + options(", 'schema.registry.version', '1'") + `)) r`, `{"r":"000000000102020A01751005"}`},
		{
			`SELECT from_protobuf(x, 'Click', ` + options("") + `) r FROM VALUES (X'000000000102020A01751005'), (X'000000000202021A030A01622202080A') t(x)`,
			`{"r":{"url":"u","n":5,"place":null,"at":null}}` + "\n" + `{"r":{"url":null,"n":null,"place":{"city":"b"},"at":"1970-01-01T00:00:10.000000Z"}}`,
		},
		{`SELECT from_protobuf(x, 'Click', ` + options(", 'mode', 'PERMISSIVE'") + `).url r FROM VALUES (X'0102'), (X'00000000020202FF'), (X'000000000202020A0162') t(x)`, `{"r":null}` + "\n" + `{"r":null}` + "\n" + `{"r":"b"}`},
	} {
		if got, err := run(t, c.query); err != nil || got != c.want {
			t.Errorf("%.300s\n gave %s, %v\n want %s", c.query, got, err, c.want)
		}
	}
	for _, c := range []struct{ query, want string }{
		{`SELECT from_protobuf(X'0102', 'Click', ` + options("") + `)`, "MALFORMED_PROTOBUF_MESSAGE"},
		{`SELECT from_protobuf(X'000000000900', 'Click', ` + options("") + `)`, "not found"},
		{`SELECT from_protobuf(X'000000000400', 'Click', ` + options("") + `)`, `one of "AVRO", not of PROTOBUF`},
		{`SELECT from_protobuf(X'00000000020212', 'Click', ` + options("") + `)`, "PROTOBUF_MESSAGE_NOT_FOUND"},
		{`SELECT from_protobuf(X'', 'Click', map('schema.registry.url', '` + server.URL + `'))`, "INVALID_OPTIONS"},
	} {
		if _, err := run(t, c.query); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.query, err, c.want)
		}
	}
}
