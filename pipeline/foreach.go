package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/udf"
)

// checkForeachOptions checks what a module of a foreachBatch sink is allowed: the connections must be there, and the brokers
// known where it may produce. Options of such a sink are those of the producer.
func (r *Runtime) checkForeachOptions(s *Sink, m udf.Module) Errors {
	what := fmt.Sprintf("sink %q", s.Name)
	var errs Errors
	known := []string{"transactional", "failOnUnknownBatch"}
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		if strings.HasPrefix(strings.ToLower(name), "kafka.") || slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			continue
		}
		e := r.fail(s.pos(name), nil, "%s: unknown option %q; a foreachBatch sink knows kafka.…, %s, for a module that may produce", what, name, strings.Join(known, ", "))
		e.Suggestion = Nearest(name, known)
		errs = append(errs, e)
	}
	g, ok := m.(Guest)
	if !ok {
		return errs
	}
	allowed := g.Permissions()
	for _, name := range allowed.SQL {
		if _, err := r.connection(name); err != nil {
			errs = append(errs, r.fail(s.pos("foreachBatch"), err, "%s: module %q is allowed %q: %s", what, g.Name(), "sql:"+name, err))
		}
	}
	if len(allowed.Produce) > 0 {
		if _, ok := r.foreachOptions(s).Get("kafka.bootstrap.servers"); !ok {
			errs = append(errs, r.fail(s.pos("foreachBatch"), nil, "%s: module %q is allowed %q, but it is not clear where the brokers are; set option \"kafka.bootstrap.servers\" of the sink",
				what, g.Name(), "produce:"+allowed.Produce[0]))
		}
	}
	return errs
}

// foreachOptions are the options of a foreachBatch sink; what they do not say of the brokers is that of the pipeline's
// sources and sinks of Kafka, where these agree.
func (r *Runtime) foreachOptions(s *Sink) connector.Options {
	own := connector.NewOptions(s.Options)
	if _, ok := own.Get("kafka.bootstrap.servers"); ok {
		return own
	}
	var found map[string]string
	agree := true
	look := func(format string, options map[string]string) {
		if format != "kafka" {
			return
		}
		at := map[string]string{}
		for k, v := range options {
			k = strings.ToLower(k)
			if k == "kafka.bootstrap.servers" || strings.HasPrefix(k, "kafka.security.") || strings.HasPrefix(k, "kafka.sasl.") || strings.HasPrefix(k, "kafka.ssl.") {
				at[k] = v
			}
		}
		agree = agree && (found == nil || maps.Equal(found, at))
		found = at
	}
	for _, x := range r.File.Sources {
		look(x.Format, x.Options)
	}
	for _, x := range r.File.Sinks {
		look(x.Format, x.Options)
	}
	if !agree || found == nil {
		return own
	}
	maps.Copy(found, s.Options)
	return connector.NewOptions(found)
}

// lintForeach says that the guest of a foreachBatch sink runs SQL and is allowed no connection. It may run all the same, since
// a guest can do without: its calls are denied.
func (r *Runtime) lintForeach(s *Sink) Errors {
	mod, _, _ := strings.Cut(s.Foreach, ".")
	g, ok := r.Modules[mod].(Guest)
	if !ok || len(g.Manifest().Statements) == 0 || len(g.Permissions().SQL) > 0 || !slices.Contains(g.Needs(), abi.ModuleSQL) {
		return nil
	}
	list := []string{"sql:CONNECTION"}
	if len(r.File.Connections) > 0 {
		list = nil
		for _, c := range r.File.Connections {
			list = append(list, "sql:"+c.Name)
		}
	}
	return Errors{r.fail(s.pos("foreachBatch"), nil, "sink %q: module %q runs SQL and is allowed no connection, so that its calls are denied; add `allow: [%s]` to the module",
		s.Name, g.Name(), strings.Join(list, ", "))}
}
