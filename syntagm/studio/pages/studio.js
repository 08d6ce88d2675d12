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
    // A field has one line, and would join the lines of a cell.
    const broken = [this.header, ...this.rows].some((row) => row.some((cell) => /[\n\r]/.test(cell)));
    this.shown = !wide && !broken && this.header.length * (this.rows.length + 1) <= MOST_CELLS;
    document.getElementById("too-much").hidden = this.shown;
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
    edited(this.form);
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
      edited(this.form);
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
    edited(this.form);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), wait);
  }

  async check() {
    const found = await checked(this.form);
    if (!found) return;
    list(found);
    offer(this.form, found);
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
  for (const name of BUILT) if (form.elements[name]) fields.set(name, form.elements[name].value);
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

// The builder offers the regions and conditions of the table, and the server says what it would add.
const BUILT = ["prediction", "region", "relation", "first", "second", "third", "fourth", "formula"];
function offer(form, found) {
  const builder = document.getElementById("builder");
  if (!builder) return;
  document.getElementById("words").textContent = found.built;
  if (!found.conditions.length) return; // a text that can't be read while it is written
  const was = builder.hidden;
  builder.hidden = false;
  const fill = (name, values, first) => {
    const field = form.elements[name];
    const fixed = [...field.options].filter((option) => ["", "*"].includes(option.value));
    const listed = [...field.options].filter((option) => !fixed.includes(option)).map((option) => option.value);
    if (JSON.stringify(listed) === JSON.stringify(values)) return;
    const chosen = field.value;
    const options = values.map((value) => element("option", "", value));
    field.replaceChildren(...(name === "region" ? [...options, ...fixed] : [...fixed, ...options]));
    field.value = values.includes(chosen) || fixed.some((option) => option.value === chosen && !was) ? chosen : first;
  };
  fill("region", found.regions, found.regions[0] || "*");
  fill("first", found.conditions, found.conditions[0]);
  fill("second", found.conditions, found.conditions[1] || found.conditions[0]);
  fill("third", found.conditions, "");
  fill("fourth", found.conditions, "");
  if (was) say(form);
}

async function say(form) {
  const found = await checked(form);
  if (found) document.getElementById("words").textContent = found.built;
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

// What was not saved is kept in this tab: for those who go back, reload, or come to a page that can't be shown again.
// What was sent is forgotten on the page to which the server leads when it has saved.
const draft = {
  key: (form) => `draft ${form.elements.was.value || form.dataset.ending}`,
  put(form, sent) {
    const { text, name, base, was } = form.elements;
    const kept = { text: text.value, name: name.value, base: base.value, was: was.value, sent };
    try { sessionStorage.setItem(draft.key(form), JSON.stringify(kept)); } catch { /* full, or forbidden */ }
  },
  get(key) { try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; } },
  forget(key) { try { sessionStorage.removeItem(key); } catch { /* forbidden */ } },
  forgetSent() {
    try {
      for (const key of Object.keys(sessionStorage)) {
        if (key.startsWith("draft ") && (draft.get(key) || {}).sent) draft.forget(key);
      }
    } catch { /* forbidden */ }
  },
};
const landed = /[?&]saved=1/.test(location.search) || /^\/jobs\/\d+$|\/experiment\//.test(location.pathname);
if (landed) draft.forgetSent();

let changed = false;
function edited(form) {
  changed = true;
  draft.put(form, false);
}

// Offers what this tab has of the suite of a form, if it is another text.
function offerLeft(form, again) {
  const key = draft.key(form), kept = draft.get(key), note = document.getElementById("left");
  if (!kept || kept.text === form.elements.text.value) return;
  note.hidden = false;
  note.addEventListener("click", (event) => {
    if (!event.target.value) return;
    note.hidden = true;
    if (event.target.value === "drop") { draft.forget(key); return; }
    for (const name of ["text", "name", "base"]) form.elements[name].value = kept[name];
    again();
    edited(form);
  });
}

const editor = document.getElementById("editor");
if (editor) {
  const { text } = editor.elements;
  if (editor.hasAttribute("data-unsaved")) edited(editor);
  if (editor.dataset.ending === ".tsv") {
    const grid = new Grid(editor);
    offerLeft(editor, () => { grid.draw(); grid.later(0); });
  } else {
    let timer = 0;
    const check = async () => { const found = await checked(editor); if (found) list(found); };
    text.addEventListener("input", () => { edited(editor); clearTimeout(timer); timer = setTimeout(check, 500); });
    offerLeft(editor, () => {
      document.dispatchEvent(new Event("restored")); // another view of the text takes it from the field
      text.dispatchEvent(new Event("input"));
    });
  }
  const builder = document.getElementById("builder");
  if (builder) {
    builder.addEventListener("change", () => { say(editor); });
    // Enter adds the prediction, and doesn't check the suite.
    builder.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.target.tagName !== "INPUT") return;
      event.preventDefault();
      builder.querySelector("[value=predict]").click();
    });
  }
  if (editor.dataset.name) watchSuite(editor).catch(() => {});
  editor.addEventListener("submit", (event) => {
    changed = false;
    const saves = event.submitter && ["save", "score", "experiment"].includes(event.submitter.value);
    draft.put(editor, Boolean(saves));
  });
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
    try {
      opening.elements.text.value = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      opening.submit();
    } catch {
      const note = opening.querySelector("[role=alert]");
      note.textContent = `${file.name} is not text in UTF-8. Save it as UTF-8 (in a spreadsheet: "CSV UTF-8"), and open it again.`;
      note.hidden = false;
      event.target.value = "";
    }
  });
}
document.querySelectorAll("[data-job]").forEach((form) => watchJob(form).catch(() => {}));
