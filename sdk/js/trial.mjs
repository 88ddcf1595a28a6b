// Trial runs a guest's functions under node, for unit tests: `new Trial("guest.js").call("is_human", [{ua: "x"}])`. Rows are
// objects; what a function asks of the host is denied, as the host does by default.
import { readFileSync } from "node:fs";
import vm from "node:vm";

const NAMES = ["VOID", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "STRING", "BINARY", "ARRAY", "MAP", "STRUCT"];
const DENIED = -7, SECTIONS = { groups: 3, state: 4, accumulators: 5, groupIndex: 6 };

const micros = (v) => {
  if (typeof v !== "string") return v instanceof Date ? v.getTime() * 1000 : v;
  const m = /^(.*?)(?:\.(\d{1,6})\d*)?(Z|[+-]\d\d:?\d\d)?$/.exec(v), ms = Date.parse(m[1].replace(" ", "T") + (m[3] ?? "Z"));
  return Number.isNaN(ms) ? undefined : ms * 1000 + Number((m[2] ?? "").padEnd(6, "0"));
};

// fit is a value as a column of a type holds it; it throws as the runtime does.
const fit = (spec, v) => {
  const [name, code, , ...children] = spec;
  const wrong = () => { throw new TypeError(`column ${name}: expected ${NAMES[code]}, found ${v === null ? "null" : Array.isArray(v) ? "an array" : `a ${typeof v}`}`); };
  if (v === null || v === undefined) return null;
  switch (code) {
    case 1: return typeof v === "boolean" ? v : wrong();
    case 2: case 3: case 4: case 5: return typeof v === "bigint" || Number.isInteger(v) ? v : wrong();
    case 6: case 7: return typeof v === "number" ? v : wrong();
    case 10: case 11: return micros(v) ?? wrong();
    case 12: return typeof v === "string" ? v : wrong();
    case 13: return typeof v === "string" || ArrayBuffer.isView(v) ? v : wrong();
    case 14: return Array.isArray(v) ? v.map((e) => fit(children[0], e)) : wrong();
    case 15: return Object.fromEntries(Object.entries(v).map(([k, e]) => [k, fit(children[1], e)]));
    case 16: return Object.fromEntries(children.map((c) => [c[0], fit(c, v[c[0]])]));
  }
  return v;
};

export class Trial {
  #specs = [];
  #builders = [];
  #in = { rows: [], sections: {}, header: [] };
  #answer;
  #guest;

