// Reads manifests, checks every document against the schema of its kind, and writes
//   OUT/documents.json  {file: [document, …]}
//   OUT/documents.ts    each document as a literal of its type, for tsc to find unknown fields
// Usage: documents.mjs OUT FILE...   Prints a line for each problem; exit code 1 when there is one.
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { parseAllDocuments } from "yaml";

const [out, ...files] = process.argv.slice(2);
const problems = [];
const all = {};
const imports = new Map(); // kind's module -> name of the imported type
const literals = new Map(); // text of the literal -> where it came from

function moduleOf(document) {
  const { apiVersion, kind } = document;
  const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
  const operator = group === "monitoring.coreos.com";
  const models = operator ? "@kubernetes-models/prometheus-operator" : "kubernetes-models";
  return `${models}/${apiVersion}/${kind}`;
}

async function check(document, where) {
  if (!document?.apiVersion || !document?.kind) {
    problems.push(`${where}: no apiVersion or kind`);
    return;
  }
  const path = moduleOf(document);
  let model;
  try {
    model = await import(path);
  } catch {
    problems.push(`${where}: nothing is known of ${document.apiVersion} ${document.kind}`);
    return;
  }
  try {
    new model[document.kind](document).validate();
  } catch (error) {
    problems.push(`${where}: ${error.message}`);
  }
  const name = imports.get(path) ?? `I${document.kind}`;
  imports.set(path, name);
  const literal = `${name} = ${JSON.stringify(document)}`;
  if (!literals.has(literal)) literals.set(literal, where);
}

for (const file of files) {
  all[file] = [];
  // kubelet's parser reads YAML 1.1: 0440 is octal there.
  for (const parsed of parseAllDocuments(readFileSync(file, "utf8"), { version: "1.1" })) {
    for (const error of [...parsed.errors, ...parsed.warnings]) {
      problems.push(`${file}: ${error.message}`);
    }
    const document = parsed.toJS();
    if (document === null) continue;
    all[file].push(document);
    await check(document, `${basename(file)}: ${document.kind} ${document.metadata?.name}`);
  }
}
writeFileSync(`${out}/documents.json`, JSON.stringify(all));
let number = 0;
writeFileSync(
  `${out}/documents.ts`,
  [...imports].map(([path, name]) => `import type { ${name} } from "${path}";`).join("\n") +
    "\n" +
    [...literals]
      .map(([text, where]) => `// ${where}\nexport const d${number++}: ${text};`)
      .join("\n") +
    "\n",
);
for (const problem of problems) console.log(problem);
process.exit(problems.length > 0 ? 1 : 0);
