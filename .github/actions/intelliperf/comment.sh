#!/usr/bin/env bash
# Writes $SUMMARY as the one comment of intelliperf on pull request $NUMBER: updated, never repeated.
set -euo pipefail

marker='<!-- intelliperf verify -->'
most=60000 # GitHub refuses comments of more than 65,536 characters
body=$(mktemp)
trap 'rm -f "$body"' EXIT
python3 - "$SUMMARY" "$marker" "$most" >"$body" <<'PY'
import re
import sys

path, marker, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
text = open(path, "rb").read().decode("utf-8", "ignore")
report, patch, diff = text.partition("\n## Patch\n")
if patch:
    fence = re.match(r"\s*(`{3,})", diff)
    room = max(0, most - len(report))
    cut = "\n… (cut)\n" + (fence[1] if fence else "") if len(diff) > room else ""
    report += f"\n<details><summary>Patch</summary>\n\n{diff[:room].strip()}{cut}\n\n</details>\n"
# A comment must not notify people whose names a patch mentions.
print(marker + "\n" + re.sub(r"@(?=[A-Za-z0-9])", "@\u200b", report[: most + 100]))
PY

mine=$(gh api --paginate "repos/$REPOSITORY/issues/$NUMBER/comments" \
  --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id" | head -n 1)
if [ -n "$mine" ]; then
  gh api --silent -X PATCH "repos/$REPOSITORY/issues/comments/$mine" -F "body=@$body"
else
  gh api --silent -X POST "repos/$REPOSITORY/issues/$NUMBER/comments" -F "body=@$body"
fi
