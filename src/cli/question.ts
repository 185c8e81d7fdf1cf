import { createInterface, type Interface } from 'node:readline';
import chalk from 'chalk';
import type { Answer, ConfirmStep } from '../lib/checklist/index.ts';
import { printable } from './output.ts';

/** Whether somebody sits at a terminal who can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

export interface Technician {
  /** Asks one question of a checklist; neither yes nor no leaves it open. */
  ask(step: ConfirmStep, signal: AbortSignal): Promise<Answer | null>;
  close(): void;
}

export interface TechnicianStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Called at Ctrl-C, which in the raw mode of the terminal comes as a key and not as a signal. */
  readonly onInterrupt: () => void;
}

/** Asks on the given streams. Lines that are typed ahead answer the questions that follow. */
export function createTechnician({ input, output, onInterrupt }: TechnicianStreams): Technician {
  let lines: Interface | undefined;
  let closed = false;
  const typed: string[] = [];
  let awake = () => {};

  function open(): Interface {
    if (lines) return lines;
    lines = createInterface({ input, output });
    lines.on('line', (line) => {
      typed.push(line);
      awake();
    });
    lines.on('SIGINT', onInterrupt);
    lines.on('close', () => {
      closed = true;
      awake();
    });
    return lines;
  }

  /** The next line; undefined when nobody types any more. */
  async function nextLine(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = () => reject(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', onAbort, { once: true });
    awake = resolve;
    try {
      const shown = open();
      shown.setPrompt(prompt);
      if (!closed) shown.prompt();
      if (typed.length === 0 && !closed) await promise;
      return typed.shift();
    } finally {
      awake = () => {};
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    async ask(step, signal) {
      const keys = chalk.dim('[y = yes, n = no, enter = leave open]');
      for (;;) {
        const line = await nextLine(`${chalk.cyan('?')} ${printable(step.question)} ${keys} `, signal);
        const word = (line ?? '').trim().toLowerCase();
        if (word === '' || 'skip'.startsWith(word)) return { answer: 'skip', by: null, remark: null };
        if ('yes'.startsWith(word)) return { answer: 'yes', by: null, remark: null };
        if (!'no'.startsWith(word)) continue;
        const remark = ((await nextLine('  What is not in order? ', signal)) ?? '').trim().slice(0, 500);
        return { answer: 'no', by: null, remark: remark === '' ? null : remark };
      }
    },
    close() {
      lines?.close();
    },
  };
}
