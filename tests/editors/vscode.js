// Activates the bundled extension outside of the editor: what it asks of `vscode` is answered by objects that agree to
// everything. That `activate` comes back without an error message means that the server has answered `initialize`.
"use strict";

const Module = require("module");
const fs = require("fs");

const [, , script, binary] = process.argv;
const complaints = [];

/** Whatever is asked of it, called or made, it is such a thing again. */
function anything(own = {}) {
  const known = (key) => Object.prototype.hasOwnProperty.call(own, key);
  return new Proxy(function () {}, {
    get: (_, key) => {
      if (known(key)) return own[key];
      if (key === "prototype") return {};
      return key === "then" || typeof key === "symbol" ? undefined : anything();
    },
    apply: () => anything(),
    construct: () => anything(),
  });
}

const settings = { get: (name, otherwise) => (name === "path" ? binary : otherwise), has: () => false, inspect: () => undefined };
const vscode = anything({
  version: "1.91.0",
  workspace: anything({ getConfiguration: () => settings, textDocuments: [], workspaceFolders: undefined }),
  window: anything({
    showErrorMessage: async (message) => void complaints.push(message),
    visibleTextEditors: [],
    activeTextEditor: undefined,
    tabGroups: anything({ all: [] }),
  }),
});
// A bundle copies the module's own properties: every name that stands in it is one.
const names = new Set(fs.readFileSync(script, "utf8").match(/(?<=\.)[A-Za-z]\w*/g));
const module_ = Object.fromEntries([...names].map((name) => [name, vscode[name]]));
const load = Module._load;
Module._load = (request, ...rest) => (request === "vscode" ? module_ : load(request, ...rest));

const end = (code, ...words) => {
  if (words.length > 0) console.error("FAILED:", ...words);
  process.exit(code);
};
setTimeout(() => end(1, "the extension does not get ready"), 30000);
const extension = require(script);
extension
  .activate({ subscriptions: [] })
  .then(() => (complaints.length > 0 ? end(1, ...complaints) : extension.deactivate()))
  .then(() => end(0))
  .catch((error) => end(1, error));
