package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/plan"
	"go.yaml.in/yaml/v3"
)

// Load reads a pipeline file. The error is Errors when the file is faulty.
func Load(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, filepath.Dir(path), text)
}

// Parse reads a pipeline from its text; path names it in errors.
func Parse(path, dir string, text []byte) (*File, error) {
	f, errs := parse(path, dir, text)
	if len(errs) > 0 {
		return nil, errs
	}
	return f, nil
}

// parse reads a pipeline and gives, beside its faults, what could be read; nothing of what is not YAML.
func parse(path, dir string, text []byte) (*File, Errors) {
	r := &reader{file: path, text: text, env: osEnv}
	n := r.parse()
	if n == nil {
		return nil, r.errs
	}
	return r.pipeline(n, dir), r.errs.sorted()
}

// pipeline reads the mapping of a pipeline.
func (r *reader) pipeline(n *yaml.Node, dir string) *File {
	f := &File{Path: r.file, Dir: dir, Settings: DefaultSettings(), text: r.text}
	for _, e := range r.entries(n, "pipeline", []string{"name", "settings", "modules", "connections", "sources", "views", "sinks"}) {
		switch e.key {
		case "name":
			f.Name = r.str(e, "pipeline")
		case "settings":
			r.settings(e, &f.Settings)
		case "modules":
			for _, m := range r.entries(e.value, "modules", nil) {
				f.Modules = append(f.Modules, read(r, m, f, r.module))
			}
		case "connections":
			for _, c := range r.entries(e.value, "connections", nil) {
				f.Connections = append(f.Connections, read(r, c, f, r.connection))
			}
		case "sources":
			for _, s := range r.entries(e.value, "sources", nil) {
				f.Sources = append(f.Sources, read(r, s, f, r.source))
			}
		case "views":
			for _, v := range r.entries(e.value, "views", nil) {
				f.Views = append(f.Views, read(r, v, f, r.view))
			}
		case "sinks":
			for _, s := range r.entries(e.value, "sinks", nil) {
				f.Sinks = append(f.Sinks, read(r, s, f, r.sink))
			}
		}
	}
	if f.Name == "" && f.Path != "" {
		f.Name = strings.TrimSuffix(filepath.Base(f.Path), filepath.Ext(f.Path))
	}
	r.names(f)
	return f
}

// read reads an element of the file and notes it as faulty when a fault was found in it.
func read[T comparable](r *reader, e entry, f *File, element func(entry) T) T {
	before := len(r.errs)
	v := element(e)
	if len(r.errs) > before || r.broken.within(e.value) {
		f.fault(v)
	}
	return v
}

func (r *reader) settings(e entry, s *Settings) {
	s.Pos = e.pos
	for _, o := range r.entries(e.value, "settings", []string{"timezone", "ansi", "watermarkPolicy", "shufflePartitions", "stateMemory", "keepBatches"}) {
		switch o.key {
		case "timezone":
			s.Timezone = r.str(o, "settings")
			if _, err := plan.Location(s.Timezone); err != nil {
				r.fail(posOf(o.value), "settings: timezone: %s", err)
			}
		case "ansi":
			s.ANSI = r.boolean(o, "settings")
		case "watermarkPolicy":
			s.WatermarkPolicy = r.choice(o, "settings", "min", "max")
		case "shufflePartitions":
			s.ShufflePartitions = r.number(o, "settings", 1, 256)
		case "stateMemory":
			n, err := connector.ParseBytes(r.str(o, "settings"))
			if err != nil {
				r.fail(posOf(o.value), "settings: stateMemory: %s", err)
			}
			s.StateMemory = n
		case "keepBatches":
			s.KeepBatches = r.number(o, "settings", 1, 1_000_000)
		}
	}
}

func (r *reader) number(e entry, what string, lo, hi int) int {
	n, err := strconv.Atoi(strings.ReplaceAll(e.value.Value, "_", ""))
	if err != nil || e.value.Kind != yaml.ScalarNode || n < lo || n > hi {
		r.fail(posOf(e.value), "%s: %s: found %s, expected a whole number from %d to %d", what, e.key, kindName(e.value), lo, hi)
		return lo
	}
	return n
}

