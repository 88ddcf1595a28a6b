//! wstream.h for Zig (0.13 to 0.15): the header by @cImport, what of it Zig cannot translate, and the exports of a guest.
pub const c = @cImport(@cInclude("wstream.h"));

/// Exports a module: its manifest, which is JSON, and its functions. Call it in a comptime block.
pub fn module(comptime manifest: []const u8, comptime functions: []const c.ws_function) void {
    const Guest = struct {
        fn abi() callconv(.c) void {}
        fn describe() callconv(.c) i64 {
            return region(@intFromPtr(manifest.ptr), manifest.len);
        }
        fn buffer(min: u32) callconv(.c) u32 {
            return c.ws_module_buffer(min);
        }
        fn bind(p: [*c]const u8, n: u32) callconv(.c) i64 {
            return c.ws_module_bind(functions.ptr, functions.len, p, n);
        }
        fn call(handle: u32, p: [*c]const u8, n: u32) callconv(.c) i64 {
            return c.ws_module_call(handle, p, n);
        }
        fn failure() callconv(.c) i64 {
            return region(@intFromPtr(&c.ws_error_text), c.ws_error_len);
        }
    };
    @export(&Guest.abi, .{ .name = "wstream_abi_v1" });
    @export(&Guest.describe, .{ .name = "wstream_manifest" });
    @export(&Guest.buffer, .{ .name = "wstream_buffer" });
    @export(&Guest.bind, .{ .name = "wstream_bind" });
    @export(&Guest.call, .{ .name = "wstream_call" });
    @export(&Guest.failure, .{ .name = "wstream_error" });
    @export(&grow, .{ .name = "ws_grow" });
    @export(&trap, .{ .name = "ws_trap" });
}

fn region(at: usize, len: usize) i64 {
    return @bitCast(@as(u64, at) << 32 | len);
}

/// The header's ws_grow: makes the memory reach an address. Zig has builtins of its own for it.
fn grow(end: usize) callconv(.c) c_int {
    const need = end + c.WS_SLACK;
    const have = @wasmMemorySize(0) << 16;
    if (need <= have) return 1;
    return @intFromBool(@wasmMemoryGrow(0, (need - have + 65535) >> 16) != -1);
}

/// The header's ws_trap.
fn trap() callconv(.c) noreturn {
    @trap();
}
