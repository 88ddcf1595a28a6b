// What guests in JavaScript are made of: functions of rows, which are objects with a property for each column. The same names
// as in the other languages' SDKs. It is evaluated before the script, in the same global scope; `__host` has what is written
// in C (runtime.c), and trial.mjs has the same for unit tests under node.
"use strict";

(() => {
  const host = globalThis.__host;
  delete globalThis.__host;
  Math.random = host.random;

  const CODES = {
    VOID: 0, BOOLEAN: 1, TINYINT: 2, BYTE: 2, SMALLINT: 3, SHORT: 3, INT: 4, INTEGER: 4, BIGINT: 5, LONG: 5, FLOAT: 6, REAL: 6, DOUBLE: 7,
    DECIMAL: 8, DEC: 8, NUMERIC: 8, DATE: 9, TIMESTAMP: 10, TIMESTAMP_LTZ: 10, TIMESTAMP_NTZ: 11, STRING: 12, BINARY: 13,
    ARRAY: 14, MAP: 15, STRUCT: 16,
  };

  // columns reads DDL: [[name, code, parameter, child…]…]
  const columns = (ddl) => {
    const tokens = ddl.match(/`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|[A-Za-z_0-9]+|[^\s]/g) ?? [];
    let at = 0;
    const next = () => tokens[at++];
    const skip = (t) => tokens[at]?.toUpperCase() === t && ++at > 0;
    const name = () => {
      const t = next() ?? "";
      return t[0] === "`" ? t.slice(1, -1).replaceAll("``", "`") : t;
    };
    const type = (n) => {
      const t = (next() ?? "").toUpperCase(), code = CODES[t];
      if (code === undefined) throw new TypeError(`schema ${JSON.stringify(ddl)}: type ${t} is not known to guests in JavaScript`);
      if (code === 8) {
        let precision = 10, scale = 0;
        if (skip("(")) {
          precision = +next();
          if (skip(",")) scale = +next();
          skip(")");
        }
        return [n, code, precision | scale << 8];
      }
      if (code === 14 || code === 15) {
        skip("<");
        const children = [type("element")];
        if (code === 15 && skip(",")) children.push(type("value"));
        skip(">");
        return [n, code, 0, ...children];
      }
      if (code === 16) {
        skip("<");
        return [n, code, 0, ...fields(">")];
      }
      return [n, code, 0];
    };
    const fields = (end) => {
      const out = [];
      while (at < tokens.length && !skip(end)) {
        const n = name();
        skip(":");
        out.push(type(n));
        if (skip("NOT")) skip("NULL");
        if (skip("COMMENT")) next();
        skip(",");
      }
      return out;
    };
    return fields("");
  };

  const described = { abi: 1, name: "", version: "", functions: [], statements: [], metrics: [] };
  const functions = new Map();
  const bound = [];
  const specs = (ddl) => columns(ddl).map((c) => host.spec(c));
  const rowsOf = (section, ddl, from) => host.rows(section, columns(ddl).map((c, i) => [c[0], host.spec(c), from + i]));
  let binary; // the type of accumulators and of what else the contract has in sections

  const ACCUMULATORS = 5, GROUP_INDEX = 6, GROUPS = 3, STATE = 4;
  const CALL = 0, MERGE = 1, FINISH = 2, COMMIT = 3;

  // Call is what a function gets beside its rows.
  class Call {
    constructor(b) {
      this.bound = b;
      this.config = b.config;
    }
    get rows() { return host.header(7); }
    get first() { return (host.header(1) & 1) !== 0; }
    get last() { return (host.header(1) & 2) !== 0; }
    get commit() { return host.header(0) === COMMIT; }
    get batchId() { return host.header(2); }
    get attempt() { return host.header(3); }
    get partition() { return host.header(4); }
    get watermark() { return host.header(5); }
    get batchTime() { return host.header(6); }
    // row gives an input row of the call.
    row(n) { return host.row(this.bound.input, n); }
    // exec runs a statement for every row of the input; the statement must be registered.
    exec(connection, sql) { return ok("sql", host.host(3, connection, sql)); }
    // execOnce runs a statement without parameters.
    execOnce(connection, sql) { return ok("sql", host.host(4, connection, sql)); }
    // produce sends the rows of the input to a topic.
    produce(topic) { return ok("produce", host.host(8, topic, "")); }
  }
  const STATUS = { "-3": "bad schema", "-5": "bad arguments", "-7": "denied: the pipeline does not allow it", "-8": "not found", "-9": "too large", "-10": "not supported" };
  const ok = (what, n) => {
    if (n < 0) throw new Error(`${what}: ${STATUS[n] ?? "failed"}`);
    return n;
  };
  const message = (e) => (e instanceof Error ? e.message : String(e));
  const builders = (types) => types.map((t) => host.builder(t));

  // A filter: keep says of a row whether it stays; what it throws refuses the row.
  globalThis.filterRows = (keep) => (c) => {
    const out = host.builder(bool), row = c.row(0);
    host.output(out);
    for (let i = 0, n = c.rows; i < n; i++) {
      let stays = false;
      host.at(row, i);
      try {
        stays = !!keep(row, c);
      } catch (e) {
        host.refuse(i, message(e));
      }
      host.add(out, stays);
    }
    return true;
  };

  // A scalar: value gives the value of a row.
  globalThis.scalarRows = (value) => (c) => {
    const out = host.builder(c.bound.output[0]), row = c.row(0);
    host.output(out);
    for (let i = 0, n = c.rows; i < n; i++) {
      host.at(row, i);
      try {
        host.add(out, value(row, c));
      } catch (e) {
        host.undo(out, i);
        host.add(out, null);
        host.refuse(i, message(e));
      }
    }
    return true;
  };

  // Parse and map functions: make gives an object with the output's columns, an array of them, or nothing.
  globalThis.parseRows = (make) => (c) => {
    const out = builders(c.bound.output), row = c.row(0), width = out.length;
    out.forEach(host.output);
    host.parent();
    let have = 0;
    for (let i = 0, n = c.rows; i < n; i++) {
      const before = have;
      host.at(row, i);
      try {
        const made = make(row, c);
        if (Array.isArray(made)) for (const m of made) host.emit(out[0], width, m), have++;
        else if (made !== undefined && made !== null) host.emit(out[0], width, made), have++;
        for (let k = before; k < have; k++) host.parent(i);
      } catch (e) {
        for (const b of out) host.undo(b, before);
        have = before;
        host.refuse(i, message(e));
      }
    }
    return true;
  };
  globalThis.mapRows = globalThis.parseRows;

  // An aggregate: zero makes a group's accumulator, which is kept as JSON; update folds a row into it, merge another
  // accumulator, and finish gives the group's value.
  globalThis.aggregateRows = ({ zero, update, merge, finish }) => (c) => {
    const op = host.header(0), read = (v) => (v === null ? zero() : JSON.parse(host.utf8(v)));
    if (op === FINISH) {
      const out = host.builder(c.bound.output[0]);
      host.output(out);
      for (let i = 0, n = c.rows; i < n; i++) host.add(out, finish(read(host.cell(0, 0, i))));
      return true;
    }
    const groups = host.sectionRows(ACCUMULATORS), acc = [];
    for (let g = 0; g < groups; g++) acc.push(read(host.cell(ACCUMULATORS, 0, g)));
    const row = c.row(0);
    for (let i = 0, n = c.rows; i < n; i++) {
      const g = host.cell(GROUP_INDEX, 0, i);
      if (op === MERGE) {
        const other = host.cell(0, 0, i);
        if (other !== null) acc[g] = merge(acc[g], read(other)) ?? acc[g];
      } else {
        host.at(row, i);
        acc[g] = update(acc[g], row, c) ?? acc[g];
      }
    }
    const out = host.builder(binary);
    for (const a of acc) host.add(out, JSON.stringify(a));
    host.section(ACCUMULATORS, groups, out);
    return true;
  };

  // Group is a key of a state function: its columns are in key, its old state, if there is one, in state.
  class Group {
    constructor(c, index, from, to, flags, timeout) {
      Object.assign(this, { index, from, to, timedOut: (flags & 2) !== 0, hasState: (flags & 1) !== 0, timeout });
      this.call = c;
      this.key = host.row(c.bound.keys, index);
      this.state = this.hasState ? host.row(c.bound.old, index) : null;
      this.action = 0;
      this.next = null;
      this.wanted = null;
    }
    // rows are the key's input rows.
    *rows() {
      for (let i = this.from; i < this.to; i++) yield this.call.row(i);
    }
    // set makes an object with the state's columns the key's state; remove forgets the key.
    set(state) { this.action = 1, this.next = state; }
    remove() { this.action = 2, this.next = null; }
    // setTimeout asks for a call when the watermark (or the time) has passed t, in microseconds.
    setTimeout(t) { this.wanted = t; }
  }

  // A state function: each is called for every key, and gives rows as parseRows does.
  globalThis.groups = (each) => (c) => {
    const out = builders(c.bound.output), state = builders(c.bound.state), action = host.builder(int8), wanted = host.builder(int64);
    out.forEach(host.output);
    host.parent();
    const n = host.sectionRows(GROUPS);
    for (let i = 0, from = 0; i < n; i++) {
      const to = host.cell(GROUPS, 0, i), g = new Group(c, i, from, to, host.cell(GROUPS, 1, i), host.cell(GROUPS, 2, i));
      const made = each(g, c), rows = Array.isArray(made) ? made : made === undefined || made === null ? [] : [made];
      for (const m of rows) host.emit(out[0], out.length, m), host.parent(i);
      host.add(action, g.action);
      host.add(wanted, g.wanted ?? -(2n ** 63n));
      if (g.action === 1 && state.length) host.emit(state[0], state.length, g.next);
      else for (const b of state) host.add(b, null);
      from = to;
    }
    host.section(STATE, n, action, wanted, ...state);
    return true;
  };

  // A foreachBatch function: write is called for each slice of a batch, finish, if there, after the last one.
  globalThis.foreachBatch = (write, finish) => (c) => {
    if (c.commit) finish?.(c);
    else write(c);
    return false;
  };

  // module names the guest; add adds a function; statement and metric name what it uses of the host.
  globalThis.module = (name, version) => Object.assign(described, { name, version });
  globalThis.statement = (sql) => (described.statements.push(sql), sql);
  globalThis.metric = (name) => (described.metrics.push(name), name);
  globalThis.add = (name, kind, input, output, call) => {
    const f = { name, kind, input };
    if (output) f.output = output;
    described.functions.push(f);
    functions.set(name, { f, call });
    return {
      state(key, state, mode, timeout, time) {
        Object.assign(f, { key, state, mode, timeout });
        if (time) f.time = time;
        return this;
      },
      doc(text) {
        f.doc = text;
        return this;
      },
    };
  };
  // utf8 is the text that bytes are; a text stays what it is.
  globalThis.utf8 = host.utf8;
  globalThis.log = (text, level = 1) => void host.host(0, String(text), String(level));
  globalThis.addMetric = (name, delta) => host.host(1, name, delta);
  globalThis.observe = (name, value) => host.host(2, name, value);
  // Values of a namespace, which are texts; null where there is none.
  globalThis.kv = {
    get(ns, key) {
      const v = host.host(5, ns, key);
      return typeof v === "number" ? ok("kv", v) : v;
    },
    put: (ns, key, value) => void ok("kv", host.host(6, ns, key, value)),
    delete: (ns, key) => void ok("kv", host.host(7, ns, key)),
  };
  const say = (level) => (...a) => globalThis.log(a.map(String).join(" "), level);
  globalThis.console = { log: say(1), info: say(1), debug: say(0), warn: say(2), error: say(3) };

  const bool = host.spec(["", 1, 0]), int8 = host.spec(["", 2, 0]), int64 = host.spec(["", 5, 0]);
  binary = host.spec(["", 13, 0]);

  return {
    manifest() {
      if (!described.name) throw new Error("the script does not call module(name, version)");
      return JSON.stringify(described);
    },
    bind(text) {
      const request = JSON.parse(text), found = functions.get(request.function);
      if (!found) throw new Error(`no function ${JSON.stringify(request.function)}`);
      const { f, call } = found;
      const quoted = (c) => "`" + c.name.replaceAll("`", "``") + "` " + c.type;
      const input = request.input.map(quoted).join(", ");
      const b = { config: request.config, call, input: rowsOf(0, input, 0), output: [], state: [] };
      if (f.output) b.output = specs(f.output === "same" ? input : f.output);
      if (f.key) b.keys = rowsOf(GROUPS, f.key, 3);
      if (f.state) b.state = specs(f.state), b.old = rowsOf(STATE, f.state, 0);
      b.call = new Call(b);
      b.run = call;
      return bound.push(b) - 1;
    },
    call(h) { return bound[h].run(bound[h].call); },
  };
})();