func (r *reader) duration(e entry, what string) time.Duration {
	d, err := connector.ParseDuration(r.str(e, what))
	if err != nil {
		r.fail(posOf(e.value), "%s: %s: %s", what, e.key, err)
	}
	return d
}

func (r *reader) module(e entry) *Module {
	m := &Module{Name: e.key, Pos: e.pos, Config: map[string]string{}}
	what := fmt.Sprintf("module %q", e.key)
	for _, o := range r.entries(e.value, what, []string{"path", "sha256", "config", "limits", "allow"}) {
		switch o.key {
		case "path":
			m.Path, m.Pos = r.str(o, what), posOf(o.value)
		case "sha256":
			m.SHA256 = r.str(o, what)
		case "config":
			m.Config, _ = r.options(o, what)
		case "limits":
			r.limits(o, what, &m.Limits)
		case "allow":
			m.Allow, m.allow = r.texts(o, what)
			for i, a := range m.Allow {
				kind, name, _ := strings.Cut(a, ":")
				if !contains([]string{"metric", "sql", "kv", "produce", "log"}, kind) || name == "" && kind != "metric" && kind != "log" {
					er := r.fail(m.allow[i], "%s: allow: found %q, expected metric, sql:CONNECTION, kv:NAMESPACE or produce:TOPIC", what, a)
					er.Suggestion = Nearest(kind, []string{"metric", "sql", "kv", "produce"})
				}
			}
		}
	}
	if m.Path == "" {
		r.fail(e.pos, "%s has no path; add `path: %s.wasm`", what, e.key)
	}
	return m
}

func (r *reader) limits(e entry, what string, l *Limits) {
	what += ": limits"
	for _, o := range r.entries(e.value, what, []string{"memory", "fuel", "deadline", "outputBytes", "logBytes"}) {
		size := func(to *int64) {
			n, err := connector.ParseBytes(r.str(o, what))
			if err != nil {
				r.fail(posOf(o.value), "%s: %s: %s", what, o.key, err)
			}
			*to = n
		}
		switch o.key {
		case "memory":
			size(&l.MemoryBytes)
		case "outputBytes":
			size(&l.OutputBytes)
		case "logBytes":
			size(&l.LogBytes)
		case "fuel":
			v, err := strconv.ParseFloat(strings.ReplaceAll(r.str(o, what), "_", ""), 64)
			if err != nil || v < 1 || v > 1e18 {
				r.fail(posOf(o.value), "%s: fuel: found %s, expected a number such as 1e9", what, kindName(o.value))
			}
			l.Fuel = int64(v)
		case "deadline":
			l.Deadline = r.duration(o, what)
		}
	}
}

func (r *reader) connection(e entry) *Connection {
	c := &Connection{Name: e.key, Pos: e.pos, Options: map[string]string{}}
	what := fmt.Sprintf("connection %q", e.key)
	for _, o := range r.entries(e.value, what, []string{"driver", "dsn", "options"}) {
		switch o.key {
		case "driver":
			c.Driver = r.choice(o, what, "postgres", "mysql", "sqlite")
		case "dsn":
			c.DSN = r.str(o, what)
		case "options":
			c.Options, _ = r.options(o, what)
		}
	}
	if c.Driver == "" || c.DSN == "" {
		r.fail(e.pos, "%s needs `driver` (postgres, mysql or sqlite) and `dsn`", what)
	}
	return c
}

