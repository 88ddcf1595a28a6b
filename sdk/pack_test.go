package sdk

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/host"
)

// listing is the sample of an SDK's README: its first code block in a language.
func listing(t *testing.T, readme, language string) string {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatalf("%s has no listing in %s", readme, language)
	}
	return string(m[1])
}

// isBig tries the READMEs' sample: a filter that keeps amounts above 50.
func isBig(t *testing.T, path string) {
	t.Helper()
	ctx := context.Background()
	h, err := host.New(ctx, host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(ctx)
	m, err := h.Load(ctx, host.ModuleConfig{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Bind(ctx, "big", columnar.NewSchema(columnar.Field{Name: "amount", Type: columnar.Float64}))
	if err != nil {
		t.Fatal(err)
	}
	keep, errs, err := b.Filter(ctx, host.Call{}, columnar.NewBatch(nil,
		[]*columnar.Column{columnar.NewFixed(columnar.Float64, []float64{60, 50, 70}, nil)}, 3))
	if err != nil || errs != nil || keep[0] != 0b101 {
		t.Errorf("keeps %b, %v, %v", keep, errs, err)
	}
}

// untar unpacks a .tar.gz.
func untar(t *testing.T, dir, archive string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(text)
	}
	write(t, dir, files)
}

// TestPackRust makes the crate's archive; a project that has nothing but what is in it builds the README's sample, and tries
// it in a unit test.
func TestPackRust(t *testing.T) {
	long(t)
	cargo := tool(t, "cargo")
	dir := t.TempDir()
	env := []string{"CARGO_TARGET_DIR=" + filepath.Join(dir, "target")}
	copyTree(t, filepath.Join(dir, "sdk"), "rust")
	run(t, filepath.Join(dir, "sdk"), env, cargo, "package", "--offline", "-q", "--no-verify", "--allow-dirty")
	untar(t, dir, filepath.Join(dir, "target", "package", "wstream-1.0.0.crate"))
	for _, name := range []string{"README.md", "src/lib.rs", "examples/examples.rs", "Cargo.toml"} {
		if _, err := os.Stat(filepath.Join(dir, "wstream-1.0.0", name)); err != nil {
			t.Error(err)
		}
	}
	write(t, filepath.Join(dir, "outside"), map[string]string{
		"Cargo.toml": "[package]\nname = \"sample\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[lib]\ncrate-type = [\"cdylib\"]\n" +
			"[dependencies]\nwstream = { path = \"../wstream-1.0.0\" }\n[workspace]\n",
		"src/lib.rs": strings.Replace(listing(t, "rust/README.md", "rust"), "#![no_std]", "#![cfg_attr(target_arch = \"wasm32\", no_std)]", 1) + `
#[test]
fn large_amounts_stay() {
    let mut amount = wstream::Builder::new(wstream::Type::FLOAT64, 0);
    amount.f64(60.0);
    amount.f64(6.0);
    let answer = wstream::Trial::new(vec![amount]).call(big).unwrap();
    assert!(answer.open().column(0).bool(0) && !answer.open().column(0).bool(1));
}
`,
	})
	if out := run(t, filepath.Join(dir, "outside"), env, cargo, "test", "--offline", "-q"); !strings.Contains(out, "1 passed") {
		t.Error(out)
	}
}

// TestPackNpm makes the npm package; a project that installed it builds the README's sample.
func TestPackNpm(t *testing.T) {
	long(t)
	compiler, npm := asc(t), tool(t, "npm")
	dir := t.TempDir()
	env := []string{"npm_config_cache=" + filepath.Join(dir, "cache"), "npm_config_update_notifier=false"}
	out := run(t, "assemblyscript", env, npm, "pack", "--silent", "--pack-destination", dir)
	archive := filepath.Join(dir, strings.TrimSpace(out))
	outside := filepath.Join(dir, "outside")
	write(t, outside, map[string]string{"package.json": `{"name": "sample", "private": true}`, "index.ts": listing(t, "assemblyscript/README.md", "ts")})
	run(t, outside, env, npm, "install", "--silent", "--offline", "--no-audit", "--no-fund", "--legacy-peer-deps", archive)
	for _, name := range []string{"README.md", "package.json", "assembly/index.ts", "examples/examples.ts"} {
		if _, err := os.Stat(filepath.Join(outside, "node_modules", "@wstream", "sdk", name)); err != nil {
			t.Error(err)
		}
	}
	run(t, outside, nil, compiler, "index.ts", "-o", "big.wasm", "-O3", "--enable", "simd", "--runtime", "minimal", "--exportStart", "_initialize", "--use", "abort=")
	isBig(t, filepath.Join(outside, "big.wasm"))
}

// TestPackJS makes the npm package; a project that installed it tests the README's sample, which is built without any tool.
func TestPackJS(t *testing.T) {
	long(t)
	code, err := JavaScript([]byte(listing(t, "js/README.md", "js")))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	write(t, outside, map[string]string{
		"big.wasm": string(code), "big.js": listing(t, "js/README.md", "js"), "package.json": `{"name": "sample", "private": true}`,
		"big.test.mjs": `import assert from "node:assert/strict";
import { test } from "node:test";
import { Trial } from "@wstream/js";
test("large amounts stay", () => {
  assert.deepEqual([...new Trial("big.js").call("big", [{ amount: 60 }, { amount: 6 }]).keep], [true, false]);
});
`,
	})
	isBig(t, filepath.Join(outside, "big.wasm"))
	npm, node := tool(t, "npm"), tool(t, "node")
	env := []string{"npm_config_cache=" + filepath.Join(dir, "cache"), "npm_config_update_notifier=false"}
	archive := filepath.Join(dir, strings.TrimSpace(run(t, "js", env, npm, "pack", "--silent", "--pack-destination", dir)))
	run(t, outside, env, npm, "install", "--silent", "--offline", "--no-audit", "--no-fund", archive)
	if out := run(t, outside, nil, node, "--test", "big.test.mjs"); !strings.Contains(out, "pass 1") {
		t.Error(out)
	}
}

// TestPackGo serves the module as a proxy would; a project that gets it from there builds the README's sample.
func TestPackGo(t *testing.T) {
	long(t)
	const path, version = "github.com/wstream/wstream/sdk/go", "v1.0.0"
	dir := t.TempDir()
	at := filepath.Join(dir, "proxy", path, "@v")
	mod, err := os.ReadFile("go/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	write(t, at, map[string]string{"list": version + "\n", version + ".info": `{"Version":"` + version + `","Time":"2026-01-01T00:00:00Z"}`, version + ".mod": string(mod)})
	f, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	err = filepath.WalkDir("go", func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		w, err := z.Create(path + "@" + version + strings.TrimPrefix(filepath.ToSlash(file), "go"))
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	})
	if err = errors.Join(err, z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(dir, "outside")
	write(t, outside, map[string]string{"main.go": listing(t, "go/README.md", "go"), "go.mod": "module sample\n\ngo 1.24\n"})
	env := []string{"GOPROXY=file://" + filepath.ToSlash(filepath.Join(dir, "proxy")), "GOSUMDB=off", "GOMODCACHE=" + filepath.Join(dir, "modules"), "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local"}
	run(t, outside, env, "go", "get", path+"@"+version)
	run(t, outside, append(env, "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0"), "go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", "big.wasm", ".")
	isBig(t, filepath.Join(outside, "big.wasm"))
}

// TestPackC copies the headers; a file beside them is the README's sample, and so is one in Zig.
func TestPackC(t *testing.T) {
	long(t)
	outside := t.TempDir()
	copyTree(t, outside, "c")
	write(t, outside, map[string]string{"big.c": listing(t, "c/README.md", "c")})
	t.Run("clang", func(t *testing.T) {
		clang := tool(t, "clang-22", "clang")
		run(t, outside, nil, clang, "--target=wasm32", "-std=c17", "-O3", "-nostdlib", "-mbulk-memory", "-msimd128", "-Wl,--no-entry", "-o", "big.wasm", "big.c")
		isBig(t, filepath.Join(outside, "big.wasm"))
	})
	t.Run("zig cc", func(t *testing.T) {
		run(t, outside, nil, zig(t), "cc", "--target=wasm32-freestanding", "-std=c17", "-O3", "-nostdlib", "-mbulk-memory", "-msimd128", "-Wl,--no-entry", "-o", "bigz.wasm", "big.c")
		isBig(t, filepath.Join(outside, "bigz.wasm"))
	})
	t.Run("zig", func(t *testing.T) {
		run(t, filepath.Join(outside, "zig"), nil, zig(t), "build-exe", "big.zig", "-target", "wasm32-freestanding", "-O", "ReleaseFast", "-fno-entry", "-rdynamic", "-I..", "-femit-bin=big.wasm")
		isBig(t, filepath.Join(outside, "zig", "big.wasm"))
	})
}
