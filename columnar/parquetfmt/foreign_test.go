package parquetfmt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar"
)

// TestForeignFiles reads files of another writer (pyarrow 26), in forms that ours does not write.
func TestForeignFiles(t *testing.T) {
	const all = `{"u8":1,"u64":"18446744073709551615","s":"a","tn":"2026-03-01T10:11:12.123456Z","tm":"2026-03-01T10:11:12.000000","d":"1.23","db":"1.23","l":[{"a":1,"b":[1,2]},null],"m":{"k":1},"t":"10:11:12.000005000","dict":"x","h":1.5,"b":true,"fs":"YWJj","da":"2026-03-01"}
{"u8":null,"u64":null,"s":null,"tn":null,"tm":null,"d":null,"db":null,"l":null,"m":null,"t":null,"dict":"y","h":null,"b":null,"fs":null,"da":null}
{"u8":255,"u64":"0","s":"é","tn":"1969-12-31T23:59:59.000000Z","tm":"1969-12-31T00:00:00.000000","d":"-9.99","db":"-9.99","l":[],"m":{},"t":"00:00:00.000000000","dict":null,"h":-2.0,"b":false,"fs":"eHl6","da":"0001-01-01"}`
	for name, want := range map[string]string{
		"plain.parquet":         all,
		"pages_v2_zstd.parquet": all,
		"int96_gzip.parquet": `{"s":"a","tn":"2026-03-01T10:11:12.123456Z","l":[{"a":1,"b":[1,2]},null]}
{"s":null,"tn":null,"l":null}
{"s":"é","tn":"1969-12-31T23:59:59.000000Z","l":[]}`,
	} {
		data, err := os.ReadFile(filepath.Join("testdata", "foreign", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, max := range []int{1, 2, 100} {
			if got, _ := read(t, data, nil, max); strings.Join(got, "\n") != want {
				t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(got, "\n"), want)
			}
		}
	}
}

// TestManyPages reads text over many pages at a time, which must not be overwritten by later pages.
func TestManyPages(t *testing.T) {
	s := schemaOf(t, "s STRING, l ARRAY<STRING>")
	b := columnar.NewBuilder(columnar.String, 0)
	l := columnar.NewBuilder(s.Fields[1].Type, 0)
	for i := range 100_000 {
		b.AppendString(fmt.Sprintf("row %d %s", i, strings.Repeat("x", i%50)))
		var list []columnar.Datum
		for k := range i % 4 {
			list = append(list, fmt.Sprintf("%d/%d", i, k))
		}
		if list == nil {
			list = []columnar.Datum{}
		}
		l.AppendDatum(list)
	}
	batch := columnar.NewBatch(s, []*columnar.Column{b.Finish(), l.Finish()}, 100_000)
	data := write(t, s, WriterOptions{GroupRows: 60_000}, batch)
	got, _ := read(t, data, nil, 50_000)
	if len(got) != 100_000 {
		t.Fatalf("%d rows", len(got))
	}
	for i, row := range got {
		want := fmt.Sprintf(`{"s":"row %d %s","l":[`, i, strings.Repeat("x", i%50))
		for k := range i % 4 {
			want += strings.TrimPrefix(fmt.Sprintf(`,"%d/%d"`, i, k), ","[min(k, 1):])
		}
		if row != want+"]}" {
			t.Fatalf("row %d: %s, want %s", i, row, want+"]}")
		}
	}
}
