package expr

import (
	"slices"
	"sort"
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// Function is an entry of the registry: a function or an operator as SQL calls it.
type Function struct {
	Name      string   // in lower case, or the operator's sign
	Aliases   []string // other names, in lower case
	Family    string   // e.g. "math": the families of the reference documentation
	Signature string   // e.g. "abs(expr)"
	Doc       string   // one sentence
	Example   string   // "SELECT abs(-1)" and what it gives, separated by " → "
	// Bind checks and coerces the arguments, which are resolved, and gives the bound call.
	Bind func(b *Binder, args []Expr) (Expr, error)
}

// Registry finds functions by name. It is immutable and may be shared.
type Registry struct {
	byName map[string]*Function
	all    []*Function
}

// NewRegistry makes a registry of functions; of two with one name the later one counts.
func NewRegistry(functions []*Function) *Registry {
	r := &Registry{byName: make(map[string]*Function, 2*len(functions)), all: slices.Clone(functions)}
	for _, f := range functions {
		r.byName[strings.ToLower(f.Name)] = f
		for _, a := range f.Aliases {
			r.byName[strings.ToLower(a)] = f
		}
	}
	return r
}

// With is the registry with more functions, such as a pipeline's own.
func (r *Registry) With(functions ...*Function) *Registry {
	return NewRegistry(append(slices.Clone(r.all), functions...))
}

// Functions are all functions in the order in which they were given.
func (r *Registry) Functions() []*Function { return r.all }

// Lookup finds a function by name in any case, or gives nil.
func (r *Registry) Lookup(name string) *Function { return r.byName[strings.ToLower(name)] }

// Nearest is the name of the registry that is most like name, or "" when none is alike.
func (r *Registry) Nearest(name string) string {
	name = strings.ToLower(name)
	best, dist := "", len(name)/3+1
	names := make([]string, 0, len(r.byName))
	for n := range r.byName {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		if d := editDistance(name, n, dist+1); d <= dist && (best == "" || d < dist) {
			best, dist = n, d
		}
	}
	return best
}

// editDistance is the number of insertions, deletions, replacements and swaps of neighbours that
// turn a into b; anything from limit on is reported as limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, prev2[j-2]+1)
			}
			cur[j] = d
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return min(prev[len(b)], limit)
}

// Builtins are all functions and operators of Spark SQL that this package knows, family by family.
func Builtins() []*Function {
	return slices.Concat(
		operatorFunctions(),
		conditionalFunctions(),
		castFunctions(),
		mathFunctions(),
		bitFunctions(),
		bitmapFunctions(),
		arrayFunctions(),
		mapFunctions(),
		structFunctions(),
		lambdaFunctions(),
		generatorFunctions(),
		tryFunctions(),
		aggregateFunctions(),
		windowFunctions(),
		miscFunctions(),
		stringFunctions(),
		regexFunctions(),
		urlFunctions(),
		digestFunctions(),
		aesFunctions(),
		reflectFunctions(),
		datetimeFunctions(),
		dateFormatFunctions(),
		formatFunctions(),
		jsonFunctions(),
		csvFunctions(),
		variantFunctions(),
		avroFunctions(),
		protobufFunctions(),
		vectorFunctions(),
	)
}

// unresolved is the error for a name that no function has.
func (r *Registry) unresolved(name string) error {
	e := sparkerr.New("UNRESOLVED_ROUTINE", "there is no function `%s`", name)
	if n := r.Nearest(name); n != "" {
		e = e.WithSuggestion(n)
	}
	return e
}
