#!/usr/bin/env bash
# Makes a check run of the verdict on commit $SHA: success only for an accepted patch, neutral where nothing was judged.
set -euo pipefail

body=$(mktemp)
trap 'rm -f "$body"' EXIT
python3 - "$SUMMARY" "$STATUS" "$SHA" >"$body" <<'PY'
import json
import sys

path, status, sha = sys.argv[1:]
text = open(path, encoding="utf-8", errors="replace").read()
title = text.partition("\n")[0].lstrip("# ").strip()[:255]
conclusion = {"0": "success", "3": "failure"}.get(status, "neutral")
output = {"title": title or "no verdict", "summary": text[:60000]}  # GitHub takes 65,535 characters
print(json.dumps({"name": "intelliperf verify", "head_sha": sha, "status": "completed",
                  "conclusion": conclusion, "output": output}))
PY
gh api --silent -X POST "repos/$REPOSITORY/check-runs" --input "$body"
