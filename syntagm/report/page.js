"use strict";
// Names and sentences come from others: they are inserted as text, never as markup.

function element(tag, name, text) {
  const created = document.createElement(tag);
  if (name) created.className = name;
  if (text !== undefined) created.textContent = text;
  return created;
}

// Tables: a click on a heading sorts; numbers by data-value, empty ones last.
function sortable(table) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = element("button");
    button.type = "button";
    // A link is no part of a button: it leads elsewhere.
    if (heading.querySelector("a")) button.setAttribute("aria-label", `sort by ${heading.textContent.trim()}`);
    else button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const numeric = heading.classList.contains("number");
      const before = heading.getAttribute("aria-sort");
      const down = before ? before === "ascending" : numeric;
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      sort(table.tBodies[0], column, numeric, down ? -1 : 1);
    });
  });
}

function sort(body, column, numeric, sign) {
  const key = (row) => (numeric ? row.cells[column].dataset.value : row.cells[column].textContent);
  const compare = numeric
    ? (a, b) => (a === "") - (b === "") || sign * (a - b)
    : (a, b) => sign * a.localeCompare(b, undefined, { numeric: true });
  // Sorted rows are in no group, so each shows the name of its group instead.
  for (const divider of body.querySelectorAll(".divider")) divider.remove();
  for (const group of body.querySelectorAll(".unseen")) group.classList.remove("unseen");
  body.append(...[...body.rows].sort((a, b) => compare(key(a), key(b))));
}

// Long tables: a search field that hides the rows that lack one of its words.
function filterable(table) {
  const rows = [...table.tBodies[0].rows].filter((row) => !row.classList.contains("divider"));
  if (rows.length < 2) return;
  const label = element("label", "filter", "Filter rows ");
  const field = element("input");
  field.type = "search";
  field.placeholder = "words";
  const count = element("span", "count", `${rows.length} rows`);
  count.setAttribute("role", "status");
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    for (const divider of table.querySelectorAll(".divider")) divider.hidden = words.length > 0;
    const shown = rows.filter((row) => !row.hidden).length;
    count.textContent = shown === rows.length ? `${shown} rows` : `${shown} of ${rows.length} rows`;
  });
  label.append(field, " ", count);
  table.closest(".scroll").before(label);
}

// On phones a row is a card: its cells show the headings of their columns.
function labelled(table) {
  const headings = [...(table.tHead ? table.tHead.rows[0].cells : [])].map((heading) => heading.textContent.trim());
  if (headings.length < 3) return;
  for (const row of table.tBodies[0].rows) {
    // A cell may reach over several columns.
    [...row.cells].forEach((cell, place) => {
      if (cell.tagName !== "TD" || !headings[place]) return;
      cell.dataset.label = headings[place];
      if (cell.childNodes.length > 1) {
        const together = element("span");
        together.append(...cell.childNodes);
        cell.append(together);
      }
    });
  }
  table.classList.add("cards");
}

// The keys of a page among others: left and right for the pages beside it.
function turned(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest("input, select, textarea, [tabindex='0']")) return;
  const link = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  const found = link && document.querySelector(`a[rel="${link}"]`);
  if (found) found.click();
}

// The slider over checkpoints leads to the page of the one where it stops, and goes on from there.
function slide(box) {
  const slider = box.querySelector("input");
  const links = [...document.querySelectorAll(".checkpoints a")];
  const button = box.querySelector("button");
  if (button) button.hidden = true;
  const here = () => links[slider.value - 1];
  slider.addEventListener("input", () => {
    box.querySelector("output").textContent = here().textContent;
    slider.setAttribute("aria-valuetext", here().textContent);
  });
  slider.addEventListener("change", () => location.replace(`${here().href}#slide`));
  if (location.hash === "#slide") slider.focus();
}

// A page about runs that are not finished is loaded again when there is more, unless somebody fills in a form.
async function watch(note) {
  const ask = async () => (await fetch(note.dataset.watch)).text();
  const before = await ask();
  setInterval(async () => {
    const busy = document.activeElement && document.activeElement.closest("form");
    if (!document.hidden && !busy && (await ask()) !== before) location.reload();
  }, 5000);
}

