import { Flags } from '@oclif/core';
import type { Person } from '../lib/toolkit/replace/run.ts';
import { type Asking, askLine, canAsk } from './ask.ts';
import { siteFlag } from './flags.ts';
import type { Progress } from './progress.ts';

/** Flags of every replacement. It runs on the gateway, whose files it reads and changes. */
export const replaceFlags = {
  site: siteFlag,
  confirm: Flags.string({
    summary: 'Confirm this step, which gw cannot see; repeatable. What gw sees against it refuses it.',
    helpValue: 'STEP',
    multiple: true,
    multipleNonGreedy: true,
    dependsOn: ['who'],
  }),
  who: Flags.string({ summary: 'Name of the person who confirms.', helpValue: 'NAME' }),
};

/** The one-time code of the new identity, as `gw enrol` takes it. */
export const codeFlags = {
  'code-file': Flags.file({
    summary:
      'Read the one-time code for the new identity from the first line of this file, which must be private to its owner.',
    helpValue: 'FILE',
    exclusive: ['code-env'],
  }),
  'code-env': Flags.string({
    summary: 'Read the one-time code from this environment variable.',
    helpValue: 'NAME',
  }),
};

/** Whether a person is at this terminal. */
export const isAttended = ({ json }: { readonly json: boolean }) => canAsk() && !json;

interface Attending extends Pick<Asking, 'signal' | 'streams'> {
  readonly progress: Pick<Progress, 'stop'>;
  /** A person is at the terminal. */
  readonly attended: boolean;
}

/** The person at the terminal, or the flags alone. */
export function personOf(
  flags: { readonly confirm?: readonly string[] | undefined; readonly who?: string | undefined },
  { signal, streams, progress, attended }: Attending,
): Person {
  const { confirm: confirms = [], who: by } = flags;
  if (!attended) return { confirms, by };
  let known = by;
  return {
    confirms,
    by,
    async ask(question) {
      progress.stop();
      const answer = await askLine(`${question} [y = yes, Enter = leave open]`, { signal, streams });
      if (answer === undefined || !/^(y|yes|j|ja)$/i.test(answer)) return null;
      known ??= await askLine('Your name, recorded with the answer:', { signal, streams });
      return known === undefined || known === '' ? null : { by: known };
    },
  };
}

/** A code at hand: by a flag, or typed at this terminal. */
export function codeReader(
  flags: { readonly 'code-file'?: string | undefined; readonly 'code-env'?: string | undefined },
  { signal, progress, attended }: Attending,
): (() => Promise<string>) | undefined {
  const { 'code-file': file, 'code-env': variable } = flags;
  if (file === undefined && variable === undefined && !attended) return undefined;
  return async () => {
    progress.stop();
    const { readOneTimeCode } = await import('./secrets.ts');
    return await readOneTimeCode({ file, variable }, process.env, { signal });
  };
}
