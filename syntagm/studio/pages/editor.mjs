// The editor of templates, on top of the plain field, which stays what is sent.
import { basicSetup, EditorView } from "codemirror";
import { StreamLanguage } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, setDiagnostics } from "@codemirror/lint";

const form = document.getElementById("editor");
const field = form.elements.text;
const host = document.createElement("div");
host.className = "editor-host";
field.closest("label").after(host);
// The styles of CodeMirror are made by its script. Inside a shadow they need no permission of the page's policy.
const root = host.attachShadow({ mode: "open" });
const view = new EditorView({
  doc: field.value,
  root,
  parent: root,
  extensions: [
    basicSetup,
    StreamLanguage.define(toml),
    lintGutter(),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": "Template", spellcheck: "false" }),
    EditorView.theme({
      "&": { fontSize: "15px", color: "inherit", backgroundColor: "transparent" },
      ".cm-gutters": { backgroundColor: "transparent", color: "inherit", opacity: ".6" },
      ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "rgba(128, 128, 128, .1)" },
      ".cm-content": { caretColor: "currentColor" },
      "&.cm-focused": { outline: "none" },
      // CodeMirror's own marks are pictures in data: addresses, which the policy of the page refuses.
      ".cm-lint-marker-error": { content: "'\u25cf'", color: "#c43b00" },
      ".cm-lint-marker-warning": { content: "'\u25cb'", color: "#8a6d00" },
      ".cm-lintRange-error, .cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy" },
    }),
    EditorView.updateListener.of((update) => {
      if (!update.docChanged) return;
      field.value = view.state.doc.toString();
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }),
  ],
});
field.hidden = true;

// The field got another text.
document.addEventListener("restored", () => {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: field.value } });
});

// Findings that tell a line stand at it.
document.addEventListener("found", (event) => {
  const found = event.detail.findings.flatMap((finding) => {
    const line = Number(/\bline (\d+)/.exec(finding.message)?.[1]);
    if (!(line >= 1 && line <= view.state.doc.lines)) return [];
    const place = view.state.doc.line(line);
    return [{ from: place.from, to: place.to, severity: finding.error ? "error" : "warning", message: `${finding.code} ${finding.message}` }];
  });
  view.dispatch(setDiagnostics(view.state, found));
});
