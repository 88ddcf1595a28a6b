package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/wstream/wstream/sdk"
)

// toolchain is what a language's guests are built with.
type toolchain struct {
	what    string
	install string // how to get it
}

func toolchains() map[string]toolchain {
	return map[string]toolchain{
		"c": {
			"clang and lld",
			"`apt-get install clang lld` on Debian and Ubuntu, `dnf install clang lld` on Fedora, `brew install llvm lld` on macOS",
		},
		"go":             {"Go 1.24 or later", "https://go.dev/dl, `brew install go` on macOS"},
		"rust":           {"Rust with the target wasm32-unknown-unknown", "https://rustup.rs, then `rustup target add wasm32-unknown-unknown`"},
		"assemblyscript": {"Node 20 or later with npm", "https://nodejs.org, `apt-get install nodejs npm` on Debian, `brew install node` on macOS; then `npm install` in the guest's folder"},
	}
}

// compiler finds a tool. clang goes by the name of its version on some systems.
func compiler(dir, language, tool string) (string, error) {
	names := []string{tool}
	if tool == "clang" {
		for v := 25; v >= 15; v-- {
			names = append(names, fmt.Sprintf("clang-%d", v))
		}
	}
	for _, n := range names {
		if path, err := exec.LookPath(n); err == nil {
			return path, nil
		}
	}
	t := toolchains()[language]
	return "", environment(fmt.Errorf("%s: found no %q in PATH; a guest in %s is built with %s: %s", dir, tool, language, t.what, t.install))
}

// rustTarget finds a cargo whose compiler has the standard library for WebAssembly, or its sources to make it of, and fits
// the project's command to it. A distribution's own Rust may have the one where that of rustup has none.
func rustTarget(ctx context.Context, p *sdk.Project, first string) (string, error) {
	const target = "wasm32-unknown-unknown"
	ask := func(cargo string, args ...string) string {
		out, err := exec.CommandContext(ctx, filepath.Join(filepath.Dir(cargo), "rustc"), args...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	there := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	cargos := []string{first}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if c := filepath.Join(dir, "cargo"); c != first && there(c) && there(filepath.Join(dir, "rustc")) {
			cargos = append(cargos, c)
		}
	}
	for _, c := range cargos {
		if lib := ask(c, "--print", "target-libdir", "--target", target); lib != "" && there(lib) {
			p.Env = append(p.Env, "RUSTC="+filepath.Join(filepath.Dir(c), "rustc"))
			return c, nil
		}
	}
	for _, c := range cargos {
		root := ask(c, "--print", "sysroot")
		if root == "" || !there(filepath.Join(root, "lib", "rustlib", "src", "rust", "library", "Cargo.toml")) {
			continue
		}
		p.Env = append(p.Env, "RUSTC="+filepath.Join(filepath.Dir(c), "rustc"), "RUSTC_BOOTSTRAP=1")
		if lld := filepath.Join(filepath.Dir(c), "rust-lld"); there(lld) {
			p.Env = append(p.Env, "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="+lld)
		}
		p.Build = append(p.Build, "-Zbuild-std=core,alloc,panic_abort")
		return c, nil
	}
	return "", environment(fmt.Errorf("found %s, but no library for the target %s; get it with `rustup target add %s`, or on Debian with "+
		"`apt-get install rustc-web cargo-web rust-web-src rust-web-llvm`", first, target, target))
}