// A link to something inside a closed fold opens the fold.
function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target && target.closest("details");
  if (!fold || fold.open) return;
  fold.open = true;
  target.scrollIntoView();
}

// Signatures: a button that copies them.
function copyable(line) {
  const button = element("button", "copy", "copy");
  button.type = "button";
  button.addEventListener("click", () => {
    const code = line.querySelector("code");
    getSelection().selectAllChildren(code);
    const done = () => { button.textContent = "copied"; };
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, () => {});
    else if (document.execCommand("copy")) done();
  });
  line.prepend(button);
}

// Items are drawn when their fold is opened for the first time.
function drawItems(fold) {
  const list = fold.querySelector(".list");
  if (list.childElementCount) return;
  const suite = JSON.parse(document.getElementById(fold.dataset.from).textContent);
  const drawn = suite.items.map((item) => [item, drawItem(item, suite)]);
  if (drawn.length > 1) list.append(filter(drawn, suite));
  list.append(...drawn.map(([, article]) => article));
}

function filter(drawn, suite) {
  const label = element("label", "filter", "Show ");
  const select = element("select");
  const kinds = { "all of them": () => true };
  const some = (kind) => (item) => item.verdicts.some((verdict) => judgement(verdict, suite)[0] === kind);
  kinds["where a prediction fails"] = some("fails");
  // A convention may count ties as hits.
  kinds["where every prediction holds"] = (item) => !suite.numbers && item.verdicts.every(([, , value]) => value === 1);
  kinds["ties"] = some("tie");
  kinds["undefined"] = some("undefined");
  if (suite.columns.length > 1) kinds["where models differ"] = (item) => item.why === "flip";
  for (const [name, test] of Object.entries(kinds)) {
    const count = drawn.filter(([item]) => test(item)).length;
    if (count) select.append(new Option(`${name} (${count})`, name));
  }
  select.addEventListener("change", () => {
    for (const [item, article] of drawn) article.hidden = !kinds[select.value](item);
  });
  label.append(select);
  return label;
}

const WHY = { flip: "models differ", undefined: "undefined", tie: "tie", extreme: "extreme margin", sample: "sampled" };

function drawItem(item, suite) {
  const article = element("div", "item");
  const title = element("h4", "", "item ");
  title.append(element("bdi", "", item.id));
  if (WHY[item.why]) title.append(" ", element("small", "", `(${WHY[item.why]})`));
  article.append(title);
  suite.columns.forEach((name, column) => {
    if (suite.columns.length > 1) article.append(element("h5", "", name));
    for (const verdict of item.verdicts.filter((judged) => judged[0] === column)) {
      const [kind, text] = judgement(verdict, suite);
      article.append(element("p", `verdict ${kind}`, `${suite.numbers ? "" : "prediction "}${verdict[1]}: ${text}`));
    }
    for (const sentence of item.sentences.filter((scored) => scored[0] === column)) article.append(drawSentence(sentence, suite));
  });
  return article;
}

function judgement([column, measure, value, margin], suite) {
  if (value === null) return ["undefined", "? undefined"];
  if (suite.numbers) return ["", value.toFixed(3)];
  const unit = suite.units?.[measure]?.[column] ?? "bits";
  const by = margin === null ? "" : ` by ${Math.abs(margin).toFixed(2)} ${unit === "bits" ? unit : `(${unit})`}`;
  const tie = margin !== null && Math.abs(margin) <= suite.tolerances[column];
  if (tie) return ["tie", value ? "= tie, holds" : "= tie, does not hold"];
  return value ? ["holds", `\u2713 holds${by}`] : ["fails", `\u2717 fails${by}`];
}

function drawSentence([, condition, homes, tokens, bits, unknown = []], suite) {
  const row = element("div", "sentence");
  const name = element("span", "condition");
  name.append(element("bdi", "", suite.conditions[condition]));
  const line = element("div", "tokens");
  // Without a language the first letter decides; tokens are isolated, so their line can't find it by itself.
  line.dir = suite.dir || (/^[^\p{L}]*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u.test(tokens.join("")) ? "rtl" : "ltr");
  if (suite.lang) line.lang = suite.lang;
  let run = null;
  tokens.forEach((token, index) => {
    if (index === 0 || homes[index] !== homes[index - 1]) {
      const region = element("span", homes[index] < 0 ? "region outside" : "region");
      if (suite.regions.length) region.append(element("span", "region-name", homes[index] < 0 ? "" : suite.regions[homes[index]]));
      region.append((run = element("span", "run")));
      line.append(region);
    }
    run.append(drawToken(token, bits[index], unknown.includes(index)));
  });
  row.append(name, line);
  return row;
}

