import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeSharedFlags, sharedFlags } from '../../src/cli/flag-table.ts';

interface Described {
  readonly name: string;
  readonly type: 'boolean' | 'option';
  readonly helpValue?: string;
  readonly options?: readonly string[];
}

const root = join(import.meta.dirname, '..', '..');
const { commands } = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as {
  commands: Record<string, { flags: Record<string, Described> }>;
};
/** What the base class gives every command. */
const ofAll = Object.keys(commands.version?.flags ?? {});
const used = Object.entries(commands).flatMap(([id, { flags }]) =>
  Object.values(flags)
    .filter(({ name }) => !ofAll.includes(name))
    .map((flag) => ({ id, flag })),
);
const wordFor = ({ type, helpValue, options }: Described) => {
  if (type === 'boolean') return null;
  return helpValue ?? options?.join('|') ?? 'no word for its value';
};
/** Each command has formats of its own, which its help lists. */
const isFormat = ({ name, options }: Described) => name === 'format' && options !== undefined;

describe('the flags of several commands', () => {
  const counts = Map.groupBy(used, ({ flag }) => flag.name);

  it('stand in one table, each once, and no flag of a single command with them', () => {
    expect(used.length).toBeGreaterThan(200);
    const shared = [...counts].filter(([, uses]) => uses.length > 1).map(([name]) => name);
    expect(Object.keys(sharedFlags)).toEqual(shared.toSorted());
  });

  it('take the same kind of value everywhere', () => {
    const others = used
      .filter(({ flag }) => Object.hasOwn(sharedFlags, flag.name) && !isFormat(flag))
      .filter(({ flag }) => wordFor(flag) !== sharedFlags[flag.name]?.value)
      .map(({ id, flag }) => `gw ${id} --${flag.name} ${wordFor(flag)}`);
    expect(others).toEqual([]);
  });

  it('have one name for a duration that passes, one for a limit, and one for a file that is written', () => {
    const durations = used.filter(({ flag }) => flag.helpValue === 'DURATION').map(({ flag }) => flag.name);
    expect(new Set(durations)).toEqual(new Set(['for', 'timeout', 'boot-time']));
    const worded = used.filter(({ flag }) => /^(SECONDS|MINUTES|MS|TIME)$/.test(flag.helpValue ?? ''));
    expect(worded).toEqual([]);
    const unnamed = used.filter(({ flag }) => wordFor(flag) === 'no word for its value');
    expect(unnamed.map(({ id, flag }) => `gw ${id} --${flag.name}`)).toEqual([]);
  });

  it('stand in docs/commands.md', () => {
    expect(readFileSync(join(root, 'docs', 'commands.md'), 'utf8')).toContain(describeSharedFlags());
  });
});
