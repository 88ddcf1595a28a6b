package main

import (
	"strings"
	"testing"
)

func TestFlagsFirst(t *testing.T) {
	for in, want := range map[string]string{
		"test shop --mode all":                        "test --mode all shop",
		"test --mode all shop":                        "test --mode all shop",
		"run a.yaml -q --set k=v b.yaml":              "run -q --set k=v a.yaml b.yaml",
		"run a.yaml --set=k=v --available-now":        "run --set=k=v --available-now a.yaml",
		"checkpoint rollback cp --to -1":              "checkpoint rollback --to -1 cp",
		"state diff cp --from 0 --json":               "state diff --from 0 --json cp",
		"lint - --json":                               "lint --json -",
		"state get cp -- -x --json":                   "state get -- cp -x --json",
		"sql SELECT 1 --json":                         "sql --json SELECT 1",
		"sql --format csv SELECT 1 -q":                "sql --format csv -q SELECT 1",
		"--json -q checkpoint ls cp --no-color":       "checkpoint ls --json -q --no-color cp",
		"--json nothing":                              "--json nothing",
		"sql --json -- -1":                            "sql --json -- -1",
		"run --set":                                   "run --set",
		"run a.yaml --x --generate-bash-completion":   "run a.yaml --x --generate-bash-completion",
		"checkpoint cp --to 1":                        "checkpoint cp --to 1",
		"nothing --x":                                 "nothing --x",
		"module run m.wasm keep --lines --config a=b": "module run --lines --config a=b m.wasm keep",
	} {
		p := &program{}
		got := flagsFirst(p.app(), append([]string{"wstream"}, strings.Fields(in)...))
		if strings.Join(got[1:], " ") != want {
			t.Errorf("%s: got %q, want %q", in, got[1:], want)
		}
	}
}
