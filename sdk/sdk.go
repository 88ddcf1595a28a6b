// Package sdk carries the guest SDKs and a starting point in each language, for making new guests: a project that New
// gives builds without anything to download but the language's compiler.
package sdk

import (
	"embed"
	"fmt"
	"path"
	"sort"
	"strings"
)

// sources are the SDKs but the one for Go, which is a module of its own and so is kept as an archive.
//
//go:embed c/*.h rust/Cargo.toml rust/src/*.rs assemblyscript/assembly/*.ts go.txtar templates
var sources embed.FS

// Project is a new guest.
type Project struct {
	Files map[string]string // content by path
	Build []string          // the command that builds it, to be run in its folder; none in JavaScript, see JavaScript
	Env   []string          // added to the command's environment
	Wasm  string            // the module that the command makes
}

// Languages are the languages that New knows.
func Languages() []string { return []string{"assemblyscript", "c", "go", "js", "rust"} }

// New makes a guest with one filter, "keep". The name is made of lower-case letters, digits and '-'.
func New(language, name string) (*Project, error) {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return !(r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z')
	}) || name[0] < 'a' {
		return nil, fmt.Errorf("name %q: it is made of lower-case letters, digits and -, and begins with a letter", name)
	}
	p := &Project{Files: map[string]string{}, Wasm: name + ".wasm"}
	switch language {
	case "c":
		p.add("c", "")
		p.template("guest.c", name+".c", name)
		p.Build = []string{
			"clang", "--target=wasm32", "-std=c17", "-O3", "-nostdlib", "-mbulk-memory", "-msimd128",
			"-Wl,--no-entry", "-Wl,--strip-debug", "-o", p.Wasm, name + ".c",
		}
	case "go":
		for file, text := range goSources() {
			p.Files["wstream/"+file] = text
		}
		p.template("main.go.txt", "main.go", name)
		p.template("go.mod.txt", "go.mod", name)
		p.Build = []string{"go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w -buildid=", "-o", p.Wasm, "."}
		p.Env = []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0"}
	case "rust":
		p.add("rust", "wstream")
		p.template("lib.rs", "src/lib.rs", name)
		p.template("Cargo.toml", "Cargo.toml", name)
		p.Build = []string{"cargo", "build", "--release", "--target", "wasm32-unknown-unknown"}
		p.Wasm = "target/wasm32-unknown-unknown/release/" + strings.ReplaceAll(name, "-", "_") + ".wasm"
	case "assemblyscript":
		p.add("assemblyscript/assembly", "wstream")
		p.template("index.ts", "index.ts", name)
		p.template("package.json", "package.json", name)
		p.Build = []string{
			"npx", "asc", "index.ts", "-o", p.Wasm, "-O3", "--enable", "simd", "--runtime", "minimal",
			"--exportStart", "_initialize", "--use", "abort=",
		}
	case "js", "javascript":
		p.template("guest.js", name+".js", name)
	default:
		return nil, fmt.Errorf("language %q is not known; known are %s", language, strings.Join(Languages(), ", "))
	}
	return p, nil
}

// Paths are the project's files in order.
func (p *Project) Paths() []string {
	var out []string
	for f := range p.Files {
		out = append(out, f)
	}
	sort.Strings(out)
	return out
}

// add copies a folder of the sources below dir.
func (p *Project) add(from, dir string) {
	entries, _ := sources.ReadDir(from) // embedded: the tests have seen it
	for _, e := range entries {
		if file := path.Join(from, e.Name()); e.IsDir() {
			p.add(file, path.Join(dir, e.Name()))
		} else {
			p.Files[path.Join(dir, e.Name())] = read(file)
		}
	}
}

// template copies a starting point, in which NAME stands for the guest's name and IDENT for the same as an identifier.
func (p *Project) template(from, to, name string) {
	text := strings.ReplaceAll(read("templates/"+from), "IDENT", strings.ReplaceAll(name, "-", "_"))
	p.Files[to] = strings.ReplaceAll(text, "NAME", name)
}

// read gives an embedded file, which is there since the tests have seen it.
func read(file string) string {
	b, _ := sources.ReadFile(file)
	return string(b)
}

// goSources are the files of sdk/go, out of an archive: lines "-- name --" begin a file.
func goSources() map[string]string {
	out := map[string]string{}
	name := ""
	for _, line := range strings.SplitAfter(read("go.txtar"), "\n") {
		if n, ok := strings.CutPrefix(strings.TrimSuffix(line, " --\n"), "-- "); ok && strings.HasSuffix(line, " --\n") {
			name = n
			continue
		}
		if name != "" {
			out[name] += line
		}
	}
	return out
}
