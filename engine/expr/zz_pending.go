package expr

import "regexp"

func bindNanvl(b *Binder, args []Expr) (Expr, error)            { return nil, b.Registry.unresolved(b.Call.Name) }
func bindIsnan(b *Binder, args []Expr) (Expr, error)            { return nil, b.Registry.unresolved(b.Call.Name) }
func mathFunctions() []*Function                                { return nil }
func arrayFunctions() []*Function                               { return nil }
func mapFunctions() []*Function                                 { return nil }
func structFunctions() []*Function                              { return nil }
func lambdaFunctions() []*Function                              { return nil }
func generatorFunctions() []*Function                           { return nil }
func tryFunctions() []*Function                                 { return nil }
func windowFunctions() []*Function                              { return nil }
func miscFunctions() []*Function                                { return nil }
func newStruct(names []string, values []Expr, text string) Expr { return nil }
func (b *Binder) concat(args []Expr) (Expr, error)              { return nil, b.Registry.unresolved("concat") }
func compileRegex(p string) (func(string) bool, error) {
	re, err := regexp.Compile(p)
	if err != nil {
		return nil, err
	}
	return re.MatchString, nil
}
