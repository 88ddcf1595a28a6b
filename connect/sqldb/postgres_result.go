package sqldb

import (
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/wstream/wstream/columnar"
)

// pgColumns are the columns of a result with the types that Spark reads them as.
func pgColumns(fields []pgconn.FieldDescription) []resultColumn {
	out := make([]resultColumn, len(fields))
	for i, f := range fields {
		out[i] = resultColumn{name: f.Name, typ: pgResultType(f.DataTypeOID, f.TypeModifier), hex: f.DataTypeOID == oidBytea}
	}
	return out
}

func pgResultType(oid uint32, modifier int32) *columnar.Type {
	switch oid {
	case oidBool:
		return columnar.Bool
	case oidInt2:
		return columnar.Int16
	case oidInt4:
		return columnar.Int32
	case oidInt8, 26:
		return columnar.Int64
	case oidFloat4:
		return columnar.Float32
	case oidFloat8:
		return columnar.Float64
	case oidNumeric:
		if modifier >= 4 {
			p, s := int((modifier-4)>>16)&0xffff, int(modifier-4)&0x7ff
			if p <= 38 && s <= p {
				return columnar.Decimal(p, s)
			}
		}
		return columnar.Decimal(38, 18)
	case oidBytea:
		return columnar.Binary
	case oidDate:
		return columnar.Date
	case oidTimestamp, oidTimestamptz:
		return columnar.Timestamp
	case oidTime:
		return columnar.Time
	}
	return columnar.String
}
