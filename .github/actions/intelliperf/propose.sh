#!/usr/bin/env bash
# Opens a pull request for each accepted patch in $PATCHES (ID.diff with ID.md, as `intelliperf review --accepted` writes
# them) that has none yet: one branch, one commit, the verdict as its description. Runs in a clone that may push.
set -euo pipefail

base=${BASE:-$(git rev-parse --abbrev-ref HEAD)}
start=$(git rev-parse HEAD)
owner=${REPOSITORY%%/*}
if ! git config user.name >/dev/null; then
  git config user.name "github-actions[bot]"
  git config user.email "41898282+github-actions[bot]@users.noreply.github.com"
fi
for diff in "$PATCHES"/*.diff; do
  [ -f "$diff" ] || continue
  name=$(basename "$diff" .diff)
  branch="intelliperf/$name"
  text="$PATCHES/$name.md"
  known=$(gh api "repos/$REPOSITORY/pulls?state=all&head=$owner:$branch" --jq length)
  if [ "$known" != 0 ]; then
    echo "$branch: has a pull request"
    continue
  fi
  git checkout --quiet -B "$branch" "$start"
  if ! git apply --index --directory="${PROJECT:-.}" "$diff"; then
    echo "::warning::patch $name no longer applies to $base"
    git checkout --quiet --force "$start"
    continue
  fi
  title=$(head -n 1 "$text" | sed 's/^# *//' | cut -c1-72)
  trailers=$(grep -E '^IntelliPerf-(Run|Patch): ' "$text" || true)
  git commit --quiet --message "$title" --message "See the pull request for the verdict." --message "$trailers"
  git push --quiet --force origin "$branch"
  gh api --silent -X POST "repos/$REPOSITORY/pulls" -f "title=$title" -f "head=$branch" -f "base=$base" -F "body=@$text"
  echo "$branch: pull request opened"
done
git checkout --quiet --force "$start"
