#!/usr/bin/env bash
# Back up a folder every night, keep seven dailies and four weeklies, and say what went wrong.
set -euo pipefail
IFS=$'\n\t'

readonly SOURCE="${1:?usage: $0 SOURCE TARGET}"
readonly TARGET="${2:?usage: $0 SOURCE TARGET}"
readonly STAMP="$(date -u +%Y-%m-%dT%H%M%SZ)"
readonly LOCK="${TARGET}/.lock"

log() { printf '%s %s\n' "$(date -u +%H:%M:%S)" "$*" >&2; }
die() { log "error: $*"; exit 1; }

cleanup() {
  local status=$?
  [[ -n "${partial:-}" && -e "$partial" ]] && rm -rf -- "$partial"
  exit "$status"
}
trap cleanup EXIT
trap 'die "interrupted"' INT TERM

[[ -d "$SOURCE" ]] || die "no such folder: $SOURCE"
mkdir -p -- "$TARGET/daily" "$TARGET/weekly"

exec 9>"$LOCK"
flock -n 9 || die "another backup is running (see $LOCK)"

free_kb=$(df --output=avail -k -- "$TARGET" | tail -n 1)
need_kb=$(du -sk -- "$SOURCE" | cut -f1)
(( free_kb > need_kb * 11 / 10 )) || die "needs ${need_kb} kB, only ${free_kb} kB free"

partial="$TARGET/daily/.${STAMP}.tar.zst"
log "packing $SOURCE ..."
tar --create --exclude-vcs --sort=name -C "$(dirname -- "$SOURCE")" "$(basename -- "$SOURCE")" |
  zstd -q -T0 -10 -o "$partial"
mv -- "$partial" "$TARGET/daily/${STAMP}.tar.zst"

if [[ "$(date -u +%u)" == 7 ]]; then
  ln -- "$TARGET/daily/${STAMP}.tar.zst" "$TARGET/weekly/"
fi

prune() { # prune FOLDER KEEP
  find "$1" -maxdepth 1 -name '*.tar.zst' -printf '%f\n' | sort -r | tail -n "+$(( $2 + 1 ))" |
    while read -r old; do
      log "removing $1/$old"
      rm -f -- "$1/$old"
    done
}
prune "$TARGET/daily" 7
prune "$TARGET/weekly" 4
log "done: $(du -h -- "$TARGET/daily/${STAMP}.tar.zst" | cut -f1)"
