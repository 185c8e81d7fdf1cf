import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { replaceFile } from '../lifecycle/index.ts';
import { formatEndpoint } from '../net/index.ts';

/**
 * What is remembered of the tablet of a site: whether ADB over TCP was left open, and how it was last set up. It
 * outlives the command, so that every later report can say it.
 */
export const tabletRecordSchema = z.strictObject({
  schema: z.literal('gw/tablet/1'),
  address: z.strictObject({ host: z.string(), port: z.int() }),
  tablet: z
    .strictObject({
      model: z.string(),
      manufacturer: z.string(),
      serial: z.string(),
      android: z.string(),
      sdk: z.int(),
    })
    .nullable()
    .describe('null: it was never spoken to.'),
  bridge: z
    .strictObject({
      state: z.enum(['open', 'closed', 'not-proven']),
      at: z.iso.datetime().describe('When this was seen.'),
      why: z.string(),
      afterRestart: z
        .enum(['closed', 'open', 'not-checked'])
        .describe('Whether the port stayed closed over a restart of the tablet.'),
    })
    .describe('ADB over TCP of the tablet.'),
  setUp: z
    .strictObject({
      profile: z.string(),
      at: z.iso.datetime(),
      verdict: z
        .enum(['complete', 'not-checked', 'not-done'])
        .describe('not-checked: nothing differed, but the tablet did not tell everything.'),
      open: z.array(z.string()).describe('Titles of the steps that were not in order or not checked.'),
    })
    .nullable()
    .describe('The last run of `gw kiosk setup`; null: none.'),
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

/** The record of a site; null when the tablet was never touched. Throws FILE_UNWRITABLE when it cannot be read. */
export async function readTabletRecord(stateDir: string): Promise<TabletRecord | null> {
  const path = recordPath(stateDir);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new GwError('FILE_UNWRITABLE', `${path} cannot be read (${code ?? 'unknown reason'}).`, { cause });
  }
  const record = parseTabletRecord(text);
  if (record !== null) return record;
  throw new GwError('FILE_UNWRITABLE', `${path} is damaged: nobody knows whether the tablet was closed.`, {
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
  await replaceFile(recordPath(stateDir), `${JSON.stringify(record, null, 2)}\n`);
}

/**
 * What every report must show in red: a tablet whose debug bridge was left open, or of which nobody proved that it
 * is closed. null: there is nothing to show. Never throws: a record that cannot be read is a red line too.
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
  if (bridge.state === 'open') {
    const detail = `ADB over TCP is open at ${where} (seen ${bridge.at}): who reaches it owns the tablet.`;
    return { ...base, detail, remedy: 'Run `gw kiosk lock`.' };
  }
  if (bridge.state === 'not-proven') {
    const detail = `Nobody proved that ADB over TCP at ${where} is closed (${bridge.at}: ${bridge.why}).`;
    return { ...base, detail, remedy: 'Wake the tablet, bring it into its WLAN, and run `gw kiosk lock`.' };
  }
  if (bridge.afterRestart === 'open') {
    const detail = `ADB over TCP at ${where} opens again after every restart of the tablet (${bridge.at}).`;
    return { ...base, detail, remedy: 'Switch it off in the developer options of the tablet, then lock again.' };
  }
  return null;
}
