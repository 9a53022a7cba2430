#!/usr/bin/env bash
# Runs intelliperf for action.yml: settings come as variables, results go to the job's outputs and summary.
set -euo pipefail

results="$RUNNER_TEMP/intelliperf-results"
rm -rf "$results"
mkdir -p "$results" "$RUNNER_TEMP/intelliperf-runs"
status=0
case "$MODE" in
verify)
  [ -n "$COMMAND" ] || { echo "::error::verify needs the input 'command'"; exit 1; }
  [ -n "$BASE" ] || { echo "::error::verify needs the input 'base'"; exit 1; }
  build=()
  [ -z "$BUILD" ] || build=(--build-command "$BUILD")
  (cd "$PROJECT" && intelliperf verify "$BASE..HEAD" --backend emulator --target "$TARGET" \
    --run-root "$RUNNER_TEMP/intelliperf-runs" "${build[@]}" -- /bin/sh -c "$COMMAND") 2>"$results/stderr" || status=$?
  cat "$results/stderr" >&2
  run=$(find "$RUNNER_TEMP/intelliperf-runs" -name report.json -printf '%T@ %h\n' | sort -n | tail -1 | cut -d' ' -f2-)
  if [ -n "$run" ]; then
    cp "$run/report.json" "$run/report.html" "$run/summary.md" "$results"
    [ ! -f "$run/verdict.sarif" ] || cp "$run/verdict.sarif" "$results"
  else
    # Nothing was judged, so nothing is claimed.
    { echo "# intelliperf verify: no verdict"; echo; echo '```'; tail -c 4000 "$results/stderr" | tr -d '`'; echo '```'; } >"$results/summary.md"
  fi
  ;;
propose)
  [ -n "${DATABASE:-}" ] || { echo "::error::propose needs the input 'database'"; exit 1; }
  intelliperf review --database "$DATABASE" --accepted "$results/accepted" | tee "$results/summary.md" || status=$?
  ;;
nightly)
  intelliperf nightly "$FILE" --nights "$results/nights" --database "${INTELLIPERF_DATABASE:-.intelliperf/history.db}" || status=$?
  find "$results/nights" -name summary.md -exec cat {} + >"$results/summary.md" || true
  ;;
*)
  echo "::error::mode is verify, nightly or propose, not '$MODE'"
  exit 1
  ;;
esac
head -c 900000 "$results/summary.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
printf 'status=%s\nresults=%s\n' "$status" "$results" >>"$GITHUB_OUTPUT"
