package plan

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
	"github.com/wstream/wstream/engine/udf"
)

// Column finds a column of n by its name without regard to case.
func Column(n Node, name string) (*expr.Attr, error) {
	found, rest := match(n.Output(), []string{name})
	if len(found) == 0 || len(rest) > 0 {
		return nil, unknownColumn(&scope{attrs: n.Output()}, []sql.Ident{{Name: name}})
	}
	if len(found) > 1 {
		return nil, ambiguous([]string{name}, found, sql.Span{})
	}
	return found[0], nil
}

// Watermark declares a watermark by the names of a pipeline step.
func (a *Analyzer) Watermark(n Node, column string, w WatermarkSpec) (Node, error) {
	at, err := Column(n, column)
	if err != nil {
		if found, rest := match(n.Output(), strings.Split(column, ".")); len(found) == 1 && len(rest) > 0 {
			err = sparkerr.New("EVENT_TIME_MUST_BE_TOP_LEVEL_COLUMN", "the event time %q must be a top-level column; give the field a column of its own in a step `sql` before", column).WithCause(err)
		}
		return nil, err
	}
	return a.WithWatermark(n, at, w, nil)
}

// DropDuplicates keeps the first row of each combination of columns; no columns means all.
func (a *Analyzer) DropDuplicates(n Node, columns []string, within bool) (Node, error) {
	d := &Dedup{WithinWatermark: within, Child: n, ID: -1}
	out := n.Output()
	if len(columns) == 0 {
		d.Keys = out
		return d, withoutMaps(d.Keys, nil)
	}
	for _, c := range columns {
		hit := false
		for _, o := range out {
			if strings.EqualFold(o.Name, c) {
				d.Keys = append(d.Keys, o)
				hit = true
			}
		}
		if !hit {
			var names []string
			for _, o := range out {
				names = append(names, o.Name)
			}
			e := sparkerr.New("UNRESOLVED_COLUMN_AMONG_FIELD_NAMES", "cannot resolve column name %q among (%s)", c, strings.Join(names, ", "))
			if near := Nearest(c, names, 1); len(near) > 0 {
				e.WithSuggestion(near[0])
			}
			return nil, e
		}
	}
	return d, withoutMaps(d.Keys, nil)
}

// functionInput chooses the columns of n that a module's function asks for.
func (a *Analyzer) functionInput(n Node, m udf.Module, f udf.Info) ([]*expr.Attr, *columnar.Schema, error) {
	out := n.Output()
	var in []*expr.Attr
	if f.Input == nil {
		in = out
	} else {
		for _, w := range f.Input.Fields {
			at, err := Column(n, w.Name)
			if err != nil {
				return nil, nil, sparkerr.New("MODULE_INPUT_MISMATCH", "module %q: function %q asks for column %q %s, which its input does not have", m.Name(), f.Name, w.Name, w.Type.SQL()).WithCause(err)
			}
			if !at.Typ.Equal(w.Type) && !(w.Type.Kind == columnar.KindBinary && at.Typ.Kind == columnar.KindString) {
				return nil, nil, sparkerr.New("MODULE_INPUT_MISMATCH", "module %q: function %q asks for column %q as %s, but it is %s; cast it in a step before", m.Name(), f.Name, w.Name, w.Type.SQL(), at.Typ.SQL())
			}
			in = append(in, at)
		}
	}
	fields := make([]columnar.Field, len(in))
	for i, at := range in {
		fields[i] = at.Field()
		if f.Input != nil {
			fields[i].Type = f.Input.Fields[i].Type
		}
	}
	return in, columnar.NewSchema(fields...), nil
}

// Module applies a parse, filter, map or state function of a module to n.
func (a *Analyzer) Module(n Node, m udf.Module, function string, kind udf.Kind, onError OnError) (Node, error) {
	var f udf.Info
	var names []string
	for _, x := range m.Functions() {
		names = append(names, x.Name)
		if x.Name == function {
			f = x
		}
	}
	if f.Name == "" {
		e := sparkerr.New("UNRESOLVED_ROUTINE", "module %q has no function %q; it has: %s", m.Name(), function, strings.Join(names, ", "))
		if near := Nearest(function, names, 1); len(near) > 0 {
			e.WithSuggestion(near[0])
		}
		return nil, e
	}
	if f.Kind != kind {
		return nil, sparkerr.New("INVALID_MODULE_FUNCTION", "function %q of module %q is of kind %s and cannot stand in a step %q", function, m.Name(), f.Kind, stepName(kind))
	}
	in, schema, err := a.functionInput(n, m, f)
	if err != nil {
		return nil, err
	}
	bound, err := m.Bind(function, schema)
	if err != nil {
		return nil, err
	}
	switch g := bound.(type) {
	case udf.FilterFunction:
		return &UDFFilter{Module: m, Info: f, Function: g, Input: in, OnError: onError, Child: n}, nil
	case udf.StateFunction:
		return a.groupState(n, m, f, g, in, onError)
	case udf.RowFunction:
		return &UDFRows{Module: m, Info: f, Function: g, Input: in, Attrs: a.Attrs(g.Output(), ""), OnError: onError, Child: n}, nil
	}
	return nil, sparkerr.New("INVALID_MODULE_FUNCTION", "function %q of module %q cannot be used as a step", function, m.Name())
}

func stepName(k udf.Kind) string {
	if k == udf.State {
		return "flatMapGroupsWithState"
	}
	return string(k)
}

func (a *Analyzer) groupState(n Node, m udf.Module, f udf.Info, g udf.StateFunction, in []*expr.Attr, onError OnError) (Node, error) {
	gs := &GroupState{Module: m, Info: f, Function: g, Input: in, Attrs: a.Attrs(g.Output(), ""), OnError: onError, Child: n, ID: -1}
	if f.Key == nil || len(f.Key.Fields) == 0 {
		return nil, sparkerr.New("INVALID_MODULE_FUNCTION", "state function %q of module %q declares no key", f.Name, m.Name())
	}
	for _, k := range f.Key.Fields {
		at, err := Column(n, k.Name)
		if err != nil {
			return nil, err
		}
		gs.Keys = append(gs.Keys, at)
	}
	for _, o := range n.Output() {
		if o.EventTime != nil {
			gs.Time = o
		}
	}
	if f.Timeout == "event" && f.Time != "" {
		at, err := Column(n, f.Time)
		if err != nil {
			return nil, err
		}
		if at.EventTime != nil {
			gs.Time = at
		}
	}
	return gs, nil
}
