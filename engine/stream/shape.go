package stream

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/exec"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

// Shape is what a restart of a query may not change. The offset log keeps it with every batch.
type Shape struct {
	Mode      connector.OutputMode `json:"mode"`
	Sources   []SourceShape        `json:"sources"`
	Operators []OperatorShape      `json:"operators,omitempty"`
}

// SourceShape is a streaming source, in the order of the plan.
type SourceShape struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// OperatorShape is a stateful operator, in the order of the plan.
type OperatorShape struct {
	Name string `json:"name"`
	// Keys are the expressions by which state is kept, in terms of the sources' columns.
	Keys []string `json:"keys,omitempty"`
	// Key and Value are the shapes of the state as DDL.
	Key   string `json:"key,omitempty"`
	Value string `json:"value,omitempty"`
}

// String describes the operator for errors.
func (o OperatorShape) String() string {
	return fmt.Sprintf("keys (%s), key schema (%s), value schema (%s)", strings.Join(o.Keys, ", "), o.Key, o.Value)
}

// newShape describes a query.
func newShape(root plan.Node, mode connector.OutputMode, sources []*input, ops []exec.OperatorInfo) Shape {
	s := Shape{Mode: mode, Sources: []SourceShape{}}
	for _, in := range sources {
		s.Sources = append(s.Sources, SourceShape{in.name, in.kind})
	}
	keys := stateKeys(root)
	for _, op := range ops {
		s.Operators = append(s.Operators, OperatorShape{Name: op.Name, Keys: keys[op.ID], Key: op.KeySchema, Value: op.ValueSchema})
	}
	return s
}

// stateKeys are the keys of the stateful operators by their IDs.
func stateKeys(root plan.Node) map[int][]string {
	out := map[int][]string{}
	if root == nil {
		return out
	}
	add := func(id int, child plan.Node, keys ...expr.Expr) {
		for _, k := range keys {
			out[id] = append(out[id], lineage(k, child))
		}
	}
	plan.Walk(root, func(n plan.Node) bool {
		switch n := n.(type) {
		case *plan.Aggregate:
			add(n.ID, n.Child, n.Keys...)
		case *plan.Dedup:
			for _, k := range n.Keys {
				add(n.ID, n.Child, k)
			}
		case *plan.GroupState:
			for _, k := range n.Keys {
				add(n.ID, n.Child, k)
			}
		case *plan.Join:
			if n.Cond == nil {
				break
			}
			for _, c := range expr.SplitAnd(n.Cond) {
				if l, r, _, ok := expr.EqOperands(c); ok && sides(l, n) != "" && sides(r, n) != "" && sides(l, n) != sides(r, n) {
					add(n.ID, n, c)
				}
			}
		}
		return true
	})
	return out
}

// sides says which inputs of a join an expression uses: "l", "r", "lr", or "" for none.
func sides(e expr.Expr, j *plan.Join) string {
	uses := func(in plan.Node) bool {
		found := false
		expr.Walk(e, func(x expr.Expr) bool {
			if a, ok := x.(*expr.Attr); ok {
				found = found || slices.ContainsFunc(in.Output(), func(o *expr.Attr) bool { return o.ID == a.ID })
			}
			return !found
		})
		return found
	}
	out := ""
	if uses(j.Left) {
		out = "l"
	}
	if uses(j.Right) {
		out += "r"
	}
	return out
}

// shapeError is the refusal of a restart that changes what it may not.
func shapeError(what, before, now string) error {
	return sparkerr.New("STREAMING_QUERY_EVOLUTION_NOT_ALLOWED",
		"%s is not what the checkpoint was written with: it was %s, and now it is %s; undo the change, or start with a new checkpoint",
		what, before, now)
}

// mayFollow refuses s as a restart of a query with the shape old.
func (s Shape) MayFollow(old Shape) error {
	if err := s.sourcesMayFollow(old); err != nil {
		return err
	}
	if len(s.Operators) != len(old.Operators) {
		return shapeError("the list of stateful operators", operatorNames(old.Operators), operatorNames(s.Operators))
	}
	for i, o := range s.Operators {
		was := old.Operators[i]
		what := fmt.Sprintf("operator %d (%s)", i, o.Name)
		switch {
		case o.Name != was.Name:
			return shapeError(fmt.Sprintf("operator %d", i), was.Name, o.Name)
		case !slices.Equal(o.Keys, was.Keys), !sameTypes(o.Key, was.Key), !sameValues(o, was):
			return shapeError(what, was.String(), o.String())
		}
	}
	if len(s.Operators) > 0 && s.Mode != old.Mode {
		return shapeError("the output mode of a query with state", string(old.Mode), string(s.Mode))
	}
	return nil
}

