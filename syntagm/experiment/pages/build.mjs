// The style sheet of jsPsych without the fonts in it: 32 faces of Open Sans as text, 98 % of the file. Pages use the fonts of
// the system, which the style sheet names next.
import { readFileSync, writeFileSync } from "node:fs";

const style = readFileSync("node_modules/jspsych/css/jspsych.css", "utf8");
writeFileSync("system_fonts.css", style.replace(/@font-face\s*\{[^}]*\}/g, ""));
