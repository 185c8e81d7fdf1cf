import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeVerdicts, judgedCommands, strictCommands } from '../../src/cli/verdict-table.ts';

const folder = join(import.meta.dirname, '..', '..', 'src', 'commands');
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({
    id: path.replace(/(\/index)?\.ts$/, '').replaceAll('/', ' '),
    text: readFileSync(join(folder, path), 'utf8'),
  }));
const idsOf = (isWanted: (text: string) => boolean) => sources.filter(({ text }) => isWanted(text)).map(({ id }) => id);

/** Outcomes with an `ok` of their own; those of orders that share a function come from drive-command.ts. */
const decidesItself = (text: string) =>
  /return \{ data.*(?:\bok\b|outcomeOf)/.test(text) || text.includes('drive-command.ts');

describe('the table of verdicts in the command reference', () => {
  it('has every command that judges by the one rule, and each of them takes --accept-undecided', () => {
    expect(sources.length).toBeGreaterThan(50);
    const judged = idsOf((text) => text.includes('this.judged('));
    expect(Object.keys(judgedCommands)).toEqual(judged.toSorted());
    const accepting = idsOf((text) => text.includes("'accept-undecided': acceptUndecidedFlag"));
    expect(accepting.toSorted()).toEqual(judged.toSorted());
    for (const id of judged) {
      const { text = '' } = sources.find((one) => one.id === id) ?? {};
      expect(text, id).toContain('--accept-undecided');
    }
  });

  it('has every other command that can end with 1, and no command twice', () => {
    const others = idsOf((text) => decidesItself(text) && !text.includes('this.judged('));
    expect(Object.keys(strictCommands).toSorted()).toEqual(others.toSorted());
    expect(Object.keys(strictCommands).filter((id) => Object.hasOwn(judgedCommands, id))).toEqual([]);
  });

  it('stands in docs/commands.md', () => {
    expect(readFileSync(join(folder, '..', '..', 'docs', 'commands.md'), 'utf8')).toContain(describeVerdicts().trim());
  });
});
