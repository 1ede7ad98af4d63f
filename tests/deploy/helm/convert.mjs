// convert.mjs json FILE...            {file: content} of YAML files
// convert.mjs table VALUES SCHEMA     the chart's values as a table: name, default, comment
import { readFileSync } from "node:fs";
import { parse, parseDocument } from "yaml";

const [mode, ...files] = process.argv.slice(2);

// A value with properties of its own in the schema is a group, everything else a value; so is one
// that the schema comments on.
function rows(map, schema, prefix) {
  return map.items.flatMap((pair, index) => {
    const key = pair.key.value;
    const own = schema.properties?.[key];
    if (!own) throw new Error(`values.schema.json does not know ${prefix}${key}`);
    if (own.properties && !own.$comment) return rows(pair.value, own, `${prefix}${key}.`);
    // The first comment of a map belongs to the map, not to its first key.
    const comment = (pair.key.commentBefore || (index === 0 && map.commentBefore) || "").trim();
    const text = comment.split("\n").map((line) => line.trim()).join(" ");
    if (!text) throw new Error(`values.yaml does not say what ${prefix}${key} is`);
    const value = JSON.stringify(pair.value.toJSON()).replaceAll("|", "\\|");
    return [`| \`${prefix}${key}\` | \`${value}\` | ${text.replaceAll("|", "\\|")} |`];
  });
}

if (mode === "json") {
  const all = files.map((file) => [file, parse(readFileSync(file, "utf8"), { version: "1.1" })]);
  process.stdout.write(JSON.stringify(Object.fromEntries(all)));
} else {
  const document = parseDocument(readFileSync(files[0], "utf8"));
  const schema = JSON.parse(readFileSync(files[1], "utf8"));
  const lines = rows(document.contents, schema, "");
  process.stdout.write(["| value | default | meaning |", "|---|---|---|", ...lines, ""].join("\n"));
}
