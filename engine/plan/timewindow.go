package plan

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
	"github.com/wstream/wstream/engine/sql/interval"
)

// mostOverlaps is the largest number of windows that a row may be in. Spark has no bound, and runs out of memory.
const mostOverlaps = 1_000_000

// timeMarker is window(…) or session_window(…) in an expression, before the operator that adds
// its column was put below.
type timeMarker struct {
	session            bool
	time               expr.Expr
	size, slide, start int64     // microseconds
	gap                expr.Expr // session: CalendarInterval
}

func (w *timeMarker) Type() *columnar.Type {
	t := w.time.Type()
	if t.Kind == columnar.KindStruct {
		t = t.Fields[0].Type
	}
	return columnar.StructOf(columnar.Field{Name: "start", Type: t, Nullable: true}, columnar.Field{Name: "end", Type: t, Nullable: true})
}
func (w *timeMarker) Nullable() bool { return !w.session && w.slide != w.size }
func (w *timeMarker) Children() []expr.Expr {
	if w.session {
		return []expr.Expr{w.time, w.gap}
	}
	return []expr.Expr{w.time}
}

func (w *timeMarker) WithChildren(c []expr.Expr) expr.Expr {
	out := *w
	out.time = c[0]
	if w.session {
		out.gap = c[1]
	}
	return &out
}

func (w *timeMarker) SQL() string {
	if w.session {
		return "session_window"
	}
	return "window"
}

func (w *timeMarker) Eval(*expr.Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, errMarker(w.SQL())
}

// key tells windows of different parameters apart, which print alike.
func (w *timeMarker) key() string {
	if w.session {
		return "session " + canonical(w.time) + " " + canonical(w.gap)
	}
	return "window " + canonical(w.time) + " " + itoa(w.size) + " " + itoa(w.slide) + " " + itoa(w.start+w.size)
}

func isTimeMarker(e expr.Expr) bool { _, ok := e.(*timeMarker); return ok }

// timeMarkers are the time windows in e that were not put below yet.
func timeMarkers(e expr.Expr) []expr.Expr {
	var out []expr.Expr
	expr.Walk(e, func(x expr.Expr) bool {
		if isTimeMarker(x) {
			out = append(out, x)
			return false
		}
		return true
	})
	return out
}

// hasMarker tells whether a time window that was not put below yet is in e.
func (a *Analyzer) hasMarker(e expr.Expr) bool {
	return len(timeMarkers(e)) > 0
}

// tryTimeWindow resolves a GROUP BY item that is a time window, so that its column is known to
// the other items. A fault is reported when the item itself is resolved; without the window's column
// the SELECT list may fail before that, and then the fault is the cause.
func (a *Analyzer) tryTimeWindow(x sql.Expr, s *scope) (expr.Expr, error) {
	if al, ok := x.(*sql.Alias); ok {
		x = al.X
	}
	c, ok := x.(*sql.Call)
	if !ok || len(c.Name) != 1 {
		return nil, nil
	}
	n := strings.ToLower(c.FuncName())
	if n != "window" && n != "session_window" {
		return nil, nil
	}
	e, err := a.expr(x, s)
	if err != nil || !isTimeMarker(e) {
		return nil, err
	}
	return e, nil
}

