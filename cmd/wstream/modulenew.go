package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/sdk"
)

func (p *program) moduleNew(c *cli.Context) error {
	if n := c.Args().Len(); n != 2 && n != 3 {
		return invalid("expected a language and a name: `wstream module new rust geo`; languages are %s", strings.Join(sdk.Languages(), ", "))
	}
	name := c.Args().Get(1)
	project, err := sdk.New(c.Args().First(), name)
	if err != nil {
		return &coded{err, exitInvalid}
	}
	dir := c.Args().Get(2)
	if dir == "" {
		dir = name
	}
	if err := writeNew(dir, project.Files); err != nil {
		return err
	}
	text := fmt.Sprintf("%s written to %s\nbuild it with `wstream module build %s`, which %s\nand try it with `wstream module run %s keep`",
		count(len(project.Files), "file"), dir, dir, buildText(project), filepath.Join(dir, project.Wasm))
	p.succeed("module new", text, map[string]any{"dir": dir, "files": project.Paths(), "build": project.Build, "env": project.Env, "module": filepath.Join(dir, project.Wasm)})
	return nil
}

// buildText says how a project is built.
func buildText(p *sdk.Project) string {
	if len(p.Build) == 0 {
		return "needs no compiler"
	}
	return "runs: " + strings.Join(append(append([]string{}, p.Env...), p.Build...), " ")
}

// writeNew writes files below a folder. If one of them is there, nothing is written.
func writeNew(dir string, files map[string]string) error {
	for _, f := range sortedKeys(files) {
		path := filepath.Join(dir, filepath.FromSlash(f))
		if _, err := os.Lstat(path); err == nil {
			return invalid("%s is there already, and nothing was written; name another folder", path)
		}
	}
	for _, f := range sortedKeys(files) {
		path := filepath.Join(dir, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return environment(err)
		}
		if err := os.WriteFile(path, []byte(files[f]), 0o644); err != nil {
			return environment(err)
		}
	}
	return nil
}

func (p *program) moduleBuild(c *cli.Context) error {
	if c.Args().Len() != 1 {
		return invalid("which folder? e.g. `wstream module build geo`")
	}
	dir := c.Args().First()
	if strings.HasSuffix(dir, ".js") {
		return p.buildScript(c, dir)
	}
	language, name, err := guestIn(dir)
	if err != nil {
		return err
	}
	project, err := sdk.New(language, name)
	if err != nil {
		return invalid("%s: %w", dir, err)
	}
	if language == "js" {
		return p.buildScript(c, filepath.Join(dir, name+".js"))
	}
	tool, err := compiler(dir, language, project.Build[0])
	if err != nil {
		return err
	}
	if language == "rust" {
		if tool, err = rustTarget(c.Context, project, tool); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	p.note("%s", strings.Join(append(append([]string{}, project.Env...), project.Build...), " "))
	cmd := exec.CommandContext(c.Context, tool, project.Build[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), project.Env...)
	cmd.Stdout, cmd.Stderr = p.err, p.err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %s: %w%s", dir, strings.Join(project.Build, " "), err, buildHint(dir, language))
	}
	wasm := filepath.Join(dir, project.Wasm)
	m, done, err := p.openModule(c, wasm)
	if err != nil {
		return err
	}
	defer done()
	p.succeed("module build", wasm, map[string]any{"language": language, "module": wasm, "sha256": m.Hash()})
	return nil
}

// buildScript makes a module of a script in JavaScript, beside it, and loads it, which runs the script once.
func (p *program) buildScript(c *cli.Context, script string) error {
	text, err := os.ReadFile(script)
	if err != nil {
		return &coded{err, exitInvalid}
	}
	code, err := sdk.JavaScript(text)
	if err != nil {
		return invalid("%s: %w", script, err)
	}
	wasm := strings.TrimSuffix(script, ".js") + ".wasm"
	if err := os.WriteFile(wasm, code, 0o644); err != nil {
		return environment(err)
	}
	m, done, err := p.openModule(c, wasm)
	if err != nil {
		return err
	}
	defer done()
	p.succeed("module build", wasm, map[string]any{"language": "js", "module": wasm, "sha256": m.Hash()})
	return nil
}

// buildHint says what is most often missing when a build fails.
func buildHint(dir, language string) string {
	switch language {
	case "assemblyscript":
		if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
			return "; the compiler is not installed: run `npm install` in " + dir + " first"
		}
	case "c":
		if _, err := exec.LookPath("wasm-ld"); err != nil {
			return "; if the linker wasm-ld is missing: " + toolchains()["c"].install
		}
	case "go":
		return "; it takes Go 1.24 or later"
	}
	return ""
}

// guestIn finds out the language and the name of the guest in a folder by its files.
func guestIn(dir string) (language, name string, err error) {
	if st, err := os.Stat(dir); err != nil {
		return "", "", &coded{err, exitInvalid}
	} else if !st.IsDir() {
		return "", "", invalid("%s is no folder; expected the one with the guest's sources", dir)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	name = filepath.Base(abs)
	read := func(file string) (string, bool) {
		b, err := os.ReadFile(filepath.Join(dir, file))
		return string(b), err == nil
	}
	if text, ok := read("Cargo.toml"); ok {
		return "rust", declared(text, "name = ", name), nil
	}
	if text, ok := read("go.mod"); ok {
		return "go", declared(text, "module ", name), nil
	}
	if _, ok := read("index.ts"); ok {
		text, _ := read("package.json")
		return "assemblyscript", declared(text, `"name": `, name), nil
	}
	sources, err := filepath.Glob(filepath.Join(dir, "*.c"))
	if err != nil {
		return "", "", err
	}
	if len(sources) == 1 {
		return "c", strings.TrimSuffix(filepath.Base(sources[0]), ".c"), nil
	}
	if sources, err = filepath.Glob(filepath.Join(dir, "*.js")); err != nil {
		return "", "", err
	}
	if len(sources) == 1 {
		return "js", strings.TrimSuffix(filepath.Base(sources[0]), ".js"), nil
	}
	return "", "", invalid("%s: found no guest; expected Cargo.toml, go.mod, index.ts, or one .c or .js file, as `wstream module new` writes them", dir)
}

// declared is what follows a prefix in a line of a project file, without quotes; def if there is no such line.
func declared(text, prefix, def string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
			return filepath.Base(strings.Trim(strings.TrimSpace(v), `",`))
		}
	}
	return def
}
