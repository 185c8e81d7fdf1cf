import { type FileHandle, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { marks } from '../evidence/index.ts';
import { ensureFolder } from '../lifecycle/index.ts';
import { keepPhoto, syncFolder } from './attachment.ts';
import { type Attachment, attachmentSchema } from './protocol.result.ts';
import { stepResultSchema } from './run.result.ts';
import type { TakenStep } from './runner.ts';

/**
 * The journal of a run: one JSON line for everything that happened, each on disk before a person sees that it was
 * taken. It is what a run goes on from after a crash; the protocol is made of it.
 */

const JOURNAL_FORMAT = 'gw/checklist-journal/1';
const JOURNAL_MAX_BYTES = 64 * 1024 * 1024;

const outcomeSchema = z.strictObject({
  ...stepResultSchema
    .pick({ shown: true, remedy: true, expectations: true, error: true, answer: true, values: true, measured: true })
    .partial().shape,
  ...stepResultSchema.pick({ verdict: true, why: true }).shape,
});

const robotSchema = z.strictObject({ site: z.string(), serial: z.string() });

const begunSchema = z.strictObject({
  kind: z.literal('begun'),
  format: z.literal(JOURNAL_FORMAT),
  id: z.uuid(),
  at: z.iso.datetime(),
  gw: z.string(),
  checklist: z.strictObject({ name: z.string(), sha256: z.string() }),
  robots: z.array(robotSchema).min(1),
});
export type Begun = z.infer<typeof begunSchema>;

const lineSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('resumed'), at: z.iso.datetime(), gw: z.string() }),
  z.strictObject({ kind: z.literal('attachment'), attachment: attachmentSchema }),
  z.strictObject({
    kind: z.literal('step'),
    robot: z.int().min(0),
    /** Since the start of this sitting. */
    elapsedMs: z.number(),
    result: stepResultSchema,
    readings: z.record(z.string(), outcomeSchema),
    software: z.strictObject({ value: z.string(), mark: z.enum(marks), source: z.string() }).nullable(),
  }),
  z.strictObject({ kind: z.literal('protocol'), at: z.iso.datetime(), edition: z.int(), ok: z.boolean() }),
]);
export type JournalLine = z.infer<typeof lineSchema>;

/** What a journal says, read to its end. */
export interface JournalState {
  readonly begun: Begun;
  /** Per robot, in the order of the run: the newest result of every step that was taken. */
  readonly taken: readonly ReadonlyMap<string, TakenStep>[];
  readonly attachments: readonly Attachment[];
  readonly resumedAt: readonly string[];
  /** Of all sittings so far. */
  readonly tookMs: number;
  /** How many protocols were made of this run. */
  readonly editions: number;
}

export interface Journal extends AsyncDisposable {
  readonly path: string;
  /** Folder of the photos that were kept; made with the first. */
  readonly attachmentsDir: string;
  /** What earlier sittings left; empty for a new run. */
  readonly state: JournalState;
  /** Resolves once the line is on disk. Throws FILE_UNWRITABLE. */
  write(line: JournalLine): Promise<void>;
  /** Keeps a photo: first the file, then its line. Throws ATTACHMENT_INVALID, FILE_UNWRITABLE. */
  keepPhoto(stepId: string, path: string): Promise<Attachment>;
  /** Removes journal and photos: the protocol has all of it. */
  remove(): Promise<void>;
}

/** Begins the journal of a new run in a folder. Throws FILE_UNWRITABLE. */
export async function beginJournal(dir: string, begun: Omit<Begun, 'kind' | 'format'>): Promise<Journal> {
  const stamp = begun.at.replace(/[-:]|\.\d+/g, '');
  const path = join(dir, `${begun.checklist.name}-${stamp}-${begun.id.slice(0, 8)}.jsonl`);
  const head: Begun = { kind: 'begun', format: JOURNAL_FORMAT, ...begun };
  try {
    await ensureFolder(dir);
    await using file = await open(path, 'wx', 0o644);
    await file.writeFile(`${JSON.stringify(head)}\n`);
    await file.sync();
    await syncFolder(dir);
  } catch (cause) {
    throw unwritable(path, cause);
  }
  return openJournal(path, stateOf(head, []));
}

/** The newest run of this checklist for these robots; undefined when there is none. Throws JOURNAL_BROKEN. */
export async function findJournal(
  dir: string,
  name: string,
  serials: readonly string[],
): Promise<{ readonly path: string; readonly state: JournalState } | undefined> {
  const files = (await readdir(dir).catch(() => [])).filter(
    (file) => file.startsWith(`${name}-`) && JOURNAL_FILE.test(file),
  );
  const dated = await Promise.all(
    files.map(async (file) => {
      const { mtimeMs, size } = await stat(join(dir, file));
      return { path: join(dir, file), at: mtimeMs, size };
    }),
  );
  for (const { path, size } of dated.toSorted((a, b) => b.at - a.at)) {
    // One that a crash left at its very beginning.
    if (size === 0 || !(await isBegun(path))) continue;
    const state = await readJournal(path);
    const { checklist, robots } = state.begun;
    if (checklist.name === name && robots.map(({ serial }) => serial).join() === serials.join()) return { path, state };
  }
  return undefined;
}

async function isBegun(path: string): Promise<boolean> {
  await using file = await open(path, 'r');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, 0);
  return buffer.subarray(0, bytesRead).includes(0x0a);
}

const JOURNAL_FILE = /^[a-z0-9-]+-\d{8}T\d{6}Z-[0-9a-f]{8}\.jsonl$/;

