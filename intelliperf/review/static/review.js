// Keys of the inbox. Every page works without this file.
"use strict";
const rows = [...document.querySelectorAll(".inbox > li")];
const current = () => rows.findIndex((row) => row.contains(document.activeElement));
const focusRow = (number) => rows[Math.max(0, Math.min(rows.length - 1, number))]?.querySelector("a.open").focus();
const KEYS = {
  j: () => focusRow(current() + 1),
  k: () => focusRow(current() - 1),
  x: () => rows[current()]?.querySelector("input").click(),
  "/": () => document.getElementById("search")?.focus(),
};
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input:not([type=checkbox]), select, textarea");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});
