#!/usr/bin/env bash
# alive.sh LABEL COMMAND…: runs a command, and says that it is still at work while it prints nothing.
#
# Says LABEL at once, then how long it has been whenever 10 s passed without a line of output, and the time it took.
# The words go to standard error; the command's output and exit code are its own.
set -uo pipefail
label=$1
shift
printf '%s…\n' "$label" >&2
begin=$SECONDS
mark=$(mktemp)
trap 'rm -f "$mark"' EXIT

# The watcher ends with its parent's mark.
(
  trap - EXIT
  while sleep 10 && [ -e "$mark" ]; do
    [ -n "$(find "$mark" -newermt '-9 seconds' 2>/dev/null)" ] || printf '%s… %d s\n' "$label" $((SECONDS - begin)) >&2
  done
) >/dev/null &
watcher=$!

"$@" > >(while IFS= read -r line; do printf '%s\n' "$line"; : >"$mark"; done; [ -z "$line" ] || printf '%s' "$line")
status=$?
kill "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
wait
[ "$status" = 0 ] && printf '%s: %d s\n' "$label" $((SECONDS - begin)) >&2
exit "$status"
