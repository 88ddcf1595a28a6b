package expr_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/batch"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

// answer runs a statement and prints its rows, each as JSON, or the condition of its error.
func answer(text string) string {
	s := &batch.Session{Registry: expr.NewRegistry(expr.Builtins()), Settings: plan.Settings{ANSI: true, Zone: time.UTC}}
	res, err := s.Run(context.Background(), text)
	if err != nil {
		if c := sparkerr.Condition(err); c != "" {
			return c
		}
		return err.Error()
	}
	var rows []string
	for _, b := range res.Batches {
		b = columnar.NewBatch(res.Schema, b.Columns, b.Rows)
		for i := 0; i < b.Rows; i++ {
			rows = append(rows, string(datumjson.AppendRow(nil, b, i)))
		}
	}
	return strings.Join(rows, " ")
}

// TestTextFunctions pins functions of JSON, CSV and variants: rows, or the condition of the error.
func TestTextFunctions(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		// Variants.
		{`SELECT parse_json('{"b":1,"a":[1.50,1e2,true]} and more') v`, `{"v":{"a":[1.5,100.0,true],"b":1}}`},
		{`SELECT parse_json('') v`, `MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION`},
		{`SELECT parse_json("{'a':1}") v`, `MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION`},
		{`SELECT parse_json('NaN') v`, `MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION`},
		{`SELECT parse_json('{"a":1,"a":2}') v`, `MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION`},
		{`SELECT try_parse_json('{"a":1,"a":2}') v`, `{"v":null}`},
		{`SELECT parse_json(1) v`, `DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE`},
		{`SELECT is_variant_null(NULL) a, is_variant_null(variant_get(parse_json('{"a":null}'), '$.a')) b, is_variant_null(variant_get(parse_json('{"a":null}'), '$.b')) c`, `{"a":false,"b":true,"c":false}`},
		{`SELECT variant_get(parse_json('{"a b":{"c":[10,20]}}'), '$["a b"].c[1]', 'int') v`, `{"v":20}`},
		{`SELECT variant_get(parse_json('{"a":null}'), '$.a', 'int') v`, `{"v":null}`},
		{`SELECT variant_get(parse_json('{"a":1}'), 'a', 'int') v`, `INVALID_VARIANT_GET_PATH`},
		{`SELECT variant_get(parse_json('{"a":1}'), '$.', 'int') v`, `INVALID_VARIANT_GET_PATH`},
		{`SELECT variant_get(parse_json('{"a":1}'), '$.a', 'interval day') v`, `DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION`},
		{`SELECT variant_get(parse_json('{"a":1}'), '$.a', 'map<int,int>') v`, `DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION`},
		{`SELECT variant_get(parse_json('300'), '$', 'tinyint') v`, `INVALID_VARIANT_CAST`},
		{`SELECT variant_get(parse_json('[1,"x"]'), '$', 'array<int>') v`, `INVALID_VARIANT_CAST`},
		{`SELECT try_variant_get(parse_json('[1,"x"]'), '$', 'array<int>') v`, `{"v":[1,null]}`},
		{`SELECT try_variant_get(parse_json('{"a":"x","b":2}'), '$', 'struct<b:int,a:int,c:int>') v`, `{"v":{"b":2,"a":null,"c":null}}`},
		{`SELECT variant_get(parse_json('{"a":{"x":1}}'), '$.a', 'string') v`, `{"v":"{\"x\":1}"}`},
		{`SELECT variant_get(parse_json('{"a":{"x":1}}'), '$.a', 'map<string,bigint>') v`, `{"v":{"x":1}}`},
		{`SELECT CAST(parse_json('null') AS STRING) v`, `{"v":null}`},
		{`SELECT CAST(parse_json('"a\\nb"') AS STRING) v`, `{"v":"a\nb"}`},
		{`SELECT CAST(1.50 AS VARIANT) v, CAST(array('x', NULL) AS VARIANT) w`, `{"v":1.5,"w":["x",null]}`},
		{`SELECT CAST(struct(1 AS a) AS VARIANT) v`, `DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION`},
		{`SELECT to_variant_object(struct(2 AS b, NULL AS a)) v`, `DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION`},
		{`SELECT to_variant_object(struct(2 AS b, date'2026-03-01' AS a, timestamp'2026-03-01 10:11:12.5' AS t)) v`, `{"v":{"a":"2026-03-01","b":2,"t":"2026-03-01 10:11:12.5+00:00"}}`},
		{`SELECT to_variant_object(map('k', array(1, 2))) v`, `{"v":{"k":[1,2]}}`},
		{`SELECT to_variant_object(1) v`, `DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION`},
		{`SELECT schema_of_variant(parse_json('[{"b":true,"a":0}]')) v`, `{"v":"ARRAY<OBJECT<a: BIGINT, b: BOOLEAN>>"}`},
		{`SELECT schema_of_variant(parse_json('[1,"a"]')) v, schema_of_variant(parse_json('[]')) w, schema_of_variant(parse_json('0.05')) x`, `{"v":"ARRAY<VARIANT>","w":"ARRAY<VOID>","x":"DECIMAL(2,2)"}`},
		{`SELECT schema_of_variant(parse_json('1e2')) v, schema_of_variant(parse_json('12345678901234567890')) w`, `{"v":"DOUBLE","w":"DECIMAL(20,0)"}`},
		{`SELECT schema_of_variant_agg(parse_json(j)) v FROM VALUES ('{"a": 1}'), ('{"b": true}'), ('{"c": 1.23}'), (NULL) AS t(j)`, `{"v":"OBJECT<a: BIGINT, b: BOOLEAN, c: DECIMAL(3,2)>"}`},
		{`SELECT schema_of_variant_agg(parse_json(j)) v FROM VALUES ('1') AS t(j) WHERE false`, `{"v":"VOID"}`},
		{`SELECT * FROM variant_explode(parse_json('{"a":true,"b":3.14}'))`, `{"pos":0,"key":"a","value":true} {"pos":1,"key":"b","value":3.14}`},
		{`SELECT * FROM variant_explode(parse_json('["x"]'))`, `{"pos":0,"key":null,"value":"x"}`},
		{`SELECT * FROM variant_explode_outer(parse_json('1'))`, `{"pos":null,"key":null,"value":null}`},
		{`SELECT v.key FROM VALUES ('{"a":1}') t(j), LATERAL variant_explode(parse_json(j)) v`, `{"key":"a"}`},
		{`SELECT v:a.b[0]::int x FROM (SELECT parse_json('{"a":{"b":[7]}}') v)`, `{"x":7}`},
		{`SELECT 1:a`, `COLUMN_IS_NOT_VARIANT_TYPE`},
		// JSON.
		{`SELECT get_json_object(j, p) v FROM VALUES ('{"a":1,"b":2}', '$.a'), ('{"a":1,"b":2}', '$.b'), ('{"a":1}', 'x'), (NULL, '$') t(j, p)`, `{"v":"1"} {"v":"2"} {"v":null} {"v":null}`},
		{`SELECT get_json_object(1, '$') v`, `DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE`},
		{`SELECT from_json(j, 'a INT').a v FROM VALUES ('{"a":1}'), (NULL), ('x'), ('') t(j)`, `{"v":1} {"v":null} {"v":null} {"v":null}`},
		{`SELECT from_json('{"a":1}', concat('a ', 'INT')) v`, `{"v":{"a":1}}`},
		{`SELECT from_json('{"a":1}', j) v FROM VALUES ('a INT') t(j)`, `INVALID_SCHEMA.NON_STRING_LITERAL`},
		{`SELECT from_json('{"a":1}', 'a INT', 'x') v`, `INVALID_OPTIONS.NON_MAP_FUNCTION`},
		{`SELECT from_json('{"a":1}') v`, `WRONG_NUM_ARGS.WITHOUT_SUGGESTION`},
		{`SELECT from_json('{"a":[1]}', 'variant') v`, `{"v":{"a":[1]}}`},
		{`SELECT from_json('{"a":1}', 'a INT, _corrupt_record INT') v`, `INVALID_CORRUPT_RECORD_TYPE`},
		{`SELECT from_json('{"a":"x"}', 'a INT', map('mode', 'FAILFAST')) v FROM VALUES (1) t(k)`, `MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION`},
		{`SELECT from_json('{"v":{"x":[1]}}', '{"type":"struct","fields":[{"name":"v","type":{"type":"map","keyType":"string","valueType":{"type":"array","elementType":"long","containsNull":true},"valueContainsNull":true},"nullable":true,"metadata":{}}]}') v`, `{"v":{"v":{"x":[1]}}}`},
		{`SELECT to_json(s) v FROM VALUES (named_struct('a', 1)), (NULL) t(s)`, `{"v":"{\"a\":1}"} {"v":null}`},
		{`SELECT to_json(named_struct('a', NULL), map('ignoreNullFields', 'false')) v`, `{"v":"{\"a\":null}"}`},
		{`SELECT schema_of_json(j) v FROM VALUES ('1') t(j)`, `DATATYPE_MISMATCH.NON_FOLDABLE_INPUT`},
		{`SELECT t.* FROM VALUES ('{"a":1,"b":"x"}', 'b'), (NULL, 'a') v(j, k) LATERAL VIEW json_tuple(j, 'a', k) t AS x, y`, `{"x":"1","y":"x"} {"x":null,"y":null}`},
		{`SELECT json_tuple('{"a":1}')`, `WRONG_NUM_ARGS.WITHOUT_SUGGESTION`},
		{`SELECT json_tuple('{"a":1}', 1)`, `DATATYPE_MISMATCH.NON_STRING_TYPE`},
		// CSV.
		{`SELECT from_csv(c, 'a INT, b STRING') v FROM VALUES ('1,x'), (NULL), ('y') t(c)`, `{"v":{"a":1,"b":"x"}} {"v":null} {"v":{"a":null,"b":null}}`},
		{`SELECT from_csv('1', 'int') v`, `INVALID_SCHEMA.NON_STRUCT_TYPE`},
		{`SELECT from_csv('1', 'a INT', map('mode', 'DROPMALFORMED')) v`, `PARSE_MODE_UNSUPPORTED`},
		{`SELECT to_csv(s) v FROM VALUES (named_struct('a', 1, 'b', 'x,y')), (NULL) t(s)`, `{"v":"1,\"x,y\""} {"v":null}`},
		{`SELECT to_csv(array(1)) v`, `DATATYPE_MISMATCH.UNSUPPORTED_INPUT_TYPE`},
		{`SELECT schema_of_csv(NULL) v`, `DATATYPE_MISMATCH.UNEXPECTED_NULL`},
	} {
		if got := answer(c.query); got != c.want {
			t.Errorf("%s\n     gave %s\n     want %s", c.query, got, c.want)
		}
	}
}