function drawToken(token, bits, unknown) {
  const level = bits === null ? 0 : Math.max(0, Math.min(8, Math.floor(bits / 2)));
  const drawn = element("span", `token h${level}${unknown ? " unknown" : ""}`);
  drawn.append(element("bdi", "", token === "" ? "end" : token.trim() || "\u2423"));
  drawn.append(element("small", "", `${bits === null ? "none" : bits.toFixed(2)}${unknown ? " unk" : ""}`));
  return drawn;
}

// Wide tables and figures: a hint where something is out of sight. Boxes in closed folds and far below are not laid out
// before they are seen, and are measured then.
const hint = new ResizeObserver((boxes) => {
  for (const { target } of boxes) target.classList.toggle("more", target.scrollWidth > target.clientWidth + 1);
});

// Figures of a page that a server sends come after it, one by one. Drawings have no scripts, and none would be run.
async function draw(boxes) {
  for (const box of boxes) {
    box.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(box.dataset.figure);
      if (!answer.ok) throw new Error(String(answer.status));
      const drawing = new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement;
      if (drawing.localName !== "svg") throw new Error(drawing.localName);
      box.closest("figure").className = parseFloat(drawing.getAttribute("width")) <= 1250 ? "fits" : "vast";
      box.replaceChildren(document.adoptNode(drawing));
    } catch {
      box.replaceChildren(element("p", "left-out", "The figure did not come. Load the page again."));
    }
    box.removeAttribute("aria-busy");
  }
}

// Fonts are those of the reader's system. A sign that none of them has is drawn like one that is no character.
function fontless() {
  const signs = new Set();
  for (const place of document.querySelectorAll("main :is([lang], [dir])")) {
    for (const sign of place.textContent) if (sign > "\u024f" && /[\p{L}\p{N}\p{Co}]/u.test(sign)) signs.add(sign);
    if (signs.size > 500) break;
  }
  if (!signs.size) return;
  const canvas = element("canvas"), pen = canvas.getContext("2d", { willReadFrequently: true });
  canvas.width = canvas.height = 32;
  const drawn = (sign) => {
    pen.clearRect(0, 0, 32, 32);
    pen.font = "20px sans-serif";
    pen.fillText(sign, 4, 24);
    return canvas.toDataURL();
  };
  const nothing = drawn(""), none = drawn("\u{10ffff}");
  if (none === nothing) return; // this browser doesn't show that a font is missing
  const missing = [...signs].filter((sign) => drawn(sign) === none).slice(0, 5);
  if (!missing.length) return;
  const codes = missing.map((sign) => `U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`).join(", ");
  const note = element("p", "alert mild", `No font of this system has some of the signs here (${codes}): install one of their script, such as Noto.`);
  note.id = "fontless";
  document.querySelector("main").prepend(note);
}

document.querySelectorAll("table:not(.rows, .turned)").forEach(labelled);
document.querySelectorAll("table.sortable").forEach(sortable);
document.querySelectorAll("table.filterable").forEach(filterable);
document.querySelectorAll(".choices.slider").forEach(slide);
addEventListener("hashchange", reveal);
addEventListener("keydown", turned);
document.querySelectorAll("[data-watch]").forEach((note) => watch(note).catch(() => {}));
reveal();
// Comparisons are opened for printing, single items are not.
addEventListener("beforeprint", () => document.querySelectorAll("details.pair").forEach((fold) => { fold.open = true; }));
document.querySelectorAll(".signature").forEach(copyable);
document.querySelectorAll("details.items").forEach((fold) => fold.addEventListener("toggle", () => fold.open && drawItems(fold)));
document.querySelectorAll(".scroll").forEach((box) => hint.observe(box));
draw(document.querySelectorAll("[data-figure]"));
(window.requestIdleCallback || setTimeout)(fontless);
