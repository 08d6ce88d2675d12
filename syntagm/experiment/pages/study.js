"use strict";
/* The pages of a study. Each answer is sent as it is given, and kept in this browser until the server has said that it is
   on the disk; a page that is loaded again goes on at the same trial. Nothing is put into the page as HTML but what the
   server made from the experimenter's own texts. */
(() => {
  const root = document.getElementById("study");
  const { place, preview, take } = root.dataset;
  const store = {
    get(key) { try { return localStorage.getItem(key); } catch { return null; } },
    set(key, value) { try { localStorage.setItem(key, value); } catch { /* a private window: answers are held in memory */ } },
    drop(key) { try { localStorage.removeItem(key); } catch { /* nothing to drop */ } },
  };

  if (take !== undefined) {
    /* The consent form. A browser that has taken part goes on where it was. */
    const known = store.get(`syntagm-study ${take}`);
    if (known) {
      const again = element("p", "note", "You have begun this study in this browser. ");
      const link = element("a", "", "Go on where you were.");
      link.href = `/study/${encodeURIComponent(known)}`;
      again.append(link);
      root.prepend(again);
    }
    return;
  }

  const key = `syntagm-answers ${place}`;
  let waiting = [];
  try { waiting = JSON.parse(store.get(key) || "[]"); } catch { waiting = []; }
  let state, shown = new Set(), sending = false, stopped = "";

  function element(name, kind, text) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function page(...parts) {
    root.className = "";
    root.replaceChildren(...parts);
    (root.querySelector("[autofocus]") || root).focus?.();
    window.scrollTo(0, 0);
  }

  function html(text) {
    const made = element("div");
    made.innerHTML = text; /* made by the server from the experimenter's texts, escaped there */
    return made;
  }

  function button(text, act, kind = "main") {
    const made = element("button", kind, text);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  }

  const pause = (ms) => new Promise((done) => setTimeout(done, ms));

  async function post(path, body) {
    const answer = await fetch(`/study/${encodeURIComponent(place)}/${path}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    });
    let said = {};
    try { said = await answer.json(); } catch { /* a page of an error */ }
    return { status: answer.status, said };
  }

  /* Send what is waiting, oldest first, until it has its receipt. */
  async function send() {
    if (sending || preview !== undefined) return;
    sending = true;
    let patience = 500;
    while (waiting.length && !stopped) {
      let found = null;
      try { found = await post("answer", waiting[0]); } catch { /* no connection */ }
      if (found && found.status === 200 && found.said.stored) {
        waiting.shift();
        store.set(key, JSON.stringify(waiting));
        patience = 500;
        note("");
      } else if (found && found.said.stop) {
        stopped = found.said.stop;
        end(stopped);
      } else if (found && found.status >= 400 && found.status < 500 && found.said.refused) {
        waiting.shift(); /* it can never be stored */
        store.set(key, JSON.stringify(waiting));
      } else {
        note("There is no connection at the moment. Your answers are kept, and sent as soon as there is one.");
        await pause(patience);
        patience = Math.min(patience * 2, 15000);
      }
    }
    sending = false;
  }

  function note(text) {
    const line = root.querySelector(".note");
    if (line) line.textContent = text;
  }

  function keep(body) {
    if (preview === undefined) {
      waiting.push(body);
      store.set(key, JSON.stringify(waiting));
      send();
    }
    shown.add(body.n);
    next();
  }

  function end(text) { page(element("h1", "", state ? state.title : ""), element("p", "", text)); }

  let listener = null;
  function keys(act) {
    if (listener) document.removeEventListener("keydown", listener);
    listener = act ? (event) => { if (!event.repeat && !event.ctrlKey && !event.metaKey && !event.altKey) act(event); } : null;
    if (listener) document.addEventListener("keydown", listener);
  }

  function begin(...parts) {
    const bar = element("progress");
    bar.max = state.trials.length;
    bar.value = shown.size;
    bar.setAttribute("aria-label", "how far you are");
    root.onclick = null;
    page(bar, ...parts, element("p", "note", ""));
    root.classList.add("trial");
    if (waiting.length > 2) note("Your last answers are being sent.");
    return performance.now();
  }

  function next() {
    keys(null);
    if (stopped) return;
    const trial = state.trials.find((each) => !shown.has(each.n));
    if (!trial) { last(); return; }
    const previous = state.trials.filter((each) => shown.has(each.n)).pop();
    if (previous && previous.practice && !trial.practice) {
      page(element("h1", "", state.title), element("p", "", "That was the practice. Now the study begins."), button("Begin", () => show(trial)));
      keys((event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); show(trial); } });
      return;
    }
    show(trial);
  }

  function show(trial) {
    keys(null);
    ({ pair, rating, magnitude, verdict, reading, maze })[state.kind](trial);
  }

  const question = () => element("p", "question", state.question);
  const spent = (began) => Math.round((performance.now() - began) * 10) / 10;

  function once(act) {
    let done = false;
    return (...given) => { if (!done) { done = true; keys(null); act(...given); } };
  }

  function choices(trial, labels, values, kind, pressed, above, hint) {
    const box = element("div", kind);
    let began = 0;
    const choose = once((value) => keep({ n: trial.n, choice: value, ms: spent(began) }));
    labels.forEach((label, at) => box.append(button(label, () => choose(values[at]), "")));
    began = begin(question(), ...above, box, element("p", "keys", hint));
    keys((event) => { const at = pressed.indexOf(event.key.toLowerCase()); if (at >= 0) { event.preventDefault(); choose(values[at]); } });
  }

  function pair(trial) { choices(trial, trial.texts, [1, 2], "pair", ["1", "2"], [], "Keys: 1 for the upper sentence, 2 for the lower one."); }

  function verdict(trial) {
    choices(trial, ["Yes", "No"], ["yes", "no"], "answers", ["y", "n"], [element("p", "sentence", trial.texts[0])], "Keys: Y and N.");
  }

  function rating(trial) {
    const box = element("div", "scale");
    let began = 0;
    const rate = once((value) => keep({ n: trial.n, rating: value, ms: spent(began) }));
    for (const value of state.scale) {
      const made = button(String(value), () => rate(value), "");
      made.setAttribute("aria-label", `${value} of ${state.scale[state.scale.length - 1]}`);
      box.append(made);
    }
    began = begin(question(), element("p", "sentence", trial.texts[0]), box, element("p", "keys", "Keys: 1 to 7."));
    keys((event) => { const value = Number(event.key); if (state.scale.includes(value)) { event.preventDefault(); rate(value); } });
  }

  function magnitude(trial) {
    const form = element("form"), label = element("label", "", "Number above 0 "), input = element("input");
    input.type = "number"; input.min = "0.000001"; input.max = "1000000"; input.step = "any"; input.required = true;
    input.setAttribute("autofocus", ""); input.inputMode = "decimal";
    label.append(input);
    const go = element("button", "main", "Next");
    form.append(label, go);
    let began = 0;
    const rate = once((value) => keep({ n: trial.n, rating: value, ms: spent(began) }));
    form.addEventListener("submit", (event) => { event.preventDefault(); if (input.valueAsNumber > 0) rate(input.valueAsNumber); });
    began = begin(question(), element("p", "sentence", `100: ${state.reference}`), element("p", "sentence", trial.texts[0]), form);
    input.focus();
  }

  function ask(trial, body) {
    if (!trial.question) { keep(body); return; }
    const box = element("div", "answers");
    const answer = once((value) => keep({ ...body, choice: value }));
    box.append(button("Yes", () => answer("yes"), ""), button("No", () => answer("no"), ""));
    begin(element("p", "sentence", trial.question), box, element("p", "keys", "Keys: Y and N."));
    keys((event) => { const at = ["y", "n"].indexOf(event.key.toLowerCase()); if (at >= 0) answer(["yes", "no"][at]); });
  }

  function reading(trial) {
    const times = [];
    let at = -1, began = 0;
    const seen = element("div", "window", "+");
    const step = () => {
      const now = performance.now();
      if (at >= 0) times.push(Math.round((now - began) * 10) / 10);
      at += 1;
      if (at === trial.words.length) { keys(null); root.onclick = null; ask(trial, { n: trial.n, times }); return; }
      seen.textContent = trial.words[at];
      requestAnimationFrame(() => { began = performance.now(); });
      began = now;
    };
    begin(question(), seen);
    keys((event) => { if (event.key === " ") { event.preventDefault(); step(); } });
    /* Not at once: the tap that led here would be the first one. */
    setTimeout(() => { if (at < 0 && seen.isConnected) root.onclick = step; });
  }

  function maze(trial) {
    const times = [], wrong = [];
    let at = 0, began = 0, mistaken = false, order = [];
    const box = element("div", "maze"), sides = [0, 1].map((side) => button("", () => choose(side), ""));
    const word = () => {
      order = Math.random() < 0.5 ? [true, false] : [false, true];
      sides.forEach((side, number) => { side.textContent = order[number] ? trial.words[at] : trial.distractors[at]; });
      mistaken = false;
      began = performance.now();
    };
    const choose = (side) => {
      if (!mistaken) times.push(Math.round((performance.now() - began) * 10) / 10);
      if (!order[side]) {
        if (!mistaken) wrong.push(true);
        if (state.errors === "stop") { keys(null); keep({ n: trial.n, times, wrong, ...(trial.question ? { choice: "no" } : {}) }); return; }
        mistaken = true;
        note("Wrong. Try again.");
        return;
      }
      if (!mistaken) wrong.push(false);
      note("");
      at += 1;
      if (at === trial.words.length) { keys(null); ask(trial, { n: trial.n, times, wrong }); return; }
      word();
    };
    box.append(...sides);
    begin(question(), box, element("p", "keys", "Keys: 1 for the left word, 2 for the right one."));
    keys((event) => { const side = ["1", "2"].indexOf(event.key); if (side >= 0) { event.preventDefault(); choose(side); } });
    word();
  }

  async function last() {
    if (preview !== undefined) { end("This was a preview. Nothing was recorded."); return; }
    const form = element("form"), inputs = state.ask.map(() => element("input"));
    state.ask.forEach((text, at) => {
      // People don't see, hear or reach a hidden question, so only a machine answers it.
      const hidden = state.hidden.includes(at), label = element("label", hidden ? "hidden" : "", text);
      if (hidden) { label.setAttribute("aria-hidden", "true"); inputs[at].tabIndex = -1; inputs[at].autocomplete = "off"; }
      inputs[at].maxLength = 500;
      label.append(inputs[at]);
      form.append(label);
    });
    const go = element("button", "main", "Finish");
    form.append(go);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      go.disabled = true;
      finish(inputs.map((input) => input.value));
    });
    if (state.ask.length) page(element("h1", "", state.title), form, element("p", "note", ""));
    else finish([]);
  }

  async function finish(said) {
    page(element("h1", "", state.title), element("p", "", "Your last answers are being sent."), element("p", "note", ""));
    for (let patience = 500; !stopped; patience = Math.min(patience * 2, 15000)) {
      await send();
      let found = null;
      try { if (!waiting.length) found = await post("finish", { said }); } catch { /* no connection */ }
      if (found && found.status === 200 && found.said.finished) { store.drop(key); done(found.said); return; }
      if (found && found.said.missing) { location.reload(); return; }
      if (found && found.said.stop) { end(found.said.stop); return; }
      note("There is no connection at the moment. Please leave this page open.");
      await pause(patience);
    }
  }

  function done(said) {
    const parts = [html(said.debriefing), element("p", "", "Your code is "), element("p", "code", said.code)];
    if (said.complete) {
      const link = element("a", "", "Go back to the panel, so that it knows that you have finished.");
      link.href = said.complete;
      parts.push(link);
    } else if (said.completion_code) {
      parts.push(element("p", "", "Your completion code is "), element("p", "code", said.completion_code));
    }
    page(...parts);
  }

  async function load() {
    for (let patience = 500; ; patience = Math.min(patience * 2, 15000)) {
      try {
        const answer = await fetch(preview !== undefined ? `/experiment/state/${preview}` : `/study/${encodeURIComponent(place)}/state`);
        const found = await answer.json();
        if (found.stop) { end(found.stop); return; }
        if (answer.status === 200) { state = found; break; }
      } catch { /* no connection, or a page of an error */ }
      await pause(patience);
    }
    if (preview === undefined) store.set(`syntagm-study ${state.study}`, place);
    if (state.finished) { done(state.finished); return; }
    shown = new Set([...state.answered, ...waiting.map((body) => body.n)]);
    send();
    if (shown.size) { next(); return; }
    page(html(state.instructions), button("Begin", next));
    keys((event) => { if (event.key === "Enter") next(); });
  }
  load();
})();
