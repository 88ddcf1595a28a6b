package abi

import (
	"fmt"

	"github.com/wstream/wstream/columnar"
)

// TypeCode is a column's type in a frame. The numbers are part of the contract.
type TypeCode uint16

// The type codes. Those with a parameter in their node say so.
const (
	TypeNull         TypeCode = 0
	TypeBool         TypeCode = 1
	TypeInt8         TypeCode = 2
	TypeInt16        TypeCode = 3
	TypeInt32        TypeCode = 4
	TypeInt64        TypeCode = 5
	TypeFloat32      TypeCode = 6
	TypeFloat64      TypeCode = 7
	TypeDecimal      TypeCode = 8 // precision | scale << 8
	TypeDate         TypeCode = 9
	TypeTimestamp    TypeCode = 10
	TypeTimestampNTZ TypeCode = 11
	TypeString       TypeCode = 12
	TypeBinary       TypeCode = 13
	TypeList         TypeCode = 14
	TypeMap          TypeCode = 15
	TypeStruct       TypeCode = 16
	TypeTime         TypeCode = 17 // precision
	TypeYearMonth    TypeCode = 18 // first field | last field << 8
	TypeDayTime      TypeCode = 19 // first field | last field << 8
	TypeCalendar     TypeCode = 20
	TypeVariant      TypeCode = 21
	typeCodes                 = 22
)

// kinds are by TypeCode.
var kinds = [typeCodes]columnar.Kind{
	TypeNull: columnar.KindNull, TypeBool: columnar.KindBool, TypeInt8: columnar.KindInt8, TypeInt16: columnar.KindInt16,
	TypeInt32: columnar.KindInt32, TypeInt64: columnar.KindInt64, TypeFloat32: columnar.KindFloat32,
	TypeFloat64: columnar.KindFloat64, TypeDecimal: columnar.KindDecimal, TypeDate: columnar.KindDate,
	TypeTimestamp: columnar.KindTimestamp, TypeTimestampNTZ: columnar.KindTimestampNTZ, TypeString: columnar.KindString,
	TypeBinary: columnar.KindBinary, TypeList: columnar.KindArray, TypeMap: columnar.KindMap, TypeStruct: columnar.KindStruct,
	TypeTime: columnar.KindTime, TypeYearMonth: columnar.KindYearMonth, TypeDayTime: columnar.KindDayTime,
	TypeCalendar: columnar.KindCalendar, TypeVariant: columnar.KindVariant,
}

// codeOf is the type code and its parameter.
func codeOf(t *columnar.Type) (TypeCode, uint32) {
	switch t.Kind {
	case columnar.KindDecimal:
		return TypeDecimal, uint32(t.Precision) | uint32(t.Scale)<<8
	case columnar.KindTime:
		return TypeTime, uint32(t.Precision)
	case columnar.KindYearMonth:
		return TypeYearMonth, uint32(t.Start) | uint32(t.End)<<8
	case columnar.KindDayTime:
		return TypeDayTime, uint32(t.Start) | uint32(t.End)<<8
	}
	for code, k := range kinds {
		if k == t.Kind {
			return TypeCode(code), 0
		}
	}
	return TypeNull, 0
}

// flatType is the type of a code without children.
func flatType(code TypeCode, param uint32) (*columnar.Type, error) {
	lo, hi := int(param&0xff), int(param>>8&0xff)
	bad := param>>16 != 0
	switch code {
	case TypeNull:
		return columnar.Null, nil
	case TypeBool:
		return columnar.Bool, nil
	case TypeInt8:
		return columnar.Int8, nil
	case TypeInt16:
		return columnar.Int16, nil
	case TypeInt32:
		return columnar.Int32, nil
	case TypeInt64:
		return columnar.Int64, nil
	case TypeFloat32:
		return columnar.Float32, nil
	case TypeFloat64:
		return columnar.Float64, nil
	case TypeDecimal:
		if !bad && lo >= 1 && lo <= 38 && hi <= lo {
			return columnar.Decimal(lo, hi), nil
		}
	case TypeDate:
		return columnar.Date, nil
	case TypeTimestamp:
		return columnar.Timestamp, nil
	case TypeTimestampNTZ:
		return columnar.TimestampNTZ, nil
	case TypeString:
		return columnar.String, nil
	case TypeBinary:
		return columnar.Binary, nil
	case TypeTime:
		if !bad && lo <= 6 && hi == 0 {
			return &columnar.Type{Kind: columnar.KindTime, Precision: lo}, nil
		}
	case TypeYearMonth:
		if !bad && lo <= hi && hi <= int(columnar.FieldMonth) {
			return columnar.YearMonth(columnar.IntervalField(lo), columnar.IntervalField(hi)), nil
		}
	case TypeDayTime:
		if !bad && lo <= hi && lo >= int(columnar.FieldDay) && hi <= int(columnar.FieldSecond) {
			return columnar.DayTime(columnar.IntervalField(lo), columnar.IntervalField(hi)), nil
		}
	case TypeCalendar:
		return columnar.Calendar, nil
	case TypeVariant:
		return columnar.Variant, nil
	default:
		return nil, fmt.Errorf("unknown type code %d", code)
	}
	return nil, fmt.Errorf("type code %d has the parameter %#x", code, param)
}