// timeWindow resolves window(time, size[, slide[, start]]) and session_window(time, gap).
func (a *Analyzer) timeWindow(name string, x *sql.Call, s *scope) (expr.Expr, error) {
	p := x.At()
	most, want := 4, "[2, 3, 4]"
	if name == "session_window" {
		most, want = 2, "2"
	}
	if len(x.Args) < 2 || len(x.Args) > most || name == "session_window" && len(x.Args) != 2 {
		return nil, sparkerr.At(p.Line, p.Col, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "the `%s` requires %s parameters but the actual number is %d", name, want, len(x.Args))
	}
	args, err := a.exprs(x.Args, s)
	if err != nil {
		return nil, err
	}
	w := &timeMarker{session: name == "session_window"}
	if w.session {
		if w.time, err = a.timeArg(args[0], name, x, args); err != nil {
			return nil, err
		}
		return a.sessionGap(w, args[1], x)
	}
	dur := []*int64{&w.size, &w.slide, &w.start}
	for i, arg := range args[1:] {
		if *dur[i], err = a.duration(arg, x.Args[i+1]); err != nil {
			return nil, err
		}
	}
	if w.time, err = a.timeArg(args[0], name, x, args); err != nil {
		return nil, err
	}
	if len(args) < 3 {
		w.slide = w.size
	}
	bad := func(cond, format string, v ...any) error {
		return sparkerr.At(p.Line, p.Col, cond, "cannot resolve \"window(%s, %d, %d, %d)\" due to data type mismatch: "+format, append([]any{args[0].SQL(), w.size, w.slide, w.start}, v...)...)
	}
	switch {
	case w.size <= 0:
		return nil, bad("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "the `window_duration` must be between (0, 9223372036854775807] microseconds (current value = %d)", w.size)
	case w.slide <= 0:
		return nil, bad("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "the `slide_duration` must be between (0, 9223372036854775807] microseconds (current value = %d)", w.slide)
	case w.slide > w.size:
		return nil, bad("DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION", "the `slide_duration` (%d) must be <= the `window_duration` (%d)", w.slide, w.size)
	case max(w.start, -w.start) >= w.slide:
		return nil, bad("DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION", "the `abs(start_time)` (%d) must be < the `slide_duration` (%d)", max(w.start, -w.start), w.slide)
	case w.size/w.slide > mostOverlaps:
		return nil, bad("DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION", "each row would be in %d windows, expected %d at most: take a longer `slide_duration`", w.size/w.slide, mostOverlaps)
	}
	return w, nil
}

// timeArg checks the time argument: a timestamp, what casts to one, or a window column, whose
// time is its last instant.
func (a *Analyzer) timeArg(e expr.Expr, name string, x *sql.Call, args []expr.Expr) (expr.Expr, error) {
	t := e.Type()
	switch t.Kind {
	case columnar.KindTimestamp, columnar.KindTimestampNTZ:
		return e, nil
	case columnar.KindStruct:
		if isWindowType(t) {
			return a.windowTimeOf(e, x)
		}
	case columnar.KindString, columnar.KindDate, columnar.KindNull:
		c, err := expr.ExplicitCast(a.binder(x), e, columnar.Timestamp, false)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	p := x.At()
	return nil, sparkerr.At(p.Line, p.Col, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "cannot resolve \"%s(%s)\" due to data type mismatch: the first parameter requires the (\"TIMESTAMP\" or \"TIMESTAMP WITHOUT TIME ZONE\") type, however \"%s\" has the type \"%s\"", name, e.SQL(), e.SQL(), t.SQL())
}

func isWindowType(t *columnar.Type) bool {
	return t.Kind == columnar.KindStruct && len(t.Fields) == 2 && t.Fields[0].Name == "start" && t.Fields[1].Name == "end" &&
		(t.Fields[0].Type.Kind == columnar.KindTimestamp || t.Fields[0].Type.Kind == columnar.KindTimestampNTZ) && t.Fields[0].Type.Equal(t.Fields[1].Type)
}

// windowTime is window_time(w): the last microsecond of a window, which keeps the watermark.
func (a *Analyzer) windowTime(x *sql.Call, s *scope) (expr.Expr, error) {
	p := x.At()
	args, err := a.exprs(x.Args, s)
	if err != nil {
		return nil, err
	}
	if len(args) != 1 {
		return nil, sparkerr.At(p.Line, p.Col, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "the `window_time` requires 1 parameters but the actual number is %d", len(args))
	}
	if !isWindowType(args[0].Type()) && !isTimeMarker(args[0]) {
		return nil, sparkerr.At(p.Line, p.Col, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "cannot resolve \"window_time(%s)\" due to data type mismatch: the first parameter requires the \"STRUCT<start: TIMESTAMP, end: TIMESTAMP>\" type, however \"%s\" has the type \"%s\"", args[0].SQL(), args[0].SQL(), args[0].Type().SQL())
	}
	switch e := unalias(args[0]).(type) {
	case *expr.Attr, *timeMarker, *lateralRef, *outerRef:
	default:
		return nil, sparkerr.At(p.Line, p.Col, "_LEGACY_ERROR_TEMP_3101", "the input of window_time is not a window column: found %s", e.SQL())
	}
	return a.windowTimeOf(args[0], x)
}

func (a *Analyzer) windowTimeOf(e expr.Expr, at sql.Node) (expr.Expr, error) {
	end, err := a.binder(at).GetField(e, "end")
	if err != nil {
		return nil, err
	}
	return &WindowTime{End: end, window: e}, nil
}

// WindowTime is the last microsecond before the end of a window. It carries the event time of the window.
type WindowTime struct {
	End    expr.Expr
	window expr.Expr
}

// Type implements expr.Expr.
func (w *WindowTime) Type() *columnar.Type { return w.End.Type() }

// Nullable implements expr.Expr.
func (w *WindowTime) Nullable() bool { return w.End.Nullable() }

// Children implements expr.Expr.
func (w *WindowTime) Children() []expr.Expr { return []expr.Expr{w.End} }

// WithChildren implements expr.Expr.
func (w *WindowTime) WithChildren(c []expr.Expr) expr.Expr { return &WindowTime{c[0], w.window} }

// SQL implements expr.Expr.
func (w *WindowTime) SQL() string { return "window_time(" + w.window.SQL() + ")" }

// Eval implements expr.Expr.
func (w *WindowTime) Eval(ctx *expr.Context, in *columnar.Batch) (*columnar.Column, error) {
	c, err := w.End.Eval(ctx, in)
	if err != nil {
		return nil, err
	}
	v := columnar.Values[int64](c)
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = x - 1
	}
	return columnar.NewFixed(c.Type, out, c.Valid), nil
}

// eventTimeOf is the watermark that an expression carries: a column's own, a window's through
// window_time.
func eventTimeOf(e expr.Expr) *expr.Watermark {
	switch x := e.(type) {
	case *expr.Attr:
		return x.EventTime
	case *expr.Alias:
		return eventTimeOf(x.Child)
	case *WindowTime:
		return eventTimeOf(x.window)
	}
	return nil
}

// duration reads a constant length of time in microseconds: a text such as '10 minutes', or a number.
func (a *Analyzer) duration(e expr.Expr, at sql.Expr) (int64, error) {
	p := at.At()
	wrong := func() error {
		return sparkerr.At(p.Line, p.Col, "_LEGACY_ERROR_TEMP_1207", "the duration and time inputs to window must be an integer, long or string literal, found %s", e.SQL())
	}
	if c, ok := e.(interface{ Children() []expr.Expr }); ok && len(c.Children()) > 0 {
		if v, err := a.constantOf(e); err == nil && v != nil {
			e = &expr.Literal{Typ: e.Type(), Value: v}
		}
	}
	l, ok := e.(*expr.Literal)
	if !ok {
		return 0, wrong()
	}
	switch v := l.Value.(type) {
	case int32:
		if l.Typ.Kind == columnar.KindInt32 {
			return int64(v), nil
		}
	case int64:
		if l.Typ.Kind == columnar.KindInt64 {
			return v, nil
		}
	case string:
		if l.Typ.Kind != columnar.KindString {
			return 0, wrong()
		}
		c, err := interval.Parse(v)
		if err != nil {
			return 0, sparkerr.At(p.Line, p.Col, "CANNOT_PARSE_INTERVAL", "unable to parse '%s'. Please ensure that the value provided is in a valid format for defining an interval, such as '10 minutes'", v).WithCause(err)
		}
		if c.Months != 0 {
			return 0, sparkerr.At(p.Line, p.Col, "_LEGACY_ERROR_TEMP_3231", "intervals greater than a month is not supported (%s)", v)
		}
		return int64(c.Days)*interval.MicrosPerDay + c.Micros, nil
	}
	return 0, wrong()
}

func (a *Analyzer) constantOf(e expr.Expr) (columnar.Datum, error) {
	constant := true
	expr.Walk(e, func(x expr.Expr) bool {
		switch x.(type) {
		case *expr.Attr, *outerRef, *lateralRef, expr.Nondeterministic:
			constant = false
		}
		return constant
	})
	if !constant {
		return nil, errMarker(e.SQL())
	}
	return a.constant(e)
}

// sessionGap checks the gap of a session window: a text, constant or per row, or an interval made
// by make_interval.
func (a *Analyzer) sessionGap(w *timeMarker, gap expr.Expr, x *sql.Call) (expr.Expr, error) {
	p := x.At()
	switch gap.Type().Kind {
	case columnar.KindCalendar:
		w.gap = gap
		return w, nil
	case columnar.KindString:
		if v, err := a.constantOf(gap); err == nil {
			text, ok := v.(string)
			if !ok {
				return nil, sparkerr.At(p.Line, p.Col, "_LEGACY_ERROR_TEMP_1040", "gap duration expression used in session window must be a text such as '5 minutes', found NULL")
			}
			// As in Spark a gap that cannot be read is null, in a constant as in a column, and drops the row.
			value := &expr.Literal{Typ: columnar.Calendar}
			if c, err := interval.Parse(text); err == nil {
				value.Value = columnar.CalendarInterval{Months: c.Months, Days: c.Days, Micros: c.Micros}
			}
			w.gap = value
			return w, nil
		}
		c, err := expr.ExplicitCast(a.binder(x), gap, columnar.Calendar, false)
		if err != nil {
			return nil, err
		}
		w.gap = c
		return w, nil
	}
	return nil, sparkerr.At(p.Line, p.Col, "_LEGACY_ERROR_TEMP_1040", "gap duration expression used in session window must be CalendarIntervalType, but got %q; write it as a text, e.g. '5 minutes'", gap.Type().SQL())
}

// windowColumns of a scope are the columns that time windows added, by their parameters.
type windowColumn struct {
	key     string
	attr    *expr.Attr
	session bool
}

func (s *scope) isWindowColumn(at *expr.Attr) bool {
	for _, w := range s.timeWindows {
		if w.attr.ID == at.ID {
			return true
		}
	}
	return false
}

func (s *scope) isSession(at *expr.Attr) bool {
	for _, w := range s.timeWindows {
		if w.attr.ID == at.ID {
			return w.session
		}
	}
	return false
}

// addTimeWindows puts the operators below that compute the windows in markers. Only one window per
// SELECT is possible, as in Spark.
func (a *Analyzer) addTimeWindows(markers []expr.Expr, n Node, s *scope) (Node, error) {
	for _, m := range markers {
		w := m.(*timeMarker)
		w2 := w.replaceInside(s)
		key := w2.key()
		known := false
		for _, c := range s.timeWindows {
			known = known || c.key == key
		}
		if known {
			continue
		}
		if len(s.timeWindows) > 0 {
			return nil, sparkerr.New("_LEGACY_ERROR_TEMP_1039", "multiple time/session window expressions would result in a cartesian product of rows, therefore they are currently not supported")
		}
		at := a.NewAttr(w2.SQL(), w2.Type(), w2.Nullable())
		if wt := eventTimeOf(w2.time); wt != nil {
			at.EventTime = wt
		}
		if w2.session {
			if l, ok := w2.gap.(*expr.Literal); ok && l.Value == nil {
				n = &Filter{Cond: &expr.Literal{Typ: columnar.Bool, Value: false}, Child: n} // no row has an end
			}
			n = &SessionWindow{Window: at, Time: w2.time, Gap: w2.gap, Child: n}
		} else {
			n = &TimeWindow{Window: at, Time: w2.time, Size: w2.size, Slide: w2.slide, Start: w2.start, Child: n}
		}
		s.timeWindows = append(s.timeWindows, windowColumn{key, at, w2.session})
		clash := false
		for _, in := range s.attrs {
			clash = clash || strings.EqualFold(in.Name, at.Name)
		}
		if !clash {
			s.attrs = append(append([]*expr.Attr{}, s.attrs...), at)
		}
	}
	return n, nil
}

func (w *timeMarker) replaceInside(s *scope) *timeMarker { return w }

// replaceMarkers puts the columns of time windows in place of the markers.
func (s *scope) replaceMarkers(e expr.Expr) expr.Expr {
	if s == nil || len(s.timeWindows) == 0 {
		return e
	}
	return expr.Transform(e, func(x expr.Expr) expr.Expr {
		switch m := x.(type) {
		case *timeMarker:
			key := m.key()
			for _, c := range s.timeWindows {
				if c.key == key {
					return c.attr
				}
			}
		case *WindowTime:
			if tm, ok := m.window.(*timeMarker); ok {
				key := tm.key()
				for _, c := range s.timeWindows {
					if c.key == key {
						return &WindowTime{m.End, c.attr}
					}
				}
			}
		case *windowExpr:
			w, _ := m.rewrite(func(c expr.Expr) (expr.Expr, error) { return s.replaceMarkers(c), nil })
			return w
		}
		return x
	})
}

// sqlWatermark is FROM STREAM t WATERMARK ts DELAY OF INTERVAL ….
func (a *Analyzer) sqlWatermark(w *sql.Watermarked, n Node) (Node, error) {
	s := &scope{attrs: n.Output()}
	x, name := w.Column, ""
	if al, ok := x.(*sql.Alias); ok && len(al.Names) == 1 {
		x, name = al.X, al.Names[0].Name
	}
	e, err := a.expr(x, s)
	if err != nil {
		return nil, err
	}
	at, ok := e.(*expr.Attr)
	if !ok || name != "" {
		if name == "" {
			name = e.SQL()
		}
		exprs := []expr.Expr{}
		for _, o := range n.Output() {
			exprs = append(exprs, o)
		}
		al := &expr.Alias{Child: unalias(e), Name: name, ID: a.NewID()}
		n = &Project{Exprs: append(exprs, al), Child: n}
		at = NamedAttr(al)
	}
	delay := w.Delay.Micros
	if w.Delay.YearMonth() {
		delay = int64(w.Delay.Months) * 31 * interval.MicrosPerDay
	}
	return a.WithWatermark(n, at, WatermarkSpec{DelayMicros: delay, DelayText: "interval", Origin: w}, w)
}

// WatermarkSpec is what a watermark step declares.
type WatermarkSpec struct {
	DelayMicros int64
	DelayText   string
	ByPartition bool
	IdleMicros  int64
	// Origin tells the places that declare watermarks apart; nil is a place of its own. A view that a query uses
	// several times is one place: what any use of it sees moves the one watermark.
	Origin any
}

// ParseDelay reads the delay of a watermark, e.g. "10 minutes"; a month is 31 days.
func ParseDelay(text string) (int64, error) {
	c, err := interval.Parse(text)
	if err != nil {
		return 0, err
	}
	d := int64(c.Months)*31*interval.MicrosPerDay + int64(c.Days)*interval.MicrosPerDay + c.Micros
	if c.Months < 0 || c.Days < 0 || c.Micros < 0 {
		return 0, sparkerr.New("_LEGACY_ERROR_TEMP_1194", "the delay threshold %q is negative; expected zero or more", text)
	}
	return d, nil
}

// WithWatermark declares a watermark on a column of n.
func (a *Analyzer) WithWatermark(n Node, column *expr.Attr, w WatermarkSpec, at sql.Node) (Node, error) {
	if k := column.Typ.Kind; k != columnar.KindTimestamp && !isWindowType(column.Typ) {
		e := sparkerr.New("EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE", "the event time `%s` has the invalid type %q, but expected \"TIMESTAMP\"; cast it in a step before the watermark", column.Name, column.Typ.SQL())
		if at != nil {
			e.WithPos(at.At().Line, at.At().Col)
		}
		return nil, e
	}
	if !IsStreaming(n) {
		return n, nil // a table's rows are there from the start: as in Spark its event times move nothing
	}
	id, known := a.origins[w.Origin]
	if !known || w.Origin == nil {
		id = a.watermarks
		a.watermarks++
		if w.Origin != nil {
			if a.origins == nil {
				a.origins = map[any]int{}
			}
			a.origins[w.Origin] = id
		}
	}
	node := &Watermark{ID: id, Column: column, DelayMicros: w.DelayMicros, DelayText: w.DelayText, ByPartition: w.ByPartition, IdleMicros: w.IdleMicros, Child: n}
	mark := &expr.Watermark{DelayMicros: w.DelayMicros, NodeID: node.ID}
	for _, o := range n.Output() {
		c := *o
		c.EventTime = nil // a watermark on a second column takes the mark from the first
		if o.ID == column.ID {
			c.EventTime = mark
		}
		node.Attrs = append(node.Attrs, &c)
	}
	return node, nil
}