/** Reads a journal. A last line that a crash cut off is no line. Throws JOURNAL_BROKEN. */
export async function readJournal(path: string): Promise<JournalState> {
  const { size } = await stat(path);
  if (size > JOURNAL_MAX_BYTES) throw broken(path, 'it is larger than any journal of gw');
  return parseJournal(await readFile(path), path);
}

/** As `readJournal`, of the bytes. */
export function parseJournal(bytes: Uint8Array, path: string): JournalState {
  const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(whole);
  } catch (cause) {
    throw broken(path, 'it is not text', cause);
  }
  const [head, ...lines] = text.split('\n').slice(0, -1);
  const begun = read(begunSchema, head, 1, path);
  return stateOf(
    begun,
    lines.map((line, index) => read(lineSchema, line, index + 2, path)),
    path,
  );
}

function read<T>(schema: z.ZodType<T>, line: string | undefined, number: number, path: string): T {
  let value: unknown;
  try {
    value = JSON.parse(line ?? '');
  } catch (cause) {
    throw broken(path, `line ${number} is not JSON`, cause);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw broken(path, `line ${number} is not what a journal of gw says`, parsed.error);
  return parsed.data;
}

function stateOf(begun: Begun, lines: readonly JournalLine[], path = ''): JournalState {
  const taken = begun.robots.map(() => new Map<string, TakenStep>());
  const attachments: Attachment[] = [];
  const resumedAt: string[] = [];
  let [tookMs, sittingMs, editions] = [0, 0, 0];
  for (const [index, line] of lines.entries()) {
    if (line.kind === 'attachment') attachments.push(line.attachment);
    else if (line.kind === 'protocol') editions = Math.max(editions, line.edition);
    else if (line.kind === 'resumed') {
      resumedAt.push(line.at);
      tookMs += sittingMs;
      sittingMs = 0;
    } else {
      const { robot, elapsedMs, result, readings, software } = line;
      const robotTaken = taken[robot];
      if (!robotTaken) throw broken(path, `line ${index + 2} names a robot that is not in this run`);
      robotTaken.set(result.id, { result, readings, software });
      sittingMs = Math.max(sittingMs, elapsedMs);
    }
  }
  return { begun, taken, attachments, resumedAt, tookMs: tookMs + sittingMs, editions };
}

/** Goes on with a journal. A line that a crash cut off is cut away. Throws RUN_OPEN, FILE_UNWRITABLE. */
export async function resumeJournal(path: string): Promise<Journal> {
  const lock = await claim(path);
  try {
    const state = await readJournal(path);
    const bytes = await readFile(path);
    const whole = bytes.lastIndexOf(0x0a) + 1;
    if (whole < bytes.byteLength) {
      await using file = await open(path, 'r+');
      await file.truncate(whole);
      await file.sync();
    }
    return await openClaimed(path, state, lock);
  } catch (error) {
    await rm(lock, { force: true });
    throw error;
  }
}

async function openJournal(path: string, state: JournalState): Promise<Journal> {
  const lock = await claim(path);
  return openClaimed(path, state, lock);
}

async function openClaimed(path: string, state: JournalState, lock: string): Promise<Journal> {
  let file: FileHandle;
  try {
    file = await open(path, 'a');
  } catch (cause) {
    throw unwritable(path, cause);
  }
  const attachmentsDir = `${path.slice(0, -'.jsonl'.length)}.files`;
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  async function append(line: JournalLine): Promise<void> {
    try {
      await file.appendFile(`${JSON.stringify(line)}\n`);
      await file.datasync();
    } catch (cause) {
      throw unwritable(path, cause);
    }
  }

  /** One after the other: two lines that run into each other would be two lost ones. */
  function write(line: JournalLine): Promise<void> {
    const mine = last.catch(() => {}).then(() => append(line));
    last = mine;
    return mine;
  }

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    await last.catch(() => {});
    await file.close();
    await rm(lock, { force: true });
  }

  return {
    path,
    attachmentsDir,
    state,
    write,
    async keepPhoto(stepId, photo) {
      try {
        await ensureFolder(attachmentsDir);
      } catch (cause) {
        throw unwritable(attachmentsDir, cause);
      }
      const attachment = await keepPhoto(photo, stepId, attachmentsDir);
      await write({ kind: 'attachment', attachment });
      return attachment;
    },
    async remove() {
      await close();
      await rm(path, { force: true });
      await rm(attachmentsDir, { recursive: true, force: true });
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Says that this process works on a journal, so that a second one does not. Gives the lock's path. */
async function claim(path: string): Promise<string> {
  const lock = `${path}.lock`;
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      await writeFile(lock, await processMark(process.pid), { flag: 'wx' });
      return lock;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(lock, cause);
      const owner = await readFile(lock, 'utf8').catch(() => '');
      const pid = Number(owner.split(' ')[0]);
      if (isAlive(pid) && (await processMark(pid)) === owner) {
        throw new GwError('RUN_OPEN', `Process ${pid} works on this run of the checklist right now.`, {
          remedy: `Let it end first. When it is no gw, remove ${lock}.`,
        });
      }
      await rm(lock, { force: true });
    }
  }
  throw new GwError('RUN_OPEN', 'Another process has just gone on with this run of the checklist.');
}

/** Number and start of a process: after a restart of the machine or the container another one may have its number. */
async function processMark(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name before the last bracket may hold anything; the start is the twentieth field behind it.
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  return `${pid} ${start}`;
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function broken(path: string, why: string, cause?: unknown): GwError {
  return new GwError('JOURNAL_BROKEN', `${path} cannot be gone on with: ${why}.`, { cause });
}

function unwritable(path: string, cause: unknown): GwError {
  if (cause instanceof GwError) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  return new GwError('FILE_UNWRITABLE', `${path} cannot be written (${code ?? 'unknown reason'}).`, { cause });
}
