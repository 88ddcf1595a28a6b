package sqldb

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// types are the types of a database that stand for ours. The tests hold it to them.
func types(driver string) []connector.TypeMapping {
	var (
		d    dialect
		back map[string]string // what is read as another type than it was written
	)
	switch driver {
	case "postgres":
		d = &postgres{}
		back = map[string]string{"TINYINT": "SMALLINT"}
	case "mysql":
		d = &mysqlDialect{exact: "utf8mb4_nopad_bin"}
		back = map[string]string{"BOOLEAN": "SMALLINT", "TINYINT": "SMALLINT"}
	default:
		d = &sqliteDialect{}
		back = map[string]string{
			"TINYINT": "BIGINT", "SMALLINT": "BIGINT", "INT": "BIGINT", "FLOAT": "DOUBLE", "TIME(6)": "STRING", "DECIMAL(38,10)": "STRING",
		}
	}
	var out []connector.TypeMapping
	for _, t := range []*columnar.Type{
		columnar.Bool, columnar.Int8, columnar.Int16, columnar.Int32, columnar.Int64, columnar.Float32, columnar.Float64, columnar.Decimal(10, 2),
		columnar.Decimal(38, 10), columnar.String, columnar.Binary, columnar.Date, columnar.Timestamp, columnar.TimestampNTZ, columnar.Time,
		columnar.YearMonth(columnar.FieldYear, columnar.FieldMonth), columnar.DayTime(columnar.FieldDay, columnar.FieldSecond), columnar.ArrayOf(columnar.Int32, true), columnar.MapOf(columnar.String, columnar.Int32, true),
		columnar.StructOf(columnar.Field{Name: "a", Type: columnar.Int32, Nullable: true}), columnar.Variant,
	} {
		theirs, err := d.columnType(t, false, 0)
		if err != nil {
			continue
		}
		m := connector.TypeMapping{Ours: t.SQL(), Theirs: theirs, Back: t.SQL()}
		switch {
		case t.Kind == columnar.KindTimestampNTZ:
			m.Back = columnar.Timestamp.SQL()
		case isJSON(t) || isInterval(t):
			m.Back = columnar.String.SQL()
		}
		if b, ok := back[m.Ours]; ok {
			m.Back = b
		}
		out = append(out, m)
	}
	return out
}
