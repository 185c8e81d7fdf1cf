import { z } from 'zod';
import { actNames } from '../gateway/acts-check.ts';
import type { Check } from './check.ts';

/** One check whose functions receive the output of its schema. */
const check = <O>(of: Check<O>) => of;

const list = z.string().regex(/^[a-z0-9-]{1,64}$/);

/** Checks of what gw itself knows about a question to a person: records, the log of the gateway, the site file. */
export const knownChecks = {
  'record state': check({
    summary:
      'The newest record of a checklist for this robot in the state folder: here, complete, signed, and of the device that is here now.',
    with: z.strictObject({ list: list.describe('Name of the checklist.') }),
    run: async (of, run) =>
      (await import('../checklist/record-check.ts')).checkKeptRecord(await run.onGateway(), of, run),
  }),
  'password change': check({
    summary: 'Another device password was set since the records of these checklists.',
    with: z.strictObject({ since: z.array(list).min(1).max(10).describe('Names of the checklists.') }),
    run: async (of, run) =>
      (await import('../checklist/record-check.ts')).checkPasswordChange(await run.onGateway(), of),
  }),
  'gateway acts': check({
    summary: 'The log of the running gateway has what a person did: a tour, a stop, a sign-in, a lost link.',
    with: z.strictObject({
      of: z.enum(actNames).describe('The act.'),
      withinMin: z.int().min(1).max(1_440).default(240).describe('How long ago it may be, in minutes.'),
    }),
    run: async (of, run) => (await import('../gateway/acts-check.ts')).checkActs(await run.toolkit(), of, run),
  }),
  'ssh sessions': check({
    summary: 'No other machine has an SSH session on this gateway now; the one of this command does not count.',
    with: z.strictObject({}),
    async run(_, run) {
      await run.onGateway();
      return await (await import('../gateway/ssh-sessions.ts')).checkSshSessions({ own: run.sshConnection });
    },
  }),
  'site contacts': check({
    summary: 'The site file names whom to call on both sides, with mail address and telephone number.',
    with: z.strictObject({}),
    run: async (_, run) => (await import('../site/contacts-check.ts')).checkContacts((await run.toolkit()).site),
  }),
};
