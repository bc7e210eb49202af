# shellcheck shell=bash disable=SC2034
# Sourced by the other scripts: the root folder, cargo on the PATH, messages.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case ":$PATH:" in
*":${CARGO_HOME:-$HOME/.cargo}/bin:"*) ;;
*) PATH="$PATH:${CARGO_HOME:-$HOME/.cargo}/bin" ;;
esac
me=$(basename "$0")

say() { printf '%s: %s\n' "$me" "$*"; }
die() {
    printf '%s: error: %s\n' "$me" "$*" >&2
    exit 1
}
