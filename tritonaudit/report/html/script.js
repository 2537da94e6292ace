"use strict";
document.addEventListener("DOMContentLoaded", () => {
  rememberScheme();
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
