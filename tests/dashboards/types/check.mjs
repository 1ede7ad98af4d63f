// Holds the dashboards against Grafana's own types: check.mjs NODE_MODULES SCRATCH DASHBOARD...
//
// The SDK declares enums, to which no string literal of a JSON file can be assigned: they become
// unions of their values first. Each dashboard is then one literal for the compiler, which finds wrong
// types, missing fields and fields that do not exist.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const [modules, scratch, ...dashboards] = process.argv.slice(2);
const SDK = join(modules, '@grafana/grafana-foundation-sdk/dist');
const PARTS = ['common', 'dashboard', 'prometheus', 'stat', 'table', 'timeseries', 'statetimeline',
  'bargauge'];
const ENUM = /export declare enum (\w+) \{([^}]*)\}/g;

/** The declarations of one part of the SDK, enums as unions; members gets Enum.Member: value. */
function declarations(part, members) {
  const text = readFileSync(join(SDK, part, 'types.gen.d.ts'), 'utf8');
  return text.replace(ENUM, (_, name, body) => {
    const values = [...body.matchAll(/(\w+) = ("[^"]*"|-?\d+)/g)];
    for (const [, member, value] of values) members.set(`${name}.${member}`, value);
    return `export type ${name} = ${values.map(([, , value]) => value).join(' | ')};`;
  });
}

function writeSdk() {
  const members = new Map();
  const texts = PARTS.map((part) => [part, declarations(part, members)]);
  if (!members.has('MappingType.ValueToText')) throw new Error('the SDK has changed its enums');
  mkdirSync(join(scratch, 'sdk'), { recursive: true });
  // Of this part only the query is used, and types.ts has a narrower one.
  writeFileSync(join(scratch, 'sdk/cog.d.ts'), 'export interface Dataquery { refId?: string }\n');
  for (const [part, text] of texts) {
    writeFileSync(join(scratch, `sdk/${part}.d.ts`), text
      .replace(/from '\.\.\/(\w+)'/g, "from './$1'")
      .replace(/: (?:common\.)?(\w+\.\w+);/g, (whole, member) =>
        (members.has(member) ? `: ${members.get(member)};` : whole)));
  }
}

const TYPES = `
import type * as common from './sdk/common';
import type * as dashboard from './sdk/dashboard';
import type * as prometheus from './sdk/prometheus';
import type * as stat from './sdk/stat';
import type * as table from './sdk/table';
import type * as timeseries from './sdk/timeseries';
import type * as statetimeline from './sdk/statetimeline';
import type * as bargauge from './sdk/bargauge';

interface DataLink { title: string; url: string; targetBlank?: boolean }
type Property =
  | { id: 'displayName' | 'unit'; value: string }
  | { id: 'decimals' | 'min' | 'max' | 'custom.width'; value: number }
  | { id: 'custom.align'; value: common.FieldTextAlignment }
  | { id: 'custom.cellOptions'; value: common.TableCellOptions }
  | { id: 'mappings'; value: dashboard.ValueMapping[] }
  | { id: 'thresholds'; value: dashboard.ThresholdsConfig }
  | { id: 'color'; value: dashboard.FieldColor }
  | { id: 'links'; value: DataLink[] };
interface Panel<Kind extends string, Options, Custom>
  extends Omit<dashboard.Panel, 'type' | 'targets' | 'options' | 'fieldConfig' | 'links'> {
  type: Kind;
  options: Options;
  links?: DataLink[];
  targets: Omit<prometheus.Dataquery, '_implementsDataqueryVariant'>[];
  fieldConfig: {
    defaults: Omit<dashboard.FieldConfig, 'custom'> & { custom?: Custom };
    overrides: { matcher: { id: 'byName'; options: string }; properties: Property[] }[];
  };
}
type AnyPanel = Panel<'stat', stat.Options, never>
  | Panel<'table', table.Options, table.FieldConfig>
  | Panel<'timeseries', timeseries.Options, timeseries.FieldConfig>
  | Panel<'state-timeline', statetimeline.Options, statetimeline.FieldConfig>
  | Panel<'bargauge', bargauge.Options, never>;
export interface Dashboard extends Omit<dashboard.Dashboard, 'panels'> {
  panels: (AnyPanel | (Omit<dashboard.RowPanel, 'panels'> & { panels: AnyPanel[] }))[];
}
`;

rmSync(scratch, { recursive: true, force: true });
writeSdk();
writeFileSync(join(scratch, 'types.ts'), TYPES);
const files = dashboards.map((file) => {
  const target = join(scratch, basename(file).replace('.json', '.ts'));
  writeFileSync(target, `import type { Dashboard } from './types';\nexport const it: Dashboard = ${
    readFileSync(file, 'utf8').trim()};\n`);
  return target;
});
const compiler = spawnSync(process.execPath, [join(modules, 'typescript/lib/tsc.js'), '--noEmit',
  '--strict', '--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler',
  ...files], { stdio: 'inherit' });
if (compiler.status !== 0) process.exit(1);
console.log(`${files.length} dashboards are what Grafana's types say`);
