import { homedir } from 'node:os';
import { join } from 'node:path';
import { chalkStderr } from 'chalk';
import {
  type Answer,
  type AskContext,
  type AskedStep,
  type Decision,
  INITIALS,
  type StepResult,
} from '../lib/checklist/index.ts';
import { GwError } from '../lib/error/index.ts';
import { untilAborted } from '../lib/lifecycle/index.ts';
import { askLine, type Streams } from './ask.ts';
import { printable } from './output.ts';
import { reflow, widthOf } from './wrap.ts';

export interface Technician {
  /** Asks one question of a checklist, or for a measured value; an empty line skips it. */
  ask(step: AskedStep, context: AskContext): Promise<Answer>;
  /** Asks what to do about a failed step; an empty line keeps the result. */
  decide(result: StepResult, signal: AbortSignal): Promise<Decision>;
}

export interface TechnicianOptions {
  readonly streams?: Streams;
  /** Called on Ctrl-C, which in the raw mode of the terminal is a key and not a signal. */
  readonly onInterrupt: () => void;
  /** null: asked for at the first question. */
  readonly initials: string | null;
}

const MAX_TEXT_CHARS = 500;
/** With a decimal point or comma; no thousands separators, since they would be ambiguous. */
const NUMBER = /^[-+]?\d{1,15}(?:[.,]\d{1,15})?$/;

export function createTechnician({ streams, onInterrupt, initials }: TechnicianOptions): Technician {
  const { output } = streams ?? { output: process.stderr };
  let known = initials;
  const write = (line: string) => output.write(`${reflow(line, widthOf(output))}\n`);

  /** The next line; undefined at the end of the input. */
  async function nextLine(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      return await askLine(prompt, { streams, signal });
    } catch (error) {
      if (signal.aborted || !(error instanceof GwError && error.code === 'INTERRUPTED')) throw error;
      onInterrupt();
      return await untilAborted(signal, new Promise<never>(() => {}));
    }
  }

  async function askInitials(signal: AbortSignal): Promise<void> {
    while (known === null) {
      const line = await nextLine('Your initials, recorded with every answer:', signal);
      if (line === undefined) return;
      if (INITIALS.test(line)) known = line;
      else if (line !== '') say('at most 8 letters, digits, . or -');
    }
  }

  function say(text: string): void {
    write(`  ${chalkStderr.dim(text)}`);
  }

  function sayNoAnswer(line: string, accepted: string): void {
    say(`'${printable(line)}' is no answer: ${accepted}`);
  }

  async function text(prompt: string, rest: string, signal: AbortSignal): Promise<string | null> {
    const line = rest === '' ? await nextLine(prompt, signal) : rest;
    return line === undefined || line === '' ? null : line.slice(0, MAX_TEXT_CHARS);
  }

  return {
    async ask(step, { signal, keepPhoto }) {
      await askInitials(signal);
      let remark: string | null = null;
      const attachments: string[] = [];
      const give = (answer: Answer['answer'], value: number | null = null): Answer => {
        return { answer, by: null, initials: known, remark, value, attachments };
      };
      const what = step.kind === 'measure' ? `a number in ${printable(step.unit)}` : 'y or j = yes, n = no';
      const accepted = `${what}, Enter = skip, r = remark, p = photo`;
      const keys = chalkStderr.dim(`[${accepted}]`);
      for (;;) {
        const line = (await nextLine(`${printable(step.question)} ${keys}`, signal)) ?? '';
        const [, word = '', rest = ''] = /^(\S*)\s*(.*)$/s.exec(line) ?? [];
        const key = word.toLowerCase();
        if (key === '' || (rest === '' && 'skip'.startsWith(key))) return give('skip');
        if ('remark'.startsWith(key)) {
          remark = (await text('Remark:', rest, signal)) ?? remark;
        } else if ('photo'.startsWith(key)) {
          const path = await text('Path of the photo:', rest, signal);
          if (path !== null) await attach(path);
        } else if (step.kind === 'measure') {
          const number = rest === '' || rest === step.unit ? readNumber(word) : undefined;
          if (number !== undefined) return give('yes', number);
          say(`expected a number in ${printable(step.unit)}, such as 1.5`);
        } else if (rest === '' && ('yes'.startsWith(key) || 'ja'.startsWith(key))) {
          if (step.needsRemark) remark ??= await text('Remark:', '', signal);
          return give('yes');
        } else if (rest === '' && ('no'.startsWith(key) || 'nein'.startsWith(key))) {
          remark ??= await text('What is wrong?', '', signal);
          return give('no');
        } else sayNoAnswer(line, accepted);
      }

      async function attach(path: string): Promise<void> {
        try {
          const name = await keepPhoto(plainPath(path));
          attachments.push(name);
          say(`saved as ${name}`);
        } catch (error) {
          if (!(error instanceof GwError) || error.code !== 'ATTACHMENT_INVALID') throw error;
          say(printable(error.message));
        }
      }
    },

    async decide({ deviation, verdict, why, remedy }, signal) {
      if (deviation !== null) return { kind: 'leave' };
      write(`        ${printable(why)}`);
      if (remedy !== null) write(`        ${chalkStderr.cyan('fix:')} ${printable(remedy)}`);
      const accepted = 'Enter = keep this result, again = repeat the step, accept = accept as a deviation';
      const keys = chalkStderr.dim(`[${accepted}]`);
      const what = verdict === 'wrong' ? 'Step failed.' : 'Step not checked.';
      for (;;) {
        const word = ((await nextLine(`${what} ${keys}`, signal)) ?? '').toLowerCase();
        if (word === '') return { kind: 'leave' };
        if (word === 'again') return { kind: 'again' };
        if (word !== 'accept') {
          sayNoAnswer(word, accepted);
          continue;
        }
        const reason = await text('Reason for accepting it?', '', signal);
        const approvedBy = reason === null ? null : await text('Approved by (name)?', '', signal);
        if (reason !== null && approvedBy !== null) return { kind: 'accept', reason, approvedBy };
        say('not accepted: a deviation needs a reason and a name');
      }
    },
  };
}

function readNumber(word: string): number | undefined {
  return NUMBER.test(word) ? Number(word.replace(',', '.')) : undefined;
}

/** Strips the quotes that file managers add when pasting, and expands a leading tilde; no further shell syntax. */
function plainPath(text: string): string {
  const path = /^(['"])(.*)\1$/s.exec(text)?.[2] ?? text;
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : path;
}