func (s Shape) sourcesMayFollow(old Shape) error {
	if len(s.Sources) != len(old.Sources) {
		return shapeError("the list of sources", sourceNames(old.Sources), sourceNames(s.Sources))
	}
	if order := old.match(s); order == nil {
		return shapeError("the list of sources", sourceNames(old.Sources), sourceNames(s.Sources))
	}
	return nil
}

// match says which source of s each source of now is: by name, where all names are the same, otherwise by position. It is
// nil if kinds differ.
func (s Shape) match(now Shape) []int {
	order := make([]int, len(now.Sources))
	byName := true
	for i, src := range now.Sources {
		order[i] = slices.IndexFunc(s.Sources, func(o SourceShape) bool { return o.Name == src.Name })
		byName = byName && order[i] >= 0
	}
	for i, src := range now.Sources {
		if !byName {
			order[i] = i
		}
		if order[i] >= len(s.Sources) || s.Sources[order[i]].Kind != src.Kind {
			return nil
		}
	}
	return order
}

func sourceNames(s []SourceShape) string {
	var out []string
	for _, x := range s {
		out = append(out, fmt.Sprintf("%q (%s)", x.Name, x.Kind))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func operatorNames(s []OperatorShape) string {
	var out []string
	for _, x := range s {
		out = append(out, x.Name)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// sameValues compares the values of operators of one kind. Those of an aggregation are called by their functions, so that a
// sum is not taken for a count; those of the others by the columns of the query, which may be renamed.
func sameValues(a, b OperatorShape) bool {
	switch a.Name {
	case "stateStoreSave", "sessionWindowStateStoreSaveExec":
		return a.Value == b.Value
	case "flatMapGroupsWithState":
		return sameFunctionState(a.Value, b.Value)
	}
	return sameTypes(a.Value, b.Value)
}

// sameFunctionState compares what state functions keep: the state now may have more columns behind those that were
// there, which are null until they are set. Checkpoints of earlier versions do not say what a function keeps.
func sameFunctionState(now, was string) bool {
	n, nok := functionState(now)
	w, wok := functionState(was)
	if !nok || !wok {
		return true
	}
	if len(n.Fields) < len(w.Fields) {
		return false
	}
	for i, f := range w.Fields {
		if !n.Fields[i].Type.Equal(f.Type) {
			return false
		}
	}
	return true
}

func functionState(value string) (*columnar.Schema, bool) {
	_, ddl, ok := strings.Cut(value, " | ")
	if !ok {
		return nil, false
	}
	s, err := columnar.ParseDDL(ddl)
	return s, err == nil
}

// sameTypes compares schemas without the names of their columns. A join has those of its sides, parted by " | ".
func sameTypes(a, b string) bool {
	if a == b {
		return true
	}
	as, bs := strings.Split(a, " | "), strings.Split(b, " | ")
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		x, errX := columnar.ParseDDL(as[i])
		y, errY := columnar.ParseDDL(bs[i])
		if errX != nil || errY != nil || len(x.Fields) != len(y.Fields) {
			return false
		}
		for k := range x.Fields {
			if !x.Fields[k].Type.Equal(y.Fields[k].Type) {
				return false
			}
		}
	}
	return true
}

// ShapeOf describes a query without starting it: nothing is opened, read or written.
func ShapeOf(spec Spec) (Shape, error) {
	if err := spec.Validate(); err != nil {
		return Shape{}, err
	}
	q := &Query{spec: spec, temporary: true}
	if err := q.compile(); err != nil {
		return Shape{}, err
	}
	shape := newShape(spec.Plan, spec.Mode, q.inputs, q.operators)
	return shape, q.release()
}

// CheckpointShape is the shape of the query that has planned a batch; ok is false if the entry has none.
func CheckpointShape(e *checkpoint.OffsetEntry) (s Shape, ok bool, err error) {
	return readShape(e.Query)
}

// readShape reads the shape of an offset entry; ok is false if it has none.
func readShape(raw json.RawMessage) (s Shape, ok bool, err error) {
	if isNullJSON(raw) {
		return s, false, nil
	}
	err = json.Unmarshal(raw, &s)
	return s, err == nil, err
}
