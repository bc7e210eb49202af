# shellcheck shell=bash disable=SC2034
# The other scripts source this file. It sets the root folder, adds cargo to the PATH, and prints messages.
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
