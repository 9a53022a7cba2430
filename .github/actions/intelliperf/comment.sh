#!/usr/bin/env bash
# Writes $SUMMARY as the one comment of intelliperf on pull request $NUMBER: updated, never repeated.
set -euo pipefail

marker='<!-- intelliperf verify -->'
most=60000 # GitHub refuses comments of more than 65,536 characters
body=$(mktemp)
trap 'rm -f "$body"' EXIT
# A comment must not notify people whose names a patch mentions.
{ echo "$marker"; head -c "$most" "$SUMMARY" | iconv -f utf-8 -t utf-8 -c | sed 's/@\([A-Za-z0-9]\)/@\xe2\x80\x8b\1/g'; } >"$body"

mine=$(gh api --paginate "repos/$REPOSITORY/issues/$NUMBER/comments" \
  --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id" | head -n 1)
if [ -n "$mine" ]; then
  gh api --silent -X PATCH "repos/$REPOSITORY/issues/comments/$mine" -F "body=@$body"
else
  gh api --silent -X POST "repos/$REPOSITORY/issues/$NUMBER/comments" -F "body=@$body"
fi