func (r *reader) source(e entry) *Source {
	s := &Source{Name: e.key, Pos: e.pos, Options: map[string]string{}, at: map[string]Pos{}}
	what := fmt.Sprintf("source %q", e.key)
	for _, o := range r.entries(e.value, what, []string{"format", "schema", "options", "static", "refresh", "rows"}) {
		s.at[o.key] = o.pos
		switch o.key {
		case "format":
			s.Format = r.str(o, what)
			s.at[o.key] = posOf(o.value)
		case "schema":
			ddl := r.sqlText(o, what)
			if ddl.Text == "" {
				continue
			}
			schema, err := plan.SchemaOf(ddl.Text)
			if err != nil {
				r.sqlError(ddl, what+": schema", err)
				continue
			}
			s.Schema = schema
		case "options":
			var at map[string]Pos
			s.Options, at = r.options(o, what)
			for k, p := range at {
				s.at[k] = p
			}
		case "static":
			s.Static = r.boolean(o, what)
		case "refresh":
			s.Refresh = r.duration(o, what)
		case "rows":
			s.Rows = &rowsNode{o.value}
		}
	}
	if s.Format == "" && s.Rows == nil {
		r.fail(e.pos, "%s has no format; add e.g. `format: kafka`", what)
	}
	return s
}

// sqlError is a fault of a query or schema, at its place in the file.
func (r *reader) sqlError(s *SQL, what string, err error) *Error {
	p := s.at.at(1, 1)
	if se := asSpark(err); se != nil {
		if se.Line > 0 {
			p = s.at.at(se.Line, se.Col)
		}
		e := r.fail(p, "%s", sparkText(what, se))
		e.Suggestion, e.Cause = se.Suggestion, err
		return e
	}
	e := r.fail(p, "%s: %s", what, err)
	e.Cause = err
	return e
}

// sparkText is the text of an error with a condition, which begins with it.
func sparkText(what string, se *sparkerr.Error) string {
	t := fmt.Sprintf("[%s] %s: %s", se.Condition, what, se.Message)
	if se.Cause != nil {
		t += ": " + se.Cause.Error()
	}
	return t
}

func (r *reader) view(e entry) *View {
	v := &View{Name: e.key, Pos: e.pos}
	what := fmt.Sprintf("view %q", e.key)
	for _, o := range r.entries(e.value, what, []string{"sql", "from", "steps", "onError", "late"}) {
		switch o.key {
		case "sql":
			v.SQL = r.sqlText(o, what)
		case "from":
			v.From, v.FromPos = r.str(o, what), posOf(o.value)
		case "steps":
			if o.value.Kind != yaml.SequenceNode {
				r.fail(posOf(o.value), "%s: steps: found %s, expected a list", what, kindName(o.value))
				continue
			}
			for _, c := range o.value.Content {
				if st, ok := r.step(deref(c), what); ok {
					v.Steps = append(v.Steps, st)
				}
			}
		case "onError":
			v.OnError = r.onError(o, what)
		case "late":
			v.Late, v.latePos = r.str(o, what), posOf(o.value)
		}
	}
	switch {
	case v.SQL != nil && v.From != "":
		r.fail(v.FromPos, "%s has both `sql` and `from`; a view is either a query, or steps applied to one relation", what)
	case v.SQL == nil && v.From == "":
		r.fail(e.pos, "%s has neither `sql` nor `from`", what)
	case v.SQL != nil && v.Steps != nil:
		r.fail(e.pos, "%s has `sql` and `steps`; use `from` with steps, one of which may be `sql: … FROM input`", what)
	}
	return v
}

func (r *reader) onError(e entry, what string) OnError {
	p := OnError{Pos: posOf(e.value)}
	if e.value.Kind == yaml.MappingNode {
		for _, o := range r.entries(e.value, what+": onError", []string{"deadLetter"}) {
			p.DeadLetter, p.Pos = r.str(o, what), posOf(o.value)
		}
		return p
	}
	p.Skip = r.choice(e, what, "fail", "skip") == "skip"
	return p
}

var stepKinds = []string{"parse", "filter", "map", "flatMapGroupsWithState", "watermark", "dropDuplicates", "dropDuplicatesWithinWatermark", "sql"}

