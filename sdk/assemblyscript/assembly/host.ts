// What a guest may ask of the host. What the pipeline does not allow gives a negative number.

// @ts-ignore: decorator
@external("wstream_log_v1", "write")
declare function hostLog(level: i32, at: usize, n: u32): void;
// @ts-ignore: decorator
@external("wstream_metric_v1", "add")
declare function hostAdd(name: usize, n: u32, value: f64): i32;
// @ts-ignore: decorator
@external("wstream_metric_v1", "observe")
declare function hostObserve(name: usize, n: u32, value: f64): i32;
// @ts-ignore: decorator
@external("wstream_sql_v1", "exec")
declare function hostExec(c: usize, cn: u32, s: usize, sn: u32, f: usize, fn: u32): i64;
// @ts-ignore: decorator
@external("wstream_produce_v1", "produce")
declare function hostProduce(t: usize, tn: u32, f: usize, fn: u32): i64;
// @ts-ignore: decorator
@external("wstream_kv_v1", "get")
declare function hostGet(ns: usize, nn: u32, k: usize, kn: u32, b: usize, room: u32): i64;
// @ts-ignore: decorator
@external("wstream_kv_v1", "put")
declare function hostPut(ns: usize, nn: u32, k: usize, kn: u32, v: usize, vn: u32): i64;
// @ts-ignore: decorator
@external("wstream_kv_v1", "delete")
declare function hostDelete(ns: usize, nn: u32, k: usize, kn: u32): i64;

function size(b: ArrayBuffer): u32 { return <u32>b.byteLength; }
function at(b: ArrayBuffer): usize { return changetype<usize>(b); }

/** Writes a line to the host's log. Level is 0 debug, 1 info, 2 warning, 3 error. */
export function log(level: i32, text: string): void {
  const b = String.UTF8.encode(text);
  hostLog(level, at(b), size(b));
}

/** Adds to a metric of the manifest. */
export function addMetric(name: string, delta: f64): void {
  const b = String.UTF8.encode(name);
  hostAdd(at(b), size(b), delta);
}

/** Notes a value of a metric of the manifest. */
export function observe(name: string, value: f64): void {
  const b = String.UTF8.encode(name);
  hostObserve(at(b), size(b), value);
}

export function execute(connection: string, statement: string, frame: usize, n: u32): i64 {
  const c = String.UTF8.encode(connection), s = String.UTF8.encode(statement);
  return hostExec(at(c), size(c), at(s), size(s), frame, n);
}

export function produceRows(topic: string, frame: usize, n: u32): i64 {
  const t = String.UTF8.encode(topic);
  return hostProduce(at(t), size(t), frame, n);
}

/** Reads a value of a namespace; null where there is none, or it is denied. */
export function get(namespace: string, key: string): ArrayBuffer | null {
  const ns = String.UTF8.encode(namespace), k = String.UTF8.encode(key);
  let room: u32 = 256;
  while (true) {
    const b = new ArrayBuffer(room);
    const n = hostGet(at(ns), size(ns), at(k), size(k), at(b), room);
    if (n < 0) return null;
    if (n <= <i64>room) return b.slice(0, <i32>n);
    room = <u32>n;
  }
}

/** Writes a value of a namespace. */
export function put(namespace: string, key: string, value: ArrayBuffer): i64 {
  const ns = String.UTF8.encode(namespace), k = String.UTF8.encode(key);
  return hostPut(at(ns), size(ns), at(k), size(k), at(value), size(value));
}

/** Removes a value of a namespace. */
export function remove(namespace: string, key: string): i64 {
  const ns = String.UTF8.encode(namespace), k = String.UTF8.encode(key);
  return hostDelete(at(ns), size(ns), at(k), size(k));
}
