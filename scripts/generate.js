// Writes what is derived from the code: the command manifest, the JSON Schemas of the results, the contracts of the
// operator server, the command reference, and the generated blocks of the docs. With --check it writes nothing and
// fails on a difference.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Plugin } from '@oclif/core';
import { z } from 'zod';
import { asyncApi } from '../src/cli/contracts/asyncapi.ts';
import { openApi } from '../src/cli/contracts/openapi.ts';
import { describeSharedFlags } from '../src/cli/flag-table.ts';
import { fileSchemas, resultSchemas } from '../src/cli/schemas.ts';
import { describeVerdicts } from '../src/cli/verdict-table.ts';
import { describeErrorTable } from '../src/lib/error/describe.ts';
import { describeLedger } from '../src/lib/evidence/index.ts';
import { describeSiteSchema } from '../src/lib/site/write.ts';
import { tableCell } from '../src/lib/text/index.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const check = process.argv.includes('--check');
const stale = [];

function put(path, text) {
  const full = join(root, path);
  let before = null;
  try {
    before = readFileSync(full, 'utf8');
  } catch {}
  if (before === text) return;
  if (check) stale.push(path);
  else writeFileSync(full, text);
}

/** Replaces what stands between the two markers of this name. */
function putBlock(path, name, text) {
  const [start, end] = [`<!-- generated:${name} -->`, `<!-- /generated -->`];
  const page = readFileSync(join(root, path), 'utf8');
  const from = page.indexOf(start);
  const to = page.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`${path} has no block ${start} … ${end}`);
  put(path, `${page.slice(0, from + start.length)}\n${text.trim()}\n${page.slice(to)}`);
}

const plugin = new Plugin({
  root,
  isRoot: true,
  ignoreManifest: true,
  errorOnManifestCreate: true,
  respectNoCacheDefault: true,
});
await plugin.load();
const { manifest } = plugin;
const commands = Object.fromEntries(Object.entries(manifest.commands).sort(([a], [b]) => (a < b ? -1 : 1)));
put('oclif.manifest.json', `${JSON.stringify({ ...manifest, commands }, null, 2)}\n`);

const ids = Object.keys(commands).map((id) => id.replaceAll(':', ' '));
const missing = ids.filter((id) => !(id in resultSchemas));
const extra = Object.keys(resultSchemas).filter((id) => !ids.includes(id));
if (missing.length + extra.length > 0) {
  throw new Error(`result schemas: missing for [${missing.join(', ')}], without a command [${extra.join(', ')}]`);
}
mkdirSync(join(root, 'schemas'), { recursive: true });
const written = new Set();
for (const id of ids) {
  const file = `${id.replaceAll(' ', '-')}.json`;
  written.add(file);
  const schema = z.toJSONSchema(await resultSchemas[id](), { io: 'output', unrepresentable: 'any' });
  put(`schemas/${file}`, `${JSON.stringify({ title: `data of gw ${id} --json`, ...schema }, null, 2)}\n`);
}
for (const [name, load] of Object.entries(fileSchemas)) {
  written.add(`${name}.json`);
  const schema = z.toJSONSchema(await load(), { io: 'output', unrepresentable: 'any' });
  put(`schemas/${name}.json`, `${JSON.stringify({ title: `${name} file of gw`, ...schema }, null, 2)}\n`);
}
for (const [file, describe] of Object.entries({ 'openapi.json': openApi, 'asyncapi.json': asyncApi })) {
  written.add(file);
  put(`schemas/${file}`, `${JSON.stringify(describe(manifest.version), null, 2)}\n`);
}
for (const file of readdirSync(join(root, 'schemas'))) {
  if (written.has(file)) continue;
  if (check) stale.push(`schemas/${file} (no such command)`);
  else rmSync(join(root, 'schemas', file));
}

put('docs/commands.md', commandsPage(commands));
putBlock('docs/site-file.md', 'site-keys', describeSiteSchema());
putBlock('docs/errors.md', 'errors', describeErrorTable());
putBlock('docs/evidence.md', 'ledger', describeLedger());

if (stale.length > 0) {
  process.stderr.write(`not in step with the code: ${stale.join(', ')}\nrun: npm run generate\n`);
  process.exit(1);
}
process.stdout.write(check ? 'generated files are in step\n' : 'generated files written\n');

function commandsPage(all) {
  const lines = [
    '# Commands',
    '',
    'Every command takes `--json` (one envelope on stdout: `{schema, ok, data, warnings, error}`; long-running ones print',
    'one object a line), `--quiet`, `--no-color` and `--help`. Exit codes: 0 fine, 1 a check found something wrong or open, 2 wrong usage or site file,',
    '3 not reachable, 4 refused, 70 a bug of gw, 130 interrupted.',
    '',
    '**Site file.** `--site FILE`, else the variable `GW_SITE`, else `site.yaml` in this folder or in one above it, up to the home',
    'folder, the root of the file system, or a folder of another person. Paths in a site file are relative to its own folder. A',
    'command that verifies a record takes `--site` and `GW_SITE` only: a file that happens to be here may be of another robot.',
    '',
    '**Output.** The first line is the verdict; on a terminal it is the last line too where the text is longer than the screen.',
    'Lines and the cells of tables break at spaces, at `COLUMNS` or the width of the terminal; elsewhere lines stay whole, so',
    'that they can be searched and cut. Commands that only show use a pager on a terminal where the text is longer than the',
    'screen: `GW_PAGER`, `PAGER`, else `less`; none with `--no-pager` or `GW_PAGER=cat`. `--quiet` prints no progress, and nothing on stdout but',
    'the first line of a result that is not fine; errors, warnings and documents (`--format`) stay, and the exit code as well.',
    '',
    describeVerdicts(),
    describeSharedFlags(),
  ];
  for (const [id, command] of Object.entries(all)) {
    if (command.hidden) continue;
    const args = Object.values(command.args ?? {}).map((arg) =>
      arg.required ? arg.name.toUpperCase() : `[${arg.name.toUpperCase()}]`,
    );
    lines.push(`## gw ${[id.replaceAll(':', ' '), ...args].join(' ')}`, '', command.summary ?? '', '');
    if (command.description) lines.push(command.description.trim(), '');
    const flags = Object.values(command.flags ?? {}).filter(
      (flag) => !flag.hidden && !['json', 'no-color', 'quiet'].includes(flag.name),
    );
    if (flags.length > 0) {
      lines.push('| flag | meaning | default |', '| --- | --- | --- |');
      for (const flag of flags.sort((a, b) => (a.name < b.name ? -1 : 1))) {
        const value = flag.type === 'option' ? ` ${flag.helpValue ?? flag.options?.join('\\|') ?? 'VALUE'}` : '';
        const names = `${flag.char ? `-${flag.char}, ` : ''}--${flag.name}${value}`;
        const text = tableCell(flag.summary ?? flag.description ?? '');
        lines.push(
          `| \`${names}\` | ${text} | ${flag.default === undefined || flag.default === false ? '' : `\`${flag.default}\``} |`,
        );
      }
      lines.push('');
    }
    for (const example of command.examples ?? []) {
      const shown = typeof example === 'string' ? { command: example } : example;
      if (shown.description) lines.push(`${shown.description}:`, '');
      lines.push(
        '```',
        shown.command.replaceAll('<%= config.bin %>', 'gw').replaceAll('<%= command.id %>', id.replaceAll(':', ' ')),
        '```',
        '',
      );
    }
  }
  return `${lines.join('\n').trim()}\n`;
}
