"use strict";
// The editor of tables. The text in the form is the suite; the table is another view of it, and writes into it.
// Names and sentences are inserted as values and text, never as markup. `element` is that of the script of all pages.

// A larger table is edited as text: each cell is a field of its own.
const MOST_CELLS = 6000;

function parsed(text) {
  const rows = [];
  let row = [], cell = "", quoted = false, at = 0;
  while (at < text.length) {
    const sign = text[at];
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') { cell += '"'; at += 1; }
      else quoted = false;
    } else if (sign === '"' && cell === "") quoted = true;
    else if (sign === "\t") { row.push(cell); cell = ""; }
    else if (sign === "\n" || sign === "\r") {
      if (sign === "\r" && text[at + 1] === "\n") at += 1;
      row.push(cell); rows.push(row); row = []; cell = "";
    } else cell += sign;
    at += 1;
  }
  if (cell !== "" || row.length) { row.push(cell); rows.push(row); }
  return rows.filter((cells) => cells.length > 1 || cells[0] !== "");
}

function serialised(rows) {
  const cell = (text) => (/[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((row) => row.map(cell).join("\t") + "\n").join("");
}

class Grid {
  constructor(form) {
    this.form = form;
    this.text = form.elements.text;
    this.host = document.getElementById("table");
    this.draw();
    this.text.addEventListener("input", () => this.later());
    this.text.addEventListener("change", () => this.draw());
    this.host.addEventListener("input", () => { this.take(); this.later(); });
    this.host.addEventListener("paste", (event) => this.paste(event));
    this.host.addEventListener("keydown", (event) => this.key(event));
    this.check();
  }

  draw() {
    const rows = parsed(this.text.value);
    const fold = document.getElementById("as-text");
    this.host.replaceChildren();
    this.header = rows[0] || ["item"];
    this.settings = rows.slice(1).filter((row) => row[0].startsWith("#"));
    this.rows = rows.slice(1).filter((row) => !row[0].startsWith("#"));
    // A wider row is one of a damaged table, whose cells this table would lose.
    const wide = this.rows.some((row) => row.length > this.header.length && row.slice(this.header.length).some(Boolean));
    this.shown = !wide && this.header.length * (this.rows.length + 1) <= MOST_CELLS;
    if (!this.shown) { fold.open = true; return; }
    for (const row of this.rows) while (row.length < this.header.length) row.push("");
    const box = element("div", "scroll");
    box.tabIndex = -1;
    const table = element("table", "grid");
    const top = element("tr");
    this.header.forEach((name, column) => top.append(this.cell(name, "th", `heading ${column + 1}`, this.begins(column))));
    table.append(element("thead"));
    table.tHead.append(top);
    const body = element("tbody");
    this.rows.forEach((row, number) => body.append(this.line(row, number)));
    table.append(body);
    box.append(table);
    const buttons = element("p", "actions");
    for (const [label, action] of [
      ["Add a row", () => this.addRow()], ["Remove the row", () => this.removeRow()],
      ["Add a column", () => this.addColumn()], ["Remove the column", () => this.removeColumn()],
    ]) {
      const button = element("button", "small", label);
      button.type = "button";
      button.addEventListener("click", action);
      buttons.append(button);
    }
    this.host.append(box, buttons);
    box.addEventListener("focusin", (event) => { this.last = this.at(event.target); });
  }

  begins(column) {
    const condition = (name) => (name || "").split(":")[0];
    return column > 0 && condition(this.header[column]) !== condition(this.header[column - 1]);
  }

  line(row, number) {
    const line = element("tr");
    this.header.forEach((name, column) => {
      line.append(this.cell(row[column] || "", "td", `${name}, row ${number + 1}`, this.begins(column)));
    });
    return line;
  }

  cell(value, tag, label, begins) {
    const cell = element(tag, begins ? "begins" : "");
    const field = element("input");
    field.type = "text";
    field.value = value;
    field.dir = "auto";
    field.setAttribute("aria-label", label);
    field.autocomplete = "off";
    field.spellcheck = false;
    cell.append(field);
    return cell;
  }

  // The place of a field: [row, column], the header being row -1.
  at(field) {
    const cell = field.closest("th, td"), line = cell && cell.parentElement;
    if (!line) return null;
    return [line.parentElement.tagName === "THEAD" ? -1 : line.sectionRowIndex, cell.cellIndex];
  }

  field(row, column) {
    const table = this.host.querySelector("table");
    const line = row < 0 ? table.tHead.rows[0] : table.tBodies[0].rows[row];
    return line && line.cells[column] && line.cells[column].firstChild;
  }

  take() {
    const table = this.host.querySelector("table");
    const values = (line) => [...line.cells].map((cell) => cell.firstChild.value);
    this.header = values(table.tHead.rows[0]);
    this.rows = [...table.tBodies[0].rows].map(values);
    this.put();
  }

  put() {
    const width = this.header.length;
    const full = (row) => [...row, ...Array(Math.max(0, width - row.length)).fill("")];
    this.text.value = serialised([this.header, ...this.settings.map(full), ...this.rows]);
    changed = true;
  }

  redraw(place) {
    this.put();
    this.draw();
    const field = place && this.shown && this.field(...place);
    if (field) field.focus();
    this.later(0);
  }

  paste(event) {
    const text = event.clipboardData.getData("text/plain").replace(/\r\n?/g, "\n");
    const place = this.at(event.target);
    if (!place || !/[\t\n]/.test(text.replace(/\n$/, ""))) return;
    event.preventDefault();
    const block = parsed(text);
    // A whole table, with its header, takes the place of this one.
    if (block[0][0].trim().toLowerCase() === "item" && block[0].length > 1) {
      this.text.value = serialised(block);
      changed = true;
      this.draw();
      this.later(0);
      return;
    }
    const [first, left] = place;
    block.forEach((cells, down) => {
      const number = first + down;
      if (number >= 0) while (this.rows.length <= number) this.rows.push(this.header.map(() => ""));
      const row = number < 0 ? this.header : this.rows[number];
      cells.forEach((cell, right) => {
        while (this.header.length <= left + right) this.header.push("");
        row[left + right] = cell.trim();
      });
    });
    this.redraw(place);
  }

  key(event) {
    const place = this.at(event.target);
    const down = { ArrowDown: 1, Enter: 1, ArrowUp: -1 }[event.key];
    if (!place || !down || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (event.key === "Enter" && place[0] === this.rows.length - 1) return this.addRow(place[1]);
    const next = this.field(place[0] + down, place[1]);
    if (next) next.focus();
  }

  addRow(column = 0) {
    const ids = this.rows.map((row) => Number(row[0])).filter(Number.isInteger);
    const row = this.header.map(() => "");
    row[0] = String(Math.max(0, ...ids) + 1);
    this.rows.push(row);
    this.redraw([this.rows.length - 1, column || 1]);
  }

  removeRow() {
    const row = this.last ? this.last[0] : this.rows.length - 1;
    if (row < 0 || !this.rows.length) return;
    this.rows.splice(row, 1);
    this.redraw([Math.min(row, this.rows.length - 1), this.last ? this.last[1] : 0]);
  }

  addColumn() {
    const column = this.last ? this.last[1] + 1 : this.header.length;
    const before = this.header[column - 1] || "";
    this.header.splice(column, 0, before.includes(":") ? `${before.split(":")[0]}:` : "");
    for (const row of this.rows) row.splice(column, 0, "");
    this.redraw([-1, column]);
  }

  removeColumn() {
    const column = this.last ? this.last[1] : this.header.length - 1;
    if (column < 1) return;
    this.header.splice(column, 1);
    for (const row of this.rows) row.splice(column, 1);
    this.redraw([-1, Math.min(column, this.header.length - 1)]);
  }

  later(wait = 500) {
    changed = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), wait);
  }

  async check() {
    const found = await checked(this.form);
    if (!found) return;
    list(found);
    if (this.shown) this.mark(found);
  }

  // The findings at their places, and what predictions compare.
  mark(found) {
    const table = this.host.querySelector("table");
    if (!table) return;
    const rows = [...table.tBodies[0].rows];
    const clean = this.header.map((name) => name.trim());
    const where = clean.findIndex((name) => name.toLowerCase() === "condition");
    const column = (condition, region) => clean.findIndex((name) =>
      (where < 0 ? name === `${condition}:${region}` : name === region));
    for (const cell of table.querySelectorAll("td, th")) { cell.classList.remove("wrong", "doubtful", "compared"); cell.removeAttribute("title"); }
    const whole = (region, condition) => region === "*" && clean.some((name) => name === `${condition}:sentence` || name === "sentence");
    for (const [region, condition] of found.compared) {
      const at = column(condition, whole(region, condition) ? "sentence" : region);
      if (at < 0) continue;
      if (where < 0) table.tHead.rows[0].cells[at].classList.add("compared");
      for (const line of rows) {
        if (where < 0 || line.cells[where].firstChild.value.trim() === condition) line.cells[at].classList.add("compared");
      }
    }
    for (const finding of found.findings) {
      const kind = finding.error ? "wrong" : "doubtful";
      for (const line of rows) {
        if (!finding.item || line.cells[0].firstChild.value.trim() !== finding.item) continue;
        if (where >= 0 && finding.condition && line.cells[where].firstChild.value.trim() !== finding.condition) continue;
        const begins = clean.flatMap((name, at) => (finding.condition && name.startsWith(`${finding.condition}:`) ? [at] : []));
        const exact = finding.region ? [column(finding.condition, finding.region)].filter((at) => at >= 0) : [];
        for (const at of exact.length ? exact : begins.length ? begins : [0]) {
          line.cells[at].classList.add(kind);
          line.cells[at].title = `${finding.code} ${finding.message}`;
        }
      }
      const broken = /^line (\d+)/.exec(finding.message);
      if (broken && !finding.item) {
        const line = rows[Number(broken[1]) - 2 - this.settings.length];
        if (line) line.cells[0].classList.add("wrong");
      }
    }
  }
}

// The findings of `check` in the text of a form; null if another text was sent since, or the server can't be reached.
let asked = 0;
async function checked(form) {
  const number = (asked += 1);
  const fields = new URLSearchParams({ text: form.elements.text.value, ending: form.dataset.ending });
  try {
    const answer = await fetch("/write/check", { method: "POST", body: fields });
    return answer.ok && number === asked ? await answer.json() : null;
  } catch { return null; }
}

function list(found) {
  // The editor of templates marks lines.
  document.dispatchEvent(new CustomEvent("found", { detail: found }));
  const errors = found.findings.filter((finding) => finding.error).length;
  const warnings = found.findings.length - errors;
  const many = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  document.getElementById("found").textContent = `${many(errors, "error")}, ${many(warnings, "warning")}`;
  document.getElementById("findings").replaceChildren(...found.findings.map((finding) => {
    const line = element("li", finding.error ? "error" : "");
    const place = ["item", "condition", "region"].filter((kind) => finding[kind]).map((kind) => `${kind} ${finding[kind]}`).join(", ");
    line.append(element("b", "", finding.code), " ");
    if (place) line.append(element("bdi", "", place), ": ");
    line.append(`${finding.message}. ${finding.cure}`);
    return line;
  }), ...(found.more ? [element("li", "", `and ${found.more} more`)] : []));
}

// The builder says what it would add, in words.
function words(form) {
  const told = document.getElementById("words");
  const value = (name) => form.elements[name].value;
  const say = () => {
    if (value("formula").trim()) { told.textContent = "the formula counts"; return; }
    const region = value("region") === "*" ? "the whole sentence" : `the ${value("region")}`;
    const relation = form.elements.relation.selectedOptions[0].textContent;
    const than = value("relation") === "=" ? "as" : "than";
    told.textContent = value("third") && value("fourth")
      ? `the surprisal of ${region} rises from ${value("second")} to ${value("first")} ${{ "<": "by less than", ">": "more than", "=": "as much as" }[value("relation")]} from ${value("fourth")} to ${value("third")}`
      : `${region} ${relation} in ${value("first")} ${than} in ${value("second")}`;
  };
  form.addEventListener("change", say);
  say();
}

// A job that is at work is looked at again and again; the page is loaded anew when it ends.
async function watchJob(form) {
  let before = null;
  const look = async () => {
    const answer = await fetch(form.dataset.job);
    if (!answer.ok) return;
    const found = await answer.json();
    if (before && before !== found.state) { location.reload(); return; }
    before = found.state;
    const bar = form.querySelector("progress");
    if (bar) {
      bar.max = found.total || 1;
      bar.value = found.done;
      const note = bar.parentElement.querySelector(".hint");
      if (note) note.textContent = found.note;
    }
    setTimeout(() => look().catch(() => {}), 700);
  };
  await look();
}

// Two people may edit a suite: each is told when the other has saved.
async function watchSuite(form) {
  const look = async () => {
    const answer = await fetch(`/write/${encodeURIComponent(form.dataset.name)}/digest`);
    const note = document.getElementById("elsewhere");
    if (answer.ok && (await answer.json()) !== form.elements.base.value) {
      note.querySelector("a").href = `/write/${encodeURIComponent(form.dataset.name)}`;
      note.hidden = false;
      return;
    }
    setTimeout(() => look().catch(() => {}), 5000);
  };
  await look();
}

let changed = false;
const editor = document.getElementById("editor");
if (editor) {
  if (editor.dataset.ending === ".tsv") new Grid(editor);
  else {
    let timer = 0;
    const check = async () => { const found = await checked(editor); if (found) list(found); };
    editor.elements.text.addEventListener("input", () => { changed = true; clearTimeout(timer); timer = setTimeout(check, 500); });
  }
  if (editor.elements.region) words(editor);
  if (editor.dataset.name) watchSuite(editor).catch(() => {});
  editor.addEventListener("submit", () => { changed = false; });
  addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });
}

// A file is read here and sent as text: the server never sees its name.
const opening = document.getElementById("open");
if (opening) {
  opening.hidden = false;
  opening.querySelector("[type=file]").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    opening.elements.kind.value = file.name.slice(file.name.lastIndexOf("."));
    opening.elements.text.value = await file.text();
    opening.submit();
  });
}
document.querySelectorAll("[data-job]").forEach((form) => watchJob(form).catch(() => {}));
