import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { assertOwnFolder, readBounded, replaceFile } from '../lifecycle/index.ts';
import { formatEndpoint } from '../net/index.ts';
import { sightingSchema } from './sighting.ts';

const word = z.string().max(300);

/** A reason why a reading may no longer be how the tablet is. */
const doubtSchema = z.strictObject({
  id: z.enum(['restarted-by-gw', 'restarted', 'opened', 'reset', 'other-device']),
  seen: sightingSchema,
});
export type Doubt = z.infer<typeof doubtSchema>;

const readingSchema = z.strictObject({
  by: z.enum(['setup', 'plan', 'status', 'lock']),
  profile: z.strictObject({
    name: z.string(),
    sha256: word.nullable().describe('Over what the profile demands; null: written by an older version of gw.'),
  }),
  verdict: z
    .enum(['as-profile', 'differs', 'not-checked', 'not-done'])
    .describe(
      'not-checked: nothing differed, but not everything was reported. not-done: setup did not come to its end.',
    ),
  steps: z
    .array(
      z.strictObject({
        id: word,
        title: z.string(),
        state: z.enum(['ok', 'differs', 'not-checked', 'failed', 'not-reached']),
        expected: z.string(),
        found: z.string().nullable(),
      }),
    )
    .max(200),
  seen: sightingSchema,
  doubts: z.array(doubtSchema).max(20).describe('What happened since, so that the reading may not hold any more.'),
});
export type Reading = z.infer<typeof readingSchema>;

/**
 * What is remembered of the tablet of a site: how its debug bridge was last seen, and the newest reading of its
 * settings. It outlives the command, so that every later report can show it, with its age and its device.
 */
export const tabletRecordSchema = z.strictObject({
  schema: z.literal('gw/tablet/2'),
  address: z.strictObject({ host: z.string(), port: z.int() }),
  tablet: z
    .strictObject({
      model: z.string(),
      manufacturer: z.string(),
      serial: z.string(),
      android: z.string(),
      sdk: z.int(),
      bootId: word.nullable(),
      androidId: word.nullable(),
    })
    .nullable()
    .describe('null: it was never connected to.'),
  bridge: z
    .strictObject({
      state: z.enum(['open', 'closed', 'not-proven']),
      why: z.string(),
      isOpenUnresolved: z
        .boolean()
        .describe('It was seen open, and since then neither ordered to close by gw nor refused by the same device.'),
      isWirelessOn: z
        .boolean()
        .describe('The tablet kept wireless debugging on, a port of its own, when it was last locked.'),
      seen: sightingSchema,
      afterRestart: z
        .strictObject({ verdict: z.enum(['closed', 'open', 'not-checked']), seen: sightingSchema.nullable() })
        .describe('Whether the port stayed closed over a restart of the tablet.'),
    })
    .describe('ADB over TCP of the tablet.'),
  reading: readingSchema.nullable().describe('The newest reading, by whichever command; null: none.'),
});
export type TabletRecord = z.infer<typeof tabletRecordSchema>;

/** A line for every report as long as the tablet can be reached by its debug bridge. */
export interface TabletRedLine {
  readonly id: 'tablet-open';
  readonly title: string;
  readonly detail: string;
  readonly remedy: string;
}

const recordPath = (stateDir: string) => join(stateDir, 'tablet.json');
const MAX_RECORD_BYTES = 1024 * 1024;

/** The record of a site; null when the tablet was never touched. Throws FILE_UNREADABLE. */
export async function readTabletRecord(stateDir: string): Promise<TabletRecord | null> {
  const path = recordPath(stateDir);
  const read = await readBounded(path, MAX_RECORD_BYTES).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return null;
    throw new GwError('FILE_UNREADABLE', `${path} cannot be read (${cause.code ?? 'unknown reason'}).`, { cause });
  });
  if (read === null) return null;
  const text = read.kind === 'bytes' ? Buffer.from(read.bytes).toString('utf8') : '';
  const record = parseTabletRecord(text);
  if (record !== null) return record;
  const newer = /^\{\s{0,20}"schema":\s{0,20}"gw\/tablet\/(\d{1,4})"/.exec(text)?.[1];
  if (newer !== undefined && Number(newer) > 2) {
    throw new GwError('FILE_UNREADABLE', `${path} was written by a newer version of gw (gw/tablet/${newer}).`, {
      remedy: 'Run that version of gw here. Or remove the file, then run `gw kiosk lock`.',
    });
  }
  throw new GwError('FILE_UNREADABLE', `${path} is damaged: it is not known whether the tablet was closed.`, {
    remedy: 'Remove the file, then run `gw kiosk lock`: it proves that the tablet is closed, and writes it anew.',
  });
}

/** A record from text; null when it is none. */
export function parseTabletRecord(text: string): TabletRecord | null {
  try {
    return tabletRecordSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Throws FILE_UNWRITABLE. */
export async function writeTabletRecord(stateDir: string, record: TabletRecord): Promise<void> {
  await assertOwnFolder(stateDir);
  await replaceFile(recordPath(stateDir), `${JSON.stringify(record, null, 2)}\n`);
}

/**
 * What every report must show in red: a tablet whose debug bridge was left open, or which is not proven closed.
 * null: there is nothing to show. Never throws: a record that cannot be read is a red line too.
 *
 * @source spec "Cloud and other network paths": 5555 only while the kiosk shell is installed, switched off afterwards
 */
export async function tabletRedLine(stateDir: string): Promise<TabletRedLine | null> {
  try {
    const record = await readTabletRecord(stateDir);
    return record === null ? null : redLineOf(record);
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    return { id: 'tablet-open', title: TITLE, detail: error.message, remedy: error.remedy };
  }
}

const TITLE = 'The debug bridge of the tablet';

function redLineOf({ address, bridge }: TabletRecord): TabletRedLine | null {
  const where = formatEndpoint(address);
  const base = { id: 'tablet-open', title: TITLE } as const;
  const { state, why, seen, afterRestart, isWirelessOn } = bridge;
  const serial = seen.serial === null || seen.serial === '' ? '' : `, serial ${seen.serial}`;
  if (state === 'open') {
    const detail = `ADB over TCP is open at ${where} (seen ${seen.at}${serial}): who reaches it owns the tablet.`;
    return { ...base, detail, remedy: 'Run `gw kiosk lock`.' };
  }
  if (state === 'not-proven') {
    const detail = `ADB over TCP at ${where} is not proven closed (${seen.at}${serial}: ${why}).`;
    return {
      ...base,
      detail,
      remedy:
        'Wake the tablet, bring it into its WLAN, and run `gw kiosk lock` on the gateway, or with --usb at a cable.',
    };
  }
  if (isWirelessOn) {
    const detail = `The tablet of ${where} kept wireless debugging on, another port of its debug bridge (${seen.at}${serial}).`;
    return {
      ...base,
      detail,
      remedy:
        'Switch wireless debugging off in its developer options, then prove it: `gw kiosk lock --usb` at a cable.',
    };
  }
  if (afterRestart.verdict === 'open') {
    const detail = `ADB over TCP at ${where} opens again after every restart of the tablet (${afterRestart.seen?.at ?? seen.at}).`;
    return {
      ...base,
      detail,
      remedy: 'Switch it off in the developer options of the tablet, then prove it: `gw kiosk lock --after-restart`.',
    };
  }
  return null;
}