  constructor(script, config = {}) {
    this.config = config;
    const position = new WeakMap(), column = (section, c) => this.#in.sections[section]?.[c] ?? [];
    const host = {
      spec: (s) => this.#specs.push(s) - 1,
      rows: (section, columns) => {
        const proto = {};
        for (const [name, , c] of columns) {
          Object.defineProperty(proto, name, { enumerable: true, get() {
            const n = position.get(this);
            return (section === 0 ? host.main(n, name) : column(section, c)[n]) ?? null;
          } });
        }
        return proto;
      },
      main: (n, name) => this.#in.rows[n]?.[name],
      row: (proto, n) => { const r = Object.create(proto); position.set(r, n); return r; },
      at: (row, n) => void position.set(row, n),
      builder: (type) => this.#builders.push({ spec: this.#specs[type], values: [] }) - 1,
      add: (b, v) => void this.#builders[b].values.push(fit(this.#builders[b].spec, v)),
      emit: (first, count, o) => {
        if (typeof o !== "object" || o === null) throw new TypeError("a row is an object with the columns as its properties");
        const all = this.#builders.slice(first, first + count), row = all.map((b) => fit(b.spec, o[b.spec[0]]));
        all.forEach((b, i) => b.values.push(row[i]));
      },
      undo: (b, n) => void (this.#builders[b].values.length = Math.min(n, this.#builders[b].values.length)),
      output: (b) => void this.#answer.output.push(this.#builders[b]),
      pass: () => {},
      section: (id, _, ...b) => void (this.#answer.sections[id] = b.map((i) => this.#builders[i].values)),
      parent: (...n) => void this.#answer.parents.push(...n),
      refuse: (row, text) => void this.#answer.refused.push({ row, text }),
      cell: (section, c, n) => (section === 0 ? Object.values(this.#in.rows[n] ?? {})[c] : column(section, c)[n]) ?? null,
      sectionRows: (section) => column(section, 0).length,
      header: (i) => (i === 7 ? this.#in.rows.length : this.#in.header[i] ?? (i === 5 ? null : 0)),
      host: (what, ...a) => { if (what === 0) this.logged.push(a[0]); return DENIED; },
      utf8: (b) => (typeof b === "string" ? b : Buffer.from(b).toString("utf8")),
      random: () => 0.5,
    };
    this.logged = [];
    const context = vm.createContext({ __host: host });
    this.#guest = vm.runInContext(readFileSync(new URL("prelude.js", import.meta.url), "utf8"), context, { filename: "wstream.js" });
    vm.runInContext(readFileSync(script, "utf8"), context, { filename: String(script) });
    this.manifest = JSON.parse(this.#guest.manifest());
  }

  // call makes a call of a function; what is left out of the header is 0. It gives rows, which are objects, of a filter keep,
  // and refused.
  call(name, rows, { op = 0, flags = 0, watermark = null, batchTime = 0, sections = {} } = {}) {
    const f = this.manifest.functions.find((f) => f.name === name);
    if (!f) throw new Error(`no function ${name}`);
    this.#in = { rows, sections, header: [op, flags, 0, 0, 0, watermark, batchTime] };
    this.#builders = [];
    this.#answer = { output: [], sections: {}, parents: [], refused: [] };
    const input = (f.input.match(/[\w`]+\s+[^,<(]+(?:<[^]*?>+)?(?:\([^)]*\))?/g) ?? []).map((c) => {
      const [n, ...type] = c.trim().split(/\s+/);
      return { name: n.replaceAll("`", ""), type: type.join(" ") };
    });
    const h = this.#guest.bind(JSON.stringify({ function: name, input, config: this.config }));
    this.#guest.call(h);
    const { output, refused, parents } = this.#answer, n = output[0]?.values.length ?? 0;
    const made = Array.from({ length: n }, (_, i) => Object.fromEntries(output.map((b) => [b.spec[0], b.values[i]])));
    return { rows: made, keep: f.kind === "filter" ? output[0].values : undefined, parents, refused, sections: this.#answer.sections };
  }

  // aggregate folds rows into one accumulator and gives the value.
  aggregate(name, rows) {
    const sections = { [SECTIONS.accumulators]: [[null]], [SECTIONS.groupIndex]: [rows.map(() => 0)] };
    const half = this.call(name, rows, { sections }).sections[SECTIONS.accumulators][0];
    const whole = this.call(name, [{ acc: half[0] }], { op: 1, sections: { [SECTIONS.accumulators]: [[null]], [SECTIONS.groupIndex]: [[0]] } });
    const done = this.call(name, [{ acc: whole.sections[SECTIONS.accumulators][0][0] }], { op: 2 });
    return Object.values(done.rows[0])[0];
  }

  // key calls a state function for one key, with its state or null. It gives rows, the new state (undefined: kept, null:
  // removed) and the time-out.
  key(name, key, rows, { state = null, timedOut = false } = {}) {
    const f = this.manifest.functions.find((f) => f.name === name);
    const names = (ddl) => ddl.split(",").map((c) => c.trim().split(/\s+/)[0]);
    const groups = [[rows.length], [(state ? 1 : 0) | (timedOut ? 2 : 0)], [null], ...names(f.key).map((n) => [key[n]])];
    const old = names(f.state).map((n) => [state?.[n] ?? null]);
    const r = this.call(name, rows, { sections: { [SECTIONS.groups]: groups, [SECTIONS.state]: old } });
    const [action, wanted, ...columns] = r.sections[SECTIONS.state];
    const next = [undefined, Object.fromEntries(names(f.state).map((n, i) => [n, columns[i][0]])), null][action[0]];
    return { rows: r.rows, state: next, timeout: typeof wanted[0] === "bigint" ? null : wanted[0] };
  }
}
