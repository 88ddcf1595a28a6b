package protofmt

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/sparkerr"
)

func shop(t testing.TB) *Files {
	t.Helper()
	data, err := os.ReadFile("testdata/shop.desc")
	if err != nil {
		t.Fatal(err)
	}
	f, err := ParseDescriptorSet(data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func compile(t testing.TB, f *Files, message string, options map[string]string) *Schema {
	t.Helper()
	o, err := ParseOptions("from_protobuf", options)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Message(message)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSchema(f, m, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// decoded is a message as JSON by its columns.
func decoded(s *Schema, data []byte) (string, error) {
	b := columnar.NewBuilder(s.Type(), 1)
	if err := NewDecoder(s).Decode(b, data); err != nil {
		return "", err
	}
	c := b.Finish()
	batch := columnar.NewBatch(columnar.NewSchema(columnar.Field{Name: "r", Type: s.Type()}), []*columnar.Column{c}, 1)
	return string(datumjson.AppendRow(nil, batch, 0)), nil
}

// wireOfText is a message in Google's text form as bytes, by Google's own writer.
func wireOfText(t testing.TB, f *Files, message, text string) []byte {
	t.Helper()
	d, err := f.Message(message)
	if err != nil {
		t.Fatal(err)
	}
	m := dynamicpb.NewMessage(d)
	if err := (prototext.UnmarshalOptions{Resolver: dynamicpb.NewTypes(f.types), AllowPartial: true}).Unmarshal([]byte(text), m); err != nil {
		t.Fatal(err)
	}
	data, err := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestTypes compares types with those that Spark's rules give.
func TestTypes(t *testing.T) {
	f := shop(t)
	for _, c := range []struct {
		message string
		options map[string]string
		want    string
	}{
		{"Item", nil, "struct<sku:string,amount:int,price:double>"},
		{"shop.Legacy", nil, "struct<name:string,n:int,color:string,packed:array<int>,extra:struct<note:string>,raw:binary,ratio:double,colors:array<string>,inner:struct<color:string,ok:boolean>>"},
		{"Legacy", map[string]string{"enums.as.ints": "true"}, "struct<name:string,n:int,color:int,packed:array<int>,extra:struct<note:string>,raw:binary,ratio:double,colors:array<int>,inner:struct<color:int,ok:boolean>>"},
		{"Person", map[string]string{"recursive.fields.max.depth": "1"}, "struct<name:string>"},
		{"Person", map[string]string{"recursive.fields.max.depth": "2"}, "struct<name:string,friend:struct<name:string>,children:array<struct<name:string>>>"},
		{"Empty", nil, "struct<>"},
		{"Empty", map[string]string{"retain.empty.message.types": "true"}, "struct<__dummy_field_in_empty_struct:string>"},
		{"shop.Order", map[string]string{"upcast.unsigned.ints": "true", "unwrap.primitive.wrapper.types": "true", "convert.any.fields.to.json": "true"}, "struct<i32:int,i64:bigint,u32:bigint,u64:decimal(20,0),s32:int,s64:bigint,f32:int,f64:bigint,sf32:int,sf64:bigint,flt:float,dbl:double,ok:boolean,text:string,raw:binary,state:string,maybe:int,card:string,cash:bigint,gift:struct<sku:string,amount:int,price:double>,numbers:array<int>,words:array<string>,items:array<struct<sku:string,amount:int,price:double>>,counts:map<string,int>,by_id:map<bigint,struct<sku:string,amount:int,price:double>>,at:timestamp,took:interval day to second,boxed:int,boxed_big:decimal(20,0),boxed_text:string,any:string,item:struct<sku:string,amount:int,price:double>,states:array<string>,loose:array<bigint>,times:array<timestamp>>"},
	} {
		if got := compile(t, f, c.message, c.options).Type().String(); got != c.want {
			t.Errorf("%s %v is\n %s\nwant\n %s", c.message, c.options, got, c.want)
		}
	}
	s := compile(t, f, "Legacy", nil).Type()
	if s.Fields[0].Nullable || !s.Fields[1].Nullable || s.Fields[3].Type.ElemNullable {
		t.Errorf("a required field is nullable, or an optional one is not, or an array's element is: %v", s)
	}
	m, _ := f.Message("Person")
	if _, err := NewSchema(f, m, Options{MaxDepth: -1}); sparkerr.Condition(err) != "RECURSIVE_PROTOBUF_SCHEMA" {
		t.Errorf("a message within itself: %v", err)
	}
	if _, err := f.Message("Nobody"); sparkerr.Condition(err) != "PROTOBUF_MESSAGE_NOT_FOUND" || !strings.Contains(err.Error(), "shop.Order") {
		t.Errorf("a message that there is not: %v", err)
	}
	if _, err := ParseDescriptorSet([]byte("no descriptor")); sparkerr.Condition(err) != "CANNOT_PARSE_PROTOBUF_DESCRIPTOR" {
		t.Errorf("bytes that are no descriptor: %v", err)
	}
}

// TestValues decodes messages that Google's writer has made. What is not named is null in the JSON, and left out of want.
func TestValues(t *testing.T) {
	f := shop(t)
	for _, c := range []struct{ message, text, options, want string }{
		{"Order", ``, ``, `{}`},
		{"Order", `i32:-1 i64:-9223372036854775808 u32:4294967295 u64:18446744073709551615 s32:-2 s64:-3 f32:4294967295 f64:1 sf32:-4 sf64:-5`, ``, `{"i32":-1,"i64":-9223372036854775808,"u32":-1,"u64":-1,"s32":-2,"s64":-3,"f32":-1,"f64":1,"sf32":-4,"sf64":-5}`},
		{"Order", `u32:4294967295 u64:18446744073709551615`, `upcast.unsigned.ints`, `{"u32":4294967295,"u64":"18446744073709551615"}`},
		{"Order", `flt:1.1 dbl:-0.0 ok:true text:"é" raw:"\x00\xff" state:SHIPPED`, ``, `{"flt":1.1,"dbl":-0.0,"ok":true,"text":"é","raw":"AP8=","state":"SHIPPED"}`},
		{"Order", `state:SHIPPED states:[OPEN,LOST]`, `enums.as.ints`, `{"state":5,"states":[1,-1]}`},
		{"Order", `state:77 states:-5`, ``, `{"state":"UNKNOWN_ENUM_VALUE_State_77","states":["UNKNOWN_ENUM_VALUE_State_-5"]}`},
		{"Order", `maybe:0 card:""`, ``, `{"maybe":0,"card":""}`},
		{"Order", `cash:5`, ``, `{"cash":5}`},
		{"Order", `gift:{}`, ``, `{"gift":{}}`},
		{"Order", `numbers:[1,-2,300] words:["a",""] loose:[9,-9]`, ``, `{"numbers":[1,-2,300],"words":["a",""],"loose":[9,-9]}`},
		{"Order", `items:{sku:"x" amount:2} items:{} item:{price:1.5}`, ``, `{"items":[{"sku":"x","amount":2},{}],"item":{"price":1.5}}`},
		{"Order", `counts:{key:"a" value:1} counts:{key:"b"} by_id:{key:7 value:{sku:"s"}}`, ``, `{"counts":{"a":1,"b":0},"by_id":[[7,{"sku":"s"}]]}`},
		{"Order", `at:{seconds:1 nanos:500999} took:{seconds:-1 nanos:-500000000} times:{seconds:-62135596800}`, ``, `{"at":"1970-01-01T00:00:01.000500Z","took":"INTERVAL '-0 00:00:01.5' DAY TO SECOND","times":["0001-01-01T00:00:00.000000Z"]}`},
		{"Order", `boxed:{value:3} boxed_big:{} boxed_text:{value:"t"}`, ``, `{"boxed":{"value":3},"boxed_big":{},"boxed_text":{"value":"t"}}`},
		{"Order", `boxed:{value:3} boxed_big:{} boxed_text:{value:"t"}`, `unwrap.primitive.wrapper.types`, `{"boxed":3,"boxed_text":"t"}`},
		{"Order", `any:{[type.googleapis.com/shop.Item]:{sku:"<a>" amount:1 price:2}}`, `convert.any.fields.to.json`, `{"any":"{\"@type\":\"type.googleapis.com/shop.Item\",\"sku\":\"\\u003ca\\u003e\",\"amount\":1,\"price\":2.0}"}`},
		{"Order", `any:{[type.googleapis.com/google.protobuf.Timestamp]:{seconds:1}}`, `convert.any.fields.to.json`, `{"any":"{\"@type\":\"type.googleapis.com/google.protobuf.Timestamp\",\"value\":\"1970-01-01T00:00:01Z\"}"}`},
		{"Item", ``, `emit.default.values`, `{"sku":"","amount":0,"price":0.0}`},
		{"Person", `name:"a" friend:{name:"b" friend:{name:"c"}} children:{name:"d"}`, `recursive.fields.max.depth=2`, `{"name":"a","friend":{"name":"b"},"children":[{"name":"d"}]}`},
		{"Person", `name:"a" friend:{name:"b"}`, `recursive.fields.max.depth=1`, `{"name":"a"}`},
		{"Legacy", `name:"n"`, ``, `{"name":"n","n":7,"color":"GREEN","packed":[],"raw":"YQFi","ratio":-1.5,"colors":[]}`},
		{"Legacy", `name:"" n:0 color:RED packed:[1,2] Extra:{note:"x"} inner:{ok:false}`, ``, `{"name":"","n":0,"color":"RED","packed":[1,2],"extra":{"note":"x"},"raw":"YQFi","ratio":-1.5,"colors":[],"inner":{"ok":false}}`},
	} {
		options := map[string]string{}
		if k, v, given := strings.Cut(c.options, "="); given {
			options[k] = v
		} else if c.options != "" {
			options[c.options] = "true"
		}
		s := compile(t, f, c.message, options)
		got, err := decoded(s, wireOfText(t, f, c.message, c.text))
		if err != nil {
			t.Errorf("%s{%s}: %v", c.message, c.text, err)
			continue
		}
		if plain(got) != c.want {
			t.Errorf("%s{%s} %s is\n %s\nwant\n %s", c.message, c.text, c.options, plain(got), c.want)
		}
	}
}

// plain is JSON without what is null, and without the empty lists of an order.
func plain(text string) string {
	var v struct{ R json.RawMessage }
	if json.Unmarshal([]byte(text), &v) == nil && v.R != nil {
		text = string(v.R)
	}
	empty := regexp.MustCompile(`"(numbers|words|items|counts|by_id|states|loose|times)":(\[\]|\{\})|"\w+":null`)
	text = empty.ReplaceAllString(text, "")
	return strings.NewReplacer("{,", "{", ",}", "}").Replace(regexp.MustCompile(`,+`).ReplaceAllString(text, ","))
}

// TestWire decodes bytes that no writer makes, but that readers must take or refuse.
func TestWire(t *testing.T) {
	f := shop(t)
	// A repeated field without elements is an empty list, not NULL.
	if got, err := decoded(compile(t, f, "Order", nil), nil); err != nil || !strings.Contains(got, `"numbers":[],"words":[],"items":[],"counts":{},"by_id":[]`) {
		t.Errorf("an empty order is %s, %v", got, err)
	}
	item, order, legacy := compile(t, f, "Item", nil), compile(t, f, "Order", nil), compile(t, f, "Legacy", nil)
	for _, c := range []struct {
		name string
		s    *Schema
		data string
		want string // the JSON, or a part of the error
	}{
		{"the last value counts", item, "\x10\x01\x10\x02", `"amount":2`},
		{"a zero that is written is as good as missing", item, "\x10\x01\x10\x00", `"amount":null`},
		{"unknown fields of every kind", item, "\x98\x06\x01\x9d\x06....\x99\x06........\x9a\x06\x02ab\x9b\x06\x08\x01\x9c\x06\x10\x05", `"amount":5`},
		{"a message that comes twice is merged", order, "\x82\x02\x03\x0a\x01a\x82\x02\x02\x10\x07", `"item":{"sku":"a","amount":7,"price":null}`},
		{"the last of a oneof counts", order, "\x92\x01\x01x\x98\x01\x09", `"card":null,"cash":9`},
		{"packed where it is not declared", order, "\x92\x02\x02\x01\x02\x90\x02\x03", `"loose":[1,2,3]`},
		{"not packed where it is declared", order, "\xa8\x01\x05\xaa\x01\x01\x06", `"numbers":[5,6]`},
		{"a number longer than needed", item, "\x10\x81\x80\x00", `"amount":1`},
		{"a 64-bit number in a 32-bit field", item, "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", `"amount":-1`},
		{"a string of proto2 that is not UTF-8", legacy, "\x0a\x01\xff", `"name":"�"`},
		{"an entry of a map without value or key", order, "\xc2\x01\x03\x0a\x01k\xc2\x01\x00", `"counts":{"k":0,"":0}`},
		{"an unknown number of a closed enumeration within", legacy, "\x0a\x00\x52\x04\x08\x63\x10\x01", `"inner":{"color":null,"ok":true}`},
		{"it ends within a number", item, "\x10\x80", "ends within"},
		{"it ends within a string", item, "\x0a\x05ab", "ends within"},
		{"field number 0", item, "\x00\x01", "number 0"},
		{"wire type 7", item, "\x0f", "number 0 or a wire type"},
		{"the end of no group", item, "\x14", "group"},
		{"another wire type", item, "\x12\x01a", "wire type"},
		{"another wire type within is passed over", order, "\x82\x02\x03\x12\x01a", `"item":{"sku":null,"amount":null,"price":null}`},
		{"a string of proto3 that is not UTF-8", item, "\x0a\x01\xff", "UTF-8"},
		{"a required field is missing", legacy, "\x10\x01", "required"},
		{"a required field is missing within", legacy, "\x0a\x00\x52\x00", "required"},
		{"an unknown number of a closed enumeration", legacy, "\x0a\x00\x18\x63", "enumeration"},
		{"eleven bytes of a number", item, "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "ten bytes"},
	} {
		got, err := decoded(c.s, []byte(c.data))
		if err != nil {
			got = err.Error()
		}
		if check := NewDecoder(c.s).Check([]byte(c.data)); fmt.Sprint(check) != fmt.Sprint(err) {
			t.Errorf("%s: Decode gives %v, Check %v", c.name, err, check)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestEncode writes what was read: Google's reader must find the message it came from.
func TestEncode(t *testing.T) {
	f := shop(t)
	for _, c := range []struct {
		message, text string
		options       map[string]string
	}{
		{"Item", `sku:"a" amount:-1 price:2.5`, nil},
		{"Order", `i32:-1 i64:-9 u32:4294967295 u64:18446744073709551615 s32:-2 s64:-3 f32:4294967295 f64:1 sf32:-4 sf64:-5 flt:1.1 dbl:-0.0 ok:true text:"é" raw:"\x00\xff" state:SHIPPED`, nil},
		{"Order", `u32:4294967295 u64:18446744073709551615 boxed:{value:3} boxed_big:{value:9} boxed_text:{}`, map[string]string{"upcast.unsigned.ints": "true"}},
		{"Order", `boxed:{value:3} boxed_big:{value:9} boxed_text:{value:"x"}`, map[string]string{"unwrap.primitive.wrapper.types": "true"}},
		{"Order", `state:LOST states:[OPEN,LOST]`, map[string]string{"enums.as.ints": "true"}},
		{"Order", `maybe:0 gift:{sku:"s"} numbers:[1,-2,300] words:["a",""] loose:[9,-9] items:{sku:"x"} items:{} counts:{key:"a" value:1} counts:{key:"b"} by_id:{key:7 value:{}}`, nil},
		{"Order", `at:{seconds:5 nanos:500000000} took:{seconds:-1 nanos:-500000000} times:{seconds:9}`, nil},
		{"Legacy", `name:"n" n:0 color:RED packed:[1,2] Extra:{note:"x"} raw:"" ratio:0 inner:{ok:false} colors:[RED,GREEN]`, nil},
	} {
		s := compile(t, f, c.message, c.options)
		data := wireOfText(t, f, c.message, c.text)
		b := columnar.NewBuilder(s.Type(), 1)
		if err := NewDecoder(s).Decode(b, data); err != nil {
			t.Fatal(err)
		}
		m, _ := f.Message(c.message)
		enc, err := NewEncoder(m, s.Type())
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		out, err := enc.Encode(nil, b.Finish(), 0)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		want, got := dynamicpb.NewMessage(m), dynamicpb.NewMessage(m)
		if err := proto.Unmarshal(data, want); err != nil {
			t.Fatal(err)
		}
		if err := proto.Unmarshal(out, got); err != nil {
			t.Errorf("%s: written as %x: %v", c.text, out, err)
			continue
		}
		if !proto.Equal(want, got) {
			t.Errorf("%s came back as %v", c.text, got)
		}
	}
}

func TestEncodeFaults(t *testing.T) {
	f := shop(t)
	for _, c := range []struct{ message, ddl, want string }{
		{"Item", "sku STRING, color STRING", "NO_SQL_TYPE_IN_PROTOBUF_SCHEMA"},
		{"Item", "sku INT", "CANNOT_CONVERT_SQL_TYPE_TO_PROTOBUF_FIELD_TYPE"},
		{"Order", "numbers INT", "CANNOT_CONVERT_SQL_TYPE_TO_PROTOBUF_FIELD_TYPE"},
		{"Legacy", "n INT", "PROTOBUF_FIELD_MISSING_IN_SQL_SCHEMA"},
	} {
		schema, err := columnar.ParseDDL(c.ddl)
		if err != nil {
			t.Fatal(err)
		}
		m, _ := f.Message(c.message)
		_, err = NewEncoder(m, columnar.StructOf(schema.Fields...))
		if sparkerr.Condition(err) != "UNABLE_TO_CONVERT_TO_PROTOBUF_MESSAGE_TYPE" || !strings.Contains(fmt.Sprint(sparkerr.Conditions(err)), c.want) {
			t.Errorf("%s as %s: %v, want %s", c.ddl, c.message, err, c.want)
		}
	}
}

// TestSource reads the texts that the descriptor was made of, and gets the same types.
func TestSource(t *testing.T) {
	f := shop(t)
	for _, file := range []string{"shop", "legacy"} {
		text, err := os.ReadFile("testdata/" + file + ".proto")
		if err != nil {
			t.Fatal(err)
		}
		src := string(text)
		if file == "legacy" {
			src = src[:strings.Index(src, "  optional group")] + src[strings.Index(src, "  optional bytes raw"):]
		}
		got, err := ParseSource(src, nil)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all := got.list[0].Messages()
		if all.Len() == 0 {
			t.Fatalf("%s has no message", file)
		}
		for i := range all.Len() {
			want, err := f.Message(string(all.Get(i).FullName()))
			if err != nil {
				t.Fatal(err)
			}
			compareMessages(t, want, all.Get(i))
		}
	}
	for _, c := range []struct{ text, want string }{
		{"message M {", `schema.proto:1: found the end, expected "}"`},
		{"syntax = \"proto3\";\nmessage M {\n  int32 a = x;\n}", `schema.proto:3: found "x", expected a number`},
		{"message M { required Other a = 1; }", "CANNOT_PARSE_PROTOBUF_DESCRIPTOR"},
		{"/* no end", "comment"},
		{`import "a.proto"; message M { optional int32 a = 1; }`, ""},
	} {
		_, err := ParseSource(c.text, nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
	imported, err := ParseSource(`syntax = "proto3"; package a; import public "b.proto"; message M { b.B x = 1; B.C y = 2; message B { message C {} } }`, func(path string) (string, error) {
		return `syntax = "proto3"; package b; message B { int32 n = 1; }`, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := imported.At([]int{0, 0, 0})
	if err != nil || m.FullName() != "a.M.B.C" {
		t.Errorf("message 0, 0, 0 is %v, %v", m, err)
	}
	if path, ok := imported.PathOf(m); !ok || fmt.Sprint(path) != "[0 0 0]" {
		t.Errorf("its path is %v", path)
	}
}

func compareMessages(t *testing.T, want, got protoreflect.MessageDescriptor) {
	t.Helper()
	for i := range got.Fields().Len() {
		g := got.Fields().Get(i)
		w := want.Fields().ByNumber(g.Number())
		if w == nil {
			t.Errorf("%s is not in the descriptor", g.FullName())
			continue
		}
		describe := func(f protoreflect.FieldDescriptor) string {
			return fmt.Sprint(f.FullName(), f.Kind(), f.Cardinality(), f.IsPacked(), f.IsMap(), f.HasPresence(), f.HasDefault(), f.Default().Interface(), f.ContainingOneof() != nil)
		}
		if describe(w) != describe(g) {
			t.Errorf("read as %s\nwant    %s", describe(g), describe(w))
		}
	}
}

// FuzzDecode holds that Decode and Check agree on every input, and that what was decoded can be written and read again.
func FuzzDecode(f *testing.F) {
	files := shop(f)
	for _, text := range []string{`i32:1 text:"a" items:{sku:"x"} counts:{key:"k" value:1} at:{seconds:1}`, `numbers:[1,2,3] states:[OPEN] gift:{amount:4} boxed:{value:1}`} {
		f.Add(wireOfText(f, files, "Order", text))
	}
	f.Add([]byte("\x9b\x06\x08\x01\x9c\x06"))
	s := compile(f, files, "Order", map[string]string{"retain.empty.message.types": "true"})
	m, _ := files.Message("Order")
	f.Fuzz(func(t *testing.T, data []byte) {
		b := columnar.NewBuilder(s.Type(), 1)
		err := NewDecoder(s).Decode(b, data)
		if check := NewDecoder(s).Check(data); fmt.Sprint(check) != fmt.Sprint(err) {
			t.Fatalf("Decode gives %v, Check %v", err, check)
		}
		if err != nil {
			return
		}
		c := b.Finish()
		batch := columnar.NewBatch(columnar.NewSchema(columnar.Field{Name: "r", Type: s.Type()}), []*columnar.Column{c}, 1)
		datumjson.AppendRow(nil, batch, 0)
		if err := proto.Unmarshal(data, dynamicpb.NewMessage(m)); err != nil && !wideNumbers(data) {
			t.Fatalf("decoded %x, which Google's reader refuses: %v", data, err)
		}
	})
}

// wideNumbers tells whether data may hold a number of more than 32 bits. Where it is a tag or a length, Google's reader
// for Go refuses it; the one for Java, which Spark has, takes its lowest 32 bits.
func wideNumbers(data []byte) bool {
	more := 0
	for _, c := range data {
		if more >= 4 && c >= 0x10 {
			return true
		}
		more++
		if c < 0x80 {
			more = 0
		}
	}
	return false
}

// TestWideTags holds that 32 bits of tags and lengths count, as observed of Google's reader for Java.
func TestWideTags(t *testing.T) {
	s := compile(t, shop(t), "Order", nil)
	for _, c := range []struct {
		name, in, want string // want is a part of the row, or of the error
	}{
		{"one byte", "\x08\x01", `"i32":1`},
		{"five bytes", "\x88\x80\x80\x80\x10\x01", `"i32":1`},
		{"six bytes", "\x88\x80\x80\x80\x80\x7f\x01", `"i32":1`},
		{"ten bytes", "\x88\x80\x80\x80\x80\x80\x80\x80\x80\x01\x01", `"i32":1`},
		{"eleven bytes", "\x88\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x01", errVarint.Error()},
		{"a length", "\x72\x81\x80\x80\x80\x10a", `"text":"a"`},
		{"a length of ten bytes", "\x72\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00a", `"text":"a"`},
		{"a length below zero", "\x72\xff\xff\xff\xff\x1fa", errShort.Error()},
	} {
		got, err := decoded(s, []byte(c.in))
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// FuzzSource holds that no text of a schema brings the parser down.
func FuzzSource(f *testing.F) {
	for _, file := range []string{"shop", "legacy"} {
		text, err := os.ReadFile("testdata/" + file + ".proto")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(_ *testing.T, text string) {
		files, err := ParseSource(text, nil)
		if err != nil {
			return
		}
		if m, err := files.At([]int{0}); err == nil {
			_, _ = NewSchema(files, m, Options{MaxDepth: 2})
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	files := shop(b)
	s := compile(b, files, "Order", map[string]string{"retain.empty.message.types": "true"})
	data := wireOfText(b, files, "Order", `i32:1 i64:5 dbl:1.5 text:"some text" state:OPEN items:{sku:"x" amount:2} items:{sku:"y" price:3} at:{seconds:1700000000 nanos:5000000}`)
	d := NewDecoder(s)
	b.ReportAllocs()
	w := columnar.NewBuilder(s.Type(), 8192)
	for i := range b.N {
		if err := d.Decode(w, data); err != nil {
			b.Fatal(err)
		}
		if i%8192 == 8191 {
			w.Finish()
			w = columnar.NewBuilder(s.Type(), 8192)
		}
	}
}
