package host

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestHostileListing holds testdata/hostile/README.md against the modules: each has its line, with what it does and what
// came of it. With -update the page is written.
func TestHostileListing(t *testing.T) {
	files, err := filepath.Glob("testdata/hostile/*.wat")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString(hostileHead)
	directive := regexp.MustCompile(`^(function|calls|engine|allow|expect|limits|whole module)(:.*)?$`)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".wat")
		if name == "prelude" || name == "kinds" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var what []string
		for _, line := range strings.Split(string(text), "\n") {
			line, ok := strings.CutPrefix(line, ";; ")
			if !ok {
				break
			}
			if line = strings.TrimPrefix(line, "kinds: "); line != "kinds" && !directive.MatchString(line) {
				what = append(what, line)
			}
		}
		if len(what) == 0 {
			t.Errorf("%s does not say what it does", file)
			continue
		}
		h := readHostile(t, file)
		cell := strings.NewReplacer("|", `\|`, "`", "'", "\n", " ")
		fmt.Fprintf(&b, "| %s | %s | `%s` |\n", name, cell.Replace(strings.Join(what, " ")), cell.Replace(strings.Join(h.expect, "; ")))
	}
	const page = "testdata/hostile/README.md"
	if *update {
		if err := os.WriteFile(page, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, _ := os.ReadFile(page)
	if !bytes.Equal(have, b.Bytes()) {
		t.Errorf("%s is not what the modules say; go test ./host -run TestHostileListing -update writes it", page)
	}
}

const hostileHead = `# Hostile modules

Each file is one way in which a guest can go wrong or do harm, written by hand in the text format of WebAssembly, in one of the places where it
runs: when it starts, gives its manifest, is bound, is called, or is asked for more. The comment of a file says how it is called, and what must
come of it on both engines; ` + "`go test ./host -run TestHostile`" + ` runs all of them. ` + "`build.sh`" + ` assembles them. This list is
written by ` + "`go test ./host -run TestHostileListing -update`" + `.

| module | what it does | what comes of it |
|---|---|---|
`
