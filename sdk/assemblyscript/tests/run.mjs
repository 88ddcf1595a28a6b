// Runs the tests of build/tests.wasm under node's own test runner: `npm test` compiles them before.
import { readFileSync } from "node:fs";
import { test } from "node:test";

const denied = () => -7n;
const code = readFileSync(new URL("../build/tests.wasm", import.meta.url));
const names = WebAssembly.Module.exports(new WebAssembly.Module(code)).map((e) => e.name).filter((n) => n.startsWith("test"));
for (const name of names) {
  test(name, async () => {
    let message = "trap";
    const text = (memory, at) => {
      const length = new Uint32Array(memory.buffer)[(at - 4) >>> 2];
      return String.fromCharCode(...new Uint16Array(memory.buffer, at, length >>> 1));
    };
    const { instance } = await WebAssembly.instantiate(code, {
      env: { abort: (what, file, line) => { throw new Error(`${text(instance.exports.memory, what)} (line ${line})`); } },
      wstream_sql_v1: { exec: denied },
    });
    instance.exports._initialize();
    instance.exports[name]();
  });
}