func (r *reader) step(n *yaml.Node, what string) (Step, bool) {
	es := r.entries(n, what+": step", nil)
	if len(es) != 1 {
		r.fail(posOf(n), "%s: a step has one key, one of %s; found %d", what, strings.Join(stepKinds, ", "), len(es))
		return Step{}, false
	}
	e := es[0]
	st := Step{Kind: e.key, Pos: posOf(e.value)}
	what = fmt.Sprintf("%s: step %q", what, e.key)
	switch e.key {
	case "parse":
		st.Parse = r.function(e, what)
	case "filter":
		st.Filter = r.function(e, what)
	case "map":
		st.Map = r.function(e, what)
	case "flatMapGroupsWithState":
		st.State = r.function(e, what)
	case "watermark":
		w := &WatermarkStep{pos: map[string]Pos{}}
		for _, o := range r.entries(e.value, what, []string{"column", "delay", "scope", "idle"}) {
			w.pos[o.key] = posOf(o.value)
			switch o.key {
			case "column":
				w.Column = r.str(o, what)
			case "delay":
				w.Delay = r.str(o, what)
			case "scope":
				w.Scope = r.choice(o, what, "query", "partition")
			case "idle":
				w.Idle = r.str(o, what)
			}
		}
		if w.Column == "" || w.Delay == "" {
			r.fail(e.pos, "%s needs `column` and `delay`, e.g. {column: event_time, delay: 10 minutes}", what)
		}
		st.Watermark = w
	case "dropDuplicates", "dropDuplicatesWithinWatermark":
		st.DropDuplicates, _ = r.texts(e, what)
		st.dedup, st.Within = true, e.key == "dropDuplicatesWithinWatermark"
	case "sql":
		st.SQL = r.sqlText(e, what)
	default:
		er := r.fail(e.pos, "no step %q; known are: %s", e.key, strings.Join(stepKinds, ", "))
		er.Suggestion = Nearest(e.key, stepKinds)
		return st, false
	}
	return st, true
}

func (r *reader) function(e entry, what string) string {
	s := r.str(e, what)
	if m, f, ok := strings.Cut(s, "."); s != "" && (!ok || m == "" || f == "") {
		r.fail(posOf(e.value), "%s: found %q, expected module.function", what, s)
	}
	return s
}

func (r *reader) sink(e entry) *Sink {
	s := &Sink{Name: e.key, Pos: e.pos, Options: map[string]string{}, Mode: connector.Append, at: map[string]Pos{}}
	what := fmt.Sprintf("sink %q", e.key)
	for _, o := range r.entries(e.value, what, []string{"from", "format", "foreachBatch", "options", "outputMode", "trigger", "checkpointLocation"}) {
		s.at[o.key] = posOf(o.value)
		switch o.key {
		case "from":
			s.From = r.str(o, what)
		case "format":
			s.Format = r.str(o, what)
		case "foreachBatch":
			s.Foreach = r.function(o, what)
		case "options":
			var at map[string]Pos
			s.Options, at = r.options(o, what)
			for k, p := range at {
				s.at[k] = p
			}
		case "outputMode":
			if m := r.choice(o, what, "append", "update", "complete"); m != "" {
				s.Mode = connector.OutputMode(m)
			}
		case "trigger":
			s.Trigger = r.trigger(o, what)
		case "checkpointLocation":
			s.Checkpoint = r.str(o, what)
		}
	}
	switch {
	case s.Format != "" && s.Foreach != "":
		r.fail(s.pos("format"), "%s has both `format` and `foreachBatch`", what)
	case s.Format == "" && s.Foreach == "":
		r.fail(e.pos, "%s has neither `format` nor `foreachBatch`", what)
	}
	return s
}

func (r *reader) trigger(e entry, what string) Trigger {
	what += ": trigger"
	es := r.entries(e.value, what, []string{"processingTime", "once", "availableNow", "continuous"})
	if len(es) == 0 {
		return Trigger{}
	}
	if len(es) > 1 {
		r.fail(es[1].pos, "%s has more than one key", what)
	}
	t := Trigger{Kind: es[0].key}
	switch t.Kind {
	case "processingTime", "continuous":
		t.Interval = r.duration(es[0], what)
		if t.Interval < 0 {
			r.fail(posOf(es[0].value), "%s: %s: the interval is negative", what, t.Kind)
		}
	default:
		if !r.boolean(es[0], what) {
			t.Kind = ""
		}
	}
	return t
}

