package textfmt

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/formattest"
	"github.com/wstream/wstream/columnar/lines"
)

func TestCases(t *testing.T) {
	cases := formattest.Cases(t, "text")
	for _, chunk := range []int{0, 3} {
		formattest.Run(t, cases, func(c *formattest.Case) ([]*columnar.Batch, error) {
			opts, err := ParseOptions(c.Options)
			if err != nil {
				return nil, err
			}
			d, err := New(c.Schema, opts)
			if err != nil {
				return nil, err
			}
			f, err := os.Open(c.Path)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			r, err := lines.NewReader(f, lines.Options{
				Codec: lines.CodecOf(c.Path), LineSep: opts.LineSep, Whole: opts.WholeText, KeepBOM: opts.WholeText, ChunkSize: chunk,
			})
			if err != nil {
				return nil, err
			}
			defer r.Close()
			batches := []*columnar.Batch{}
			for {
				data, err := r.Next(nil)
				if err == io.EOF {
					return batches, nil
				}
				if err != nil {
					return nil, lines.FileError(c.Path, err)
				}
				b, err := d.Decode(data)
				if err != nil {
					return nil, err
				}
				batches = append(batches, b)
			}
		})
	}
}

func TestAppendRow(t *testing.T) {
	s := columnar.NewSchema(columnar.Field{Name: "value", Type: columnar.String, Nullable: true})
	b := columnar.NewBatch(s, []*columnar.Column{columnar.FromData(columnar.String, "a", nil, "b\xff")}, 3)
	var out []byte
	for i := range b.Rows {
		out = AppendRow(out, b, i, Options{})
	}
	if string(out) != "a\n\nb\xff\n" {
		t.Errorf("got %q", out)
	}
}

func FuzzDecode(f *testing.F) {
	formattest.Inputs(f, "text", func(data []byte) {
		f.Add(string(data), "")
		f.Add(string(data), ",")
	})
	f.Add("a\r\nb\n\rc", "")
	f.Add("a||b", "||")
	f.Fuzz(func(t *testing.T, text, sep string) {
		d, err := New(nil, Options{LineSep: sep})
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range b.Rows {
			got = append(got, b.Columns[0].StringAt(i))
		}
		if sep != "" && text != "" {
			want := strings.Split(text, sep)
			if want[len(want)-1] == "" {
				want = want[:len(want)-1]
			}
			if strings.Join(got, "¦") != strings.Join(want, "¦") {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	})
}
