// A language model in JavaScript: word bigrams with add-one smoothing. It reads a request and writes an answer, each a
// line of JSON, until its input ends. Messages belong on standard error (console.error).

import { createInterface } from "node:readline";

const START = "<s>", END = "</s>", UNKNOWN = "<unk>";
// White space as in Python: \s has \ufeff in addition, and lacks others.
const WORD = /(?:(?!\ufeff)[\s\x1c-\x1f\x85])*([\p{L}\p{N}_]+|\ufeff|[^\p{L}\p{N}_\s\x1c-\x1f\x85])/uy;
const pairs = new Map(), firsts = new Map(), vocabulary = new Set([END, UNKNOWN]);

const add = (counts, key) => counts.set(key, (counts.get(key) ?? 0) + 1);

// The words of a text in lower case, with the start of each. White space belongs to the word after it.
function words(text) {
  const found = [];
  let match, units = 0, characters = 0;
  while ((WORD.lastIndex = units, match = WORD.exec(text))) {
    found.push({ word: match[1].toLowerCase(), start: characters });
    // Strings of JavaScript are counted in UTF-16 units, starts in code points.
    characters += [...match[0]].length;
    units += match[0].length;
  }
  return found;
}

function hello({ options }) {
  for (const sentence of options.sentences) {
    const read = [START, ...words(sentence).map(({ word }) => word), END];
    for (let i = 1; i < read.length; i++) {
      add(pairs, `${read[i - 1]} ${read[i]}`);
      add(firsts, read[i - 1]);
      vocabulary.add(read[i]);
    }
  }
  return {
    name: "bigram",
    // This file, the sentences and the command are part of the fingerprint anyway.
    fingerprint: "no other files",
    sees: "left",
    exact: true,
    bos: START,
    eos: END,
    // After any text, these words and the end have the probability 1 in all. "zzz" stands for all unknown words.
    words: [...vocabulary].filter((word) => word !== END && word !== UNKNOWN).concat("zzz"),
  };
}

function surprisals(text) {
  const answer = { starts: [], bits: [], known: [] };
  let previous = START;
  for (const { word, start } of [...words(text), { word: END, start: [...text].length }]) {
    const known = vocabulary.has(word) && word !== UNKNOWN, read = known ? word : UNKNOWN;
    const count = pairs.get(`${previous} ${read}`) ?? 0, total = firsts.get(previous) ?? 0;
    answer.starts.push(start);
    answer.bits.push(-Math.log2((count + 1) / (total + vocabulary.size)));
    answer.known.push(known);
    previous = read;
  }
  return answer;
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const answer = request.do === "hello" ? hello(request) : { answers: request.texts.map(surprisals) };
  console.log(JSON.stringify({ id: request.id, ...answer }));
}