// names checks that names are unique and that references exist.
func (r *reader) names(f *File) {
	relations := map[string]Pos{}
	var all, sinks, modules []string
	add := func(kind, name string, p Pos) {
		if q, ok := relations[strings.ToLower(name)]; ok {
			r.fail(p, "%s %q: the name is taken at line %d", kind, name, q.Line)
		}
		relations[strings.ToLower(name)] = p
		all = append(all, name)
	}
	for _, s := range f.Sources {
		add("source", s.Name, s.Pos)
	}
	for _, v := range f.Views {
		add("view", v.Name, v.Pos)
	}
	for _, s := range f.Sinks {
		sinks = append(sinks, s.Name)
	}
	for _, m := range f.Modules {
		modules = append(modules, m.Name)
	}
	ref := func(of any, what, name string, p Pos) {
		if name == "" || relations[strings.ToLower(name)] != (Pos{}) {
			return
		}
		f.fault(of)
		e := r.fail(p, "[TABLE_OR_VIEW_NOT_FOUND] %s: no source or view %q; known are: %s", what, name, strings.Join(all, ", "))
		e.Suggestion = Nearest(name, all)
		e.Cause = sparkerr.New("TABLE_OR_VIEW_NOT_FOUND", "no source or view %q", name)
	}
	side := map[string]bool{}
	sinkRef := func(of any, what, name string, p Pos) {
		if name == "" {
			return
		}
		side[name] = true
		s := f.Sink(name)
		if s == nil {
			f.fault(of)
			e := r.fail(p, "%s: no sink %q; known are: %s", what, name, strings.Join(sinks, ", "))
			e.Suggestion = Nearest(name, sinks)
		} else if s.From != "" {
			r.fail(s.pos("from"), "sink %q takes the rows of %s and so has no `from`", name, what)
		}
	}
	module := func(of any, what, fn string, p Pos) {
		m, _, ok := strings.Cut(fn, ".")
		if !ok || m == "" || contains(modules, m) {
			return
		}
		f.fault(of)
		known := "there are none; add `modules:`"
		if len(modules) > 0 {
			known = "known are: " + strings.Join(modules, ", ")
		}
		e := r.fail(p, "%s: no module %q; %s", what, m, known)
		e.Suggestion = Nearest(m, modules)
	}
	for _, v := range f.Views {
		what := fmt.Sprintf("view %q", v.Name)
		ref(v, what, v.From, v.FromPos)
		sinkRef(v, what+": onError: deadLetter", v.OnError.DeadLetter, v.OnError.Pos)
		sinkRef(v, what+": late", v.Late, v.latePos)
		for _, st := range v.Steps {
			module(v, fmt.Sprintf("%s: step %q", what, st.Kind), st.Parse+st.Filter+st.Map+st.State, st.Pos)
		}
	}
	for _, s := range f.Sinks {
		what := fmt.Sprintf("sink %q", s.Name)
		ref(s, what, s.From, s.pos("from"))
		module(s, what+": foreachBatch", s.Foreach, s.pos("foreachBatch"))
		if s.From == "" && !side[s.Name] {
			r.fail(s.Pos, "%s has no `from`, and no view names it in `late` or `deadLetter`", what)
		}
	}
	for _, m := range f.Modules {
		for i, a := range m.Allow {
			if kind, name, _ := strings.Cut(a, ":"); kind == "sql" {
				var conns []string
				for _, c := range f.Connections {
					conns = append(conns, c.Name)
				}
				if !contains(conns, name) {
					f.fault(m)
					e := r.fail(m.allow[i], "module %q: allow: no connection %q; known are: %s", m.Name, name, strings.Join(conns, ", "))
					e.Suggestion = Nearest(name, conns)
				}
			}
		}
	}
}

// rowsNode is rows as they stand in a test file.
type rowsNode struct{ node *yaml.Node }
