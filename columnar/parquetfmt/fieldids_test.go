package parquetfmt

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wstream/wstream/columnar"
)

// TestFieldIDs finds columns by their ids under any name, also inside of structs, and by name where the ids are not the file's.
func TestFieldIDs(t *testing.T) {
	files, err := filepath.Glob("../../connect/testdata/delta/mapid/*/*.parquet")
	if err != nil || len(files) == 0 {
		t.Skipf("no files: %v", err)
	}
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := columnar.ParseDDL("number BIGINT, st STRUCT<first: INT>, none STRING")
	if err != nil {
		t.Fatal(err)
	}
	// Of the table's columns: id 1, name 2, s 3 with a 4, and 99, which the file does not have.
	ids := &FieldIDs{Kids: []*FieldIDs{{ID: 1}, {ID: 3, Kids: []*FieldIDs{{ID: 4}}}, {ID: 99}}}
	r, err := OpenByID(f, st.Size(), schema, ids)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := r.Next(100)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Rows {
		id, s, none := b.Columns[0].Datum(i), b.Columns[1].Datum(i).(columnar.StructDatum), b.Columns[2].Datum(i)
		if id == nil || s[0] == nil || int64(s[0].(int32)) != id.(int64) || none != nil {
			t.Errorf("row %d: %v %v %v", i, id, s, none)
		}
	}
}
