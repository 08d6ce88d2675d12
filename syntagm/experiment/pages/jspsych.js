"use strict";
/* A study with jsPsych that needs no server of its own. study.js has the plan. Each answer is sent as it is given, and kept
   in this browser until it has a receipt; what could not be sent can be downloaded at the end. */
(() => {
  const query = new URLSearchParams(location.search);
  const random = () => Array.from(crypto.getRandomValues(new Uint8Array(6)), (n) => n.toString(36)).join("");
  const kept = (name, make) => {
    try {
      const known = localStorage.getItem(`${STUDY.plan} ${name}`);
      if (known !== null) return known;
      const made = make();
      localStorage.setItem(`${STUDY.plan} ${name}`, made);
      return made;
    } catch { return make(); }
  };
  const person = query.get("PROLIFIC_PID") || query.get("participant") || query.get("id") || kept("person", random);
  const key = `${STUDY.plan} answers ${person}`, doneKey = `${STUDY.plan} done ${person}`;
  const load = (name) => { try { return JSON.parse(localStorage.getItem(name) || "[]"); } catch { return []; } };
  let waiting = load(key);
  const done = load(doneKey);
  const save = () => {
    try { localStorage.setItem(key, JSON.stringify(waiting)); localStorage.setItem(doneKey, JSON.stringify(done)); } catch { /* held in memory */ }
  };
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const line = document.createElement("p");
  line.className = "note";
  document.body.append(line);

  async function deliver(answer) {
    const headers = { "Content-Type": "application/json" };
    if (STUDY.datapipe) {
      const body = { experimentID: STUDY.datapipe, filename: `${answer.person}-${answer.trial}.json`, data: JSON.stringify([answer]) };
      const said = await fetch("https://pipe.jspsych.org/api/data/", { method: "POST", headers, body: JSON.stringify(body) });
      /* A file that exists already is an answer whose receipt was lost. */
      return said.ok || (await said.text()).includes("OSF_FILE_EXISTS");
    }
    return (await fetch(STUDY.address, { method: "POST", headers, body: JSON.stringify(answer) })).ok;
  }

  let sending = null;
  const addressed = Boolean(STUDY.address || STUDY.datapipe);
  function send() {
    if (addressed && !sending) sending = empty().finally(() => { sending = null; });
    return sending;
  }
  async function empty() {
    for (let patience = 500, tries = 0; waiting.length && tries < 12;) {
      let received = false;
      try { received = await deliver(waiting[0]); } catch { /* no connection */ }
      if (received) { waiting.shift(); save(); patience = 500; tries = 0; line.textContent = ""; continue; }
      line.textContent = "There is no connection at the moment. Your answers are kept, and sent as soon as there is one.";
      await pause(patience);
      patience = Math.min(patience * 2, 8000);
      tries += 1;
    }
  }
  function keep(answer) {
    waiting.push(answer);
    done.push(answer);
    save();
    send();
  }

  async function slot() {
    const wanted = Number(query.get("slot"));
    if (Number.isInteger(wanted) && wanted >= 1 && wanted <= STUDY.people.length) return wanted - 1;
    return Number(await chosen());
  }
  async function chosen() {
    const known = kept("slot", () => "");
    if (known !== "") return known;
    let made = Math.floor(Math.random() * STUDY.people.length);
    if (STUDY.datapipe) {
      try {
        const said = await fetch("https://pipe.jspsych.org/api/condition/", {
          method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ experimentID: STUDY.datapipe }),
        });
        made = (await said.json()).condition % STUDY.people.length;
      } catch { /* a random one */ }
    }
    try { localStorage.setItem(`${STUDY.plan} slot`, String(made)); } catch { /* not kept */ }
    return made;
  }

  const escape = (text) => { const made = document.createElement("p"); made.textContent = text; return made.innerHTML; };
  const tenth = (ms) => Math.round(ms * 10) / 10;

  /* A maze: two words, of which one continues the sentence. */
  class Maze {
    constructor(jsPsych) { this.jsPsych = jsPsych; }
    trial(display, trial) {
      const times = [], wrong = [];
      let at = 0, began = 0, order = [], mistaken = false;
      display.innerHTML = `<p>${escape(STUDY.question)}</p><div class="sentence"><button class="jspsych-btn"></button> <button class="jspsych-btn"></button></div><p class="said"></p>`;
      const sides = [...display.querySelectorAll("button")], said = display.querySelector(".said");
      const word = () => {
        order = Math.random() < 0.5 ? [true, false] : [false, true];
        sides.forEach((side, number) => { side.textContent = order[number] ? trial.words[at] : trial.distractors[at]; });
        mistaken = false;
        began = performance.now();
      };
      const end = () => { this.jsPsych.pluginAPI.cancelAllKeyboardResponses(); this.jsPsych.finishTrial({ times, wrong }); };
      const choose = (side) => {
        if (!mistaken) { times.push(tenth(performance.now() - began)); wrong.push(!order[side]); }
        if (!order[side]) {
          if (STUDY.errors === "stop") { end(); return; }
          mistaken = true;
          said.textContent = "Wrong. Try again.";
          return;
        }
        said.textContent = "";
        at += 1;
        if (at === trial.words.length) end(); else word();
      };
      sides.forEach((side, number) => side.addEventListener("click", () => choose(number)));
      this.jsPsych.pluginAPI.getKeyboardResponse({
        callback_function: (info) => choose(Number(info.key) - 1), valid_responses: ["1", "2"], persist: true, allow_held_key: false,
      });
      word();
    }
  }
  Maze.info = { name: "syntagm-maze", version: "1.0.0", parameters: { words: { type: 1, array: true }, distractors: { type: 1, array: true } }, data: {} };

  async function run() {
    const place = await slot();
    const { list, trials } = STUDY.people[place];
    const answered = new Set(done.map((answer) => answer.trial));
    const jsPsych = initJsPsych({ show_progress_bar: true });
    const page = (html, button = "Next") => ({ type: jsPsychHtmlButtonResponse, stimulus: `<div class="text">${html}</div>`, choices: [button] });
    const question = `<p>${escape(STUDY.question)}</p>`;

    const record = (trial, body) => keep({ person, list, trial: trial.id, ...body });
    function made([number, first]) {
      const trial = STUDY.trials[number], texts = first ? trial.texts : [...trial.texts].reverse();
      const choices = first ? trial.choices : [...trial.choices].reverse();
      const asked = (body) => trial.question ? [{
        type: jsPsychHtmlButtonResponse, stimulus: `<p class="sentence">${escape(trial.question)}</p>`, choices: ["Yes", "No"],
        on_finish: (data) => record(trial, { ...body(), choice: ["yes", "no"][data.response] }),
      }] : [];
      if (STUDY.kind === "pair") return [{
        type: jsPsychHtmlButtonResponse, stimulus: question, choices: texts.map(escape), button_layout: "grid", grid_columns: 1, grid_rows: null,
        css_classes: ["pair"], on_finish: (data) => record(trial, { choice: choices[data.response], ms: tenth(data.rt) }),
      }];
      if (STUDY.kind === "verdict" || STUDY.kind === "rating") {
        const labels = STUDY.kind === "verdict" ? ["Yes", "No"] : STUDY.scale.map(String);
        return [{
          type: jsPsychHtmlButtonResponse, stimulus: `${question}<p class="sentence">${escape(texts[0])}</p>`, choices: labels,
          on_finish: (data) => record(trial, STUDY.kind === "verdict"
            ? { choice: ["yes", "no"][data.response], ms: tenth(data.rt) } : { rating: STUDY.scale[data.response], ms: tenth(data.rt) }),
        }];
      }
      if (STUDY.kind === "magnitude") return [{
        timeline: [{
          type: jsPsychSurveyText, preamble: `${question}<p class="sentence">100: ${escape(STUDY.reference)}</p><p class="sentence">${escape(texts[0])}</p>`,
          questions: [{ prompt: "Number above 0", name: "value", required: true }],
        }],
        loop_function: (data) => {
          const last = data.values()[0], value = Number(last.response.value.trim().replace(",", "."));
          if (!(value > 0 && value <= 1e6)) return true;
          record(trial, { rating: value, ms: tenth(last.rt) });
          return false;
        },
      }];
      let body = {};
      const reading = STUDY.kind === "reading"
        ? { type: jsPsychSelfPacedReading, sentence: trial.words.join(" "), mask_type: 3, mask_character: "+", canvas_size: [Math.min(900, innerWidth - 20), 200] }
        : { type: Maze, words: trial.words, distractors: trial.distractors };
      reading.on_finish = (data) => {
        body = STUDY.kind === "reading" ? { times: data.rt.slice(1).map(tenth) } : { times: data.times, wrong: data.wrong };
        if (!trial.question) record(trial, body);
      };
      return [reading, ...asked(() => body)];
    }

    const left = trials.filter(([number]) => !answered.has(STUDY.trials[number].id));
    const timeline = answered.size ? [] : [page(STUDY.consent, "I agree, and want to begin"), page(STUDY.instructions, "Begin")];
    timeline.push(...left.flatMap(made));
    if (STUDY.ask.length) timeline.push({
      type: jsPsychSurveyText, questions: STUDY.ask.map((prompt, at) => ({ prompt: escape(prompt), name: `q${at}` })).filter((asked) => asked.prompt),
      on_finish: (data) => keep({ person, list, trial: "_end", said: STUDY.ask.map((_, at) => data.response[`q${at}`] ?? "") }),
    });
    await jsPsych.run(timeline);
    await finish(jsPsych);
  }

  async function finish(jsPsych) {
    await send();
    const target = jsPsych.getDisplayElement();
    target.innerHTML = `<div class="text">${STUDY.debriefing}</div>`;
    const add = (text, kind) => { const made = document.createElement("p"); made.textContent = text; if (kind) made.className = kind; target.append(made); return made; };
    if (waiting.length) {
      add(addressed ? "Some of your answers could not be sent. Please save this file, and send it to us." : "Please save this file with your answers, and send it to us.");
      const link = document.createElement("a");
      link.id = "download";
      link.textContent = "Save my answers";
      link.download = `answers-${person}.json`;
      link.href = URL.createObjectURL(new Blob([JSON.stringify(done)], { type: "application/json" }));
      target.append(link);
    }
    if (STUDY.completion_code) { add("Your completion code is "); add(STUDY.completion_code, "code"); }
  }
  send();
  run();
})();
