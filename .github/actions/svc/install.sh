#!/usr/bin/env bash
# Unpacks svc's npm package once its hash is right, and puts it on the PATH of the later steps. It contains all that it
# needs but Node: nothing else is downloaded, and no script of it runs.
set -euo pipefail

main() {
  [[ $SVC_VERSION =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "not a version: use one such as 0.1.0"
  [[ $SVC_SHA256 =~ ^[0-9a-f]{64}$ ]] || fail "sha256 has to be 64 hexadecimal digits, from SHA256SUMS"
  local directory=$RUNNER_TEMP/svc-$SVC_VERSION name=svc-cli-$SVC_VERSION.tgz
  mkdir -p "$directory/bin"
  local package=$SVC_FILE
  if [ -z "$package" ]; then
    package=$directory/$name
    curl --fail --silent --show-error --location --retry 3 --output "$package" "$SVC_RELEASES/v$SVC_VERSION/$name"
  fi
  [ "$(sum_of "$package")" = "$SVC_SHA256" ] || fail "$name has another hash than expected: nothing was installed"
  tar -xz -C "$directory" <"$package"
  printf '#!/bin/sh\nexec node "%s" "$@"\n' "$directory/package/bin/svc.js" >"$directory/bin/svc"
  chmod 755 "$directory/bin/svc"
  [ "$("$directory/bin/svc" --version)" = "$SVC_VERSION" ] || fail "$name contains a version other than $SVC_VERSION"
  echo "$directory/bin" >>"$GITHUB_PATH"
  # Later steps may run in other directories.
  case $SVC_STATE in
  /* | [A-Za-z]:*) echo "SVC_STATE_DIR=$SVC_STATE" ;;
  *) echo "SVC_STATE_DIR=$GITHUB_WORKSPACE/$SVC_STATE" ;;
  esac >>"$GITHUB_ENV"
  # A saved state is found by the start of its key, which the name of another workflow may begin with. The hash of this
  # workflow's path, without the branch, is of one length and no other's.
  printf '%s' "${GITHUB_WORKFLOW_REF%%@refs/*}" >"$directory/workflow"
  echo "state-prefix=svc-$(sum_of "$directory/workflow")-" >>"$GITHUB_OUTPUT"
}

sum_of() {
  if command -v sha256sum >/dev/null; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d ' ' -f 1
}

fail() {
  echo "::error::svc: $1" >&2
  exit 1
}

main
