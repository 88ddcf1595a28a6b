//! A guest in Zig: a filter that keeps large amounts.
const ws = @import("wstream.zig");

fn big(c: [*c]ws.c.ws_call) callconv(.c) i64 {
    const amount = ws.c.ws_f64(c, 0);
    const keep = ws.c.ws_bools(c);
    for (0..c.*.rows) |row| {
        ws.c.ws_add_bool(keep, @intFromBool(ws.c.ws_is_null(c, 0, @intCast(row)) == 0 and amount[row] > 50));
    }
    return ws.c.ws_finish(c);
}

comptime {
    ws.module(
        \\{"abi":1,"name":"sample","version":"1.0.0","functions":[
        \\{"name":"big","kind":"filter","input":"amount DOUBLE"}]}
    , &.{.{ .name = "big", .bind = null, .call = big }});
}
