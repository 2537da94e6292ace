"use strict";
document.addEventListener("DOMContentLoaded", () => {
  rememberScheme();
  copyable();
  printable();
  const list = document.getElementById("finding-list");
  if (list && document.getElementById("finding-controls")) groupable(list);
  openTarget();
  window.addEventListener("hashchange", openTarget);
  const table = document.getElementById("case-table");
  if (table) {
    sortable(table);
    filterable(table);
  }
});

function rememberScheme() {
  const key = "tritonaudit-scheme";
  const choices = [...document.getElementsByName("scheme")];
  try {
    const kept = choices.find((choice) => choice.value === localStorage.getItem(key));
    if (kept) kept.checked = true;
    for (const choice of choices) {
      choice.addEventListener("change", () => localStorage.setItem(key, choice.value));
    }
  } catch {
    // Where nothing can be kept the switch works all the same.
  }
}

function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
}

function printable() {
  // For browsers whose style cannot open what is folded.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
}

function copyable() {
  for (const command of document.querySelectorAll(".command")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-live", "polite");
    command.after(button);
  }
  document.addEventListener("click", async ({ target }) => {
    if (!(target instanceof HTMLButtonElement) || target.className !== "copy") return;
    target.textContent = (await copied(target.previousElementSibling)) ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (target.textContent = "Copy"), 2000);
  });
}

async function copied(element) {
  getSelection().selectAllChildren(element);
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    // A file that was opened from a disk may lack the right; what is selected can be copied all the same.
    return document.execCommand("copy");
  }
}

const LEVELS = ["CRITICAL", "HIGH", "MEDIUM", "LOW"];
const STAGES = ["source", "compile", "run", "measure"];

function groupable(list) {
  const control = (name) => document.getElementById(`finding-${name}`);
  const [form, text, count, grouping] = ["controls", "text", "count", "group-by"].map(control);
  const keys = ["kernel", "rule", "severity", "stage"];
  const groups = [...list.children];
  const found = groups.flatMap((group) => {
    const kernel = group.firstElementChild.textContent;
    return [...group.querySelectorAll(".finding")].map((element) => facts(element, group, kernel));
  });
  const values = Object.fromEntries(keys.map((key) => [key, ordered(key, found)]));
  for (const key of keys) {
    const counts = Map.groupBy(found, (one) => one[key]);
    for (const value of values[key]) {
      control(key).add(new Option(`${value} (${counts.get(value).length})`, value));
    }
  }

  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = keys.map((key) => [key, control(key).value]).filter(([, value]) => value);
    let shown = 0;
    for (const one of found) {
      const isShown = wanted.every(([key, value]) => one[key] === value) && hasAll(one, words);
      one.element.hidden = !isShown;
      shown += isShown;
    }
    for (const group of list.children) group.hidden = !group.querySelector(".finding:not([hidden])");
    count.value = `${shown} of ${found.length}`;
  };
  const regroup = () => {
    const key = grouping.value;
    if (key === "kernel") {
      for (const one of found) one.group.append(one.element);
      list.replaceChildren(...groups);
    } else {
      const made = new Map(values[key].map((value) => [value, groupOf(value)]));
      for (const level of LEVELS) {
        for (const one of found) if (one.severity === level) made.get(one[key]).append(one.element);
      }
      list.replaceChildren(...made.values());
    }
    filter();
  };

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(regroup));
  grouping.addEventListener("input", regroup);
  for (const one of [text, ...keys.map(control)]) one.addEventListener("input", filter);
  for (const link of document.querySelectorAll('a[href^="#kernel-"]')) {
    link.addEventListener("click", () => {
      form.reset();
      const group = groups.find((one) => `#${one.id}` === link.getAttribute("href"));
      control("kernel").value = group.firstElementChild.textContent;
      regroup();
    });
  }
}

function facts(element, group, kernel) {
  const [severity, rule] = element.textContent.trim().split(/\s+/, 2);
  const stage = { 3: "compile", 4: "run", 5: "measure" }[rule[3]] || "source";
  return { element, group, kernel, rule, stage, severity, text: null };
}

function ordered(key, found) {
  const values = [...new Set(found.map((one) => one[key]))];
  const order = { severity: LEVELS, stage: STAGES }[key];
  return order ? order.filter((value) => values.includes(value)) : key === "rule" ? values.sort() : values;
}

function hasAll(one, words) {
  if (words.length && one.text === null) one.text = one.element.textContent.toLowerCase();
  return words.every((word) => one.text.includes(word));
}

function groupOf(name) {
  const group = document.createElement("div");
  const heading = document.createElement("h3");
  group.className = "group";
  heading.textContent = name;
  group.append(heading);
  return group;
}

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const isUp = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
      sort(table.tBodies[0], column, isUp ? 1 : -1);
    });
  });
}

function sort(body, column, direction) {
  const keyed = [...body.rows].map((row) => [row.cells[column].textContent, row]);
  const order = new Intl.Collator("en", { numeric: true });
  keyed.sort(([one], [other]) => direction * compare(one, other, order));
  body.append(...keyed.map(([, row]) => row));
}

function compare(one, other, order) {
  const [first, second] = [number(one), number(other)];
  return first !== null && second !== null ? first - second : order.compare(one, other);
}

function number(text) {
  const named = { inf: Infinity, nan: Number.MAX_VALUE };
  if (text in named) return named[text];
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : null;
}

function filterable(table) {
  const [controls, text, status, count] = ["controls", "text", "status", "count"].map((name) =>
    document.getElementById(`case-${name}`),
  );
  const rows = [...table.tBodies[0].rows].map((row) => [row, row.textContent.toLowerCase()]);
  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const [row, content] of rows) {
      const isShown =
        (!status.value || row.dataset.status === status.value) && words.every((word) => content.includes(word));
      row.hidden = !isShown;
      shown += isShown;
    }
    count.value = `${shown} of ${rows.length}`;
  };
  controls.hidden = false;
  controls.addEventListener("submit", (event) => event.preventDefault());
  for (const control of [text, status]) control.addEventListener("input", filter);
}
