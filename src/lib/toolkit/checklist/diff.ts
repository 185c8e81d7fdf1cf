import type { CheckRecord, RobotRecord, StepResult } from '../../checklist/index.ts';
import { type Basis, type Mark, markText } from '../../evidence/index.ts';
import { signatureState } from '../../report/index.ts';
import type { RecordDiff, RobotDiff } from './checklist.result.ts';
import { type RecordTrust, unaltered, verifyRecordAt } from './record-file.ts';
import { subjectOf } from './verify.ts';

/**
 * Values of a record that differ at every run: times, durations and ages, rates within their scatter, ids of a run,
 * folders. Project decision; a record states only name, unit and content of a value.
 */

/** Units of durations and ages: judged by a verdict, and different at every run. */
const durationUnits: ReadonlySet<string> = new Set(['ns', 'µs', 'us', 'ms', 's', 'min', 'h', 'd']);
const rateUnits: ReadonlySet<string> = new Set(['Hz', '1/s', '/s']);
/** Rates of a steady source scatter by less than 25 %. */
const RATE_SCATTER = 0.25;

/** Names of ids that are new for every run, order or boot. */
const idOfRun =
  /(^|[-_.]|[a-z](?=[A-Z]))(run|request|session|job|action|move|order|boot|trace|message)[-_]?u?u?id$|(^|[-_.])pid$/i;
/** Names of times that are properties of a thing and not of the run. */
const timeOfThing = /until|not-?(after|before)|expir|valid/i;

interface ReadValue {
  readonly value: number | string | boolean;
  readonly unit: string | null;
}

/** Whether two values of the same name differ only as any two runs do. Ignores units and marks. */
export function isSteady(name: string, from: ReadValue, to: ReadValue): boolean {
  const [a, b] = [from.value, to.value];
  if (a === b) return true;
  if (typeof a !== typeof b) return false;
  if (idOfRun.test(name)) return true;
  if (typeof a === 'number' && typeof b === 'number') return isSteadyNumber(a, b, to.unit);
  if (typeof a !== 'string' || typeof b !== 'string') return false;
  return steadyText(a, name) === steadyText(b, name);
}

function isSteadyNumber(a: number, b: number, unit: string | null): boolean {
  if (unit === null) return false;
  if (durationUnits.has(unit)) return true;
  return rateUnits.has(unit) && Math.abs(a - b) <= RATE_SCATTER * Math.max(Math.abs(a), Math.abs(b));
}

/** The text with everything that differs at every run replaced by a placeholder. `name`: name of the value. */
export function steadyText(text: string, name = ''): string {
  const times = timeOfThing.test(name)
    ? text
    : text
        .replace(/\b\d{4}-?\d\d-?\d\d[T ]\d\d[:-]?\d\d([:-]?\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?(?![\w:])/g, '<time>')
        .replace(/(?<![\w:.])\d\d:\d\d:\d\d([.,]\d+)?(?![\w:])/g, '<time>');
  return times
    .replace(/(?<![\w.,])\d+([.,]\d+)?\s?(ns|µs|us|ms|s|min|h|d|seconds?|minutes?|hours?|days?)\b/g, '<duration>')
    .replace(/(?<![\w:/.])(~|\.{1,2}|[A-Za-z]:)?([/\\][^\s/\\'"]+)*[/\\](?=[^\s/\\'"])/g, '');
}

/** Whether a text is only a number, as an expectation quotes what it found. */
function isBareNumber(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text));
}

export interface RecordDiffOptions extends Omit<RecordTrust, 'serial'> {
  readonly from: string;
  readonly to: string;
}

/**
 * Differences between two visits: robots by serial, steps by id, values by step and name. Reads and verifies two record
 * files. Throws what `verifyRecordAt` throws, RECORD_INVALID, RECORD_ALTERED.
 */
export async function compareRecords({ from, to, caPath, sitePath }: RecordDiffOptions): Promise<RecordDiff> {
  const [old, now] = [await openSide(from, { caPath, sitePath }), await openSide(to, { caPath, sitePath })];
  return diffRecords(old, now);
}

interface Side {
  readonly path: string;
  readonly state: RecordDiff['from']['state'];
  readonly record: CheckRecord;
}

async function openSide(path: string, trust: RecordTrust): Promise<Side> {
  const verification = await verifyRecordAt(path, trust);
  const record = unaltered(path, verification);
  return { path, state: signatureState(record, verification), record };
}

/**
 * Pure comparison. Counts: versions of gw and of the list, software, site, robots, verdicts, reasons of steps that are not
 * ok, values with unit and mark, deviations, red lines, marks of facts. Ignores: times, durations, file locations, run
 * ids and editions, and values that differ at every run (`isSteady`).
 */
export function diffRecords(from: Side, to: Side): RecordDiff {
  const [old, now] = [from.record, to.record];
  const serials = [...new Set([...old.robots, ...now.robots].map(({ serial }) => serial))];
  const robots = serials.map((serial) => robotDiff(serial, robotOf(old, serial), robotOf(now, serial)));
  const versions = {
    gw: { from: old.gw, to: now.gw },
    checklist: { from: old.checklist.sha256, to: now.checklist.sha256 },
  };
  const sameChecklist = old.checklist.name === now.checklist.name;
  return {
    from: { path: from.path, state: from.state, subject: subjectOf(old) },
    to: { path: to.path, state: to.state, subject: subjectOf(now) },
    same: sameChecklist && !Object.values(versions).some(differs) && robots.every(isSame),
    worse: robots.some(isWorse),
    versions,
    sameChecklist,
    robots,
  };
}

function robotOf({ robots }: CheckRecord, serial: string): RobotRecord | null {
  return robots.find((robot) => robot.serial === serial) ?? null;
}

function robotDiff(serial: string, old: RobotRecord | null, now: RobotRecord | null): RobotDiff {
  const oldSteps = old?.steps ?? [];
  const newSteps = now?.steps ?? [];
  const steps = stepChanges(oldSteps, newSteps);
  const of = (kind: Kind) => steps.filter((step) => step.kind === kind).map(({ kind: _, ...step }) => step);
  return {
    serial,
    site: { from: old?.site ?? null, to: now?.site ?? null },
    presence: old === null ? 'new-only' : now === null ? 'old-only' : 'both',
    software: { from: old?.software?.value ?? null, to: now?.software?.value ?? null },
    device: { from: deviceOf(old), to: deviceOf(now) },
    newlyWrong: of('newly-wrong'),
    fixed: of('fixed'),
    nowChecked: of('now-checked'),
    lost: of('lost'),
    otherwise: of('otherwise'),
    reasons: reasonChanges(oldSteps, newSteps),
    values: valueChanges(oldSteps, newSteps),
    deviations: deviationChanges(oldSteps, newSteps),
    redLines: redLineChanges(old, now),
    evidence: evidenceChanges(old?.evidence ?? [], now?.evidence ?? []),
  };
}

function deviceOf(robot: RobotRecord | null): string | null {
  const simulated = robot?.simulated ?? null;
  return simulated === null ? null : simulated ? 'simulator' : 'robot';
}

type Kind = 'newly-wrong' | 'fixed' | 'now-checked' | 'lost' | 'otherwise';
type StepChange = RobotDiff['newlyWrong'][number] & { readonly kind: Kind };

function stepChanges(old: readonly StepResult[], now: readonly StepResult[]): StepChange[] {
  return pairs(old, now).flatMap(([id, was, is]): StepChange[] => {
    const [from, to] = [was?.verdict ?? null, is?.verdict ?? null];
    if (from === to) return [];
    const { title = id, why = '' } = is ?? was ?? {};
    return [{ id, title, from, to, why, kind: kindOf(from, to) }];
  });
}

/** Only what was wrong can be fixed: a step that was not checked may have been ok all the time. */
function kindOf(from: StepChange['from'], to: StepChange['to']): Kind {
  if (to === 'wrong') return 'newly-wrong';
  if (to === 'ok') return from === 'wrong' ? 'fixed' : from === null ? 'otherwise' : 'now-checked';
  return from === 'ok' ? 'lost' : 'otherwise';
}

/** Steps that are not ok on both sides, with the same verdict and for another reason. */
function reasonChanges(old: readonly StepResult[], now: readonly StepResult[]): RobotDiff['reasons'] {
  return pairs(old, now).flatMap(([id, was, is]) => {
    if (was === undefined || was.verdict !== is?.verdict || is.verdict === 'ok') return [];
    if (reasonOf(was) === reasonOf(is)) return [];
    return [{ id, title: is.title, verdict: is.verdict, from: was.why, to: is.why }];
  });
}

/** Reason of a step that is not ok, without what differs at every run: its error, else its expectations, else its text. */
function reasonOf({ error, expectations, why }: StepResult): string {
  if (error !== null) return JSON.stringify([error.code, steadyText(error.message)]);
  const open = expectations.filter(({ verdict }) => verdict !== 'ok');
  if (open.length === 0) return steadyText(why);
  return JSON.stringify(
    open.map(({ path, expected, found, verdict }) => {
      // The size of a deviation is among the values, where the list names it.
      return [path, expected, isBareNumber(found) ? '' : steadyText(found, path), verdict];
    }),
  );
}

function valueChanges(old: readonly StepResult[], now: readonly StepResult[]): RobotDiff['values'] {
  return pairs(old, now).flatMap(([id, was, is]) => {
    const named = (values: StepResult['values'] = []) => values.map((one) => ({ ...one, id: one.name }));
    return pairs(named(was?.values), named(is?.values)).flatMap(([name, a, b]) => {
      const unit = { from: a?.unit ?? null, to: b?.unit ?? null };
      const mark = marksOf(a, b);
      const [from, to] = [a?.value ?? null, b?.value ?? null];
      if (from === to && !differs(unit) && !differs(mark)) return [];
      const isComparable = typeof from === 'number' && typeof to === 'number' && !differs(unit);
      const delta = isComparable ? rounded(to - from) : null;
      const isSameKind = a !== undefined && b !== undefined && !differs(unit) && !differs(mark);
      const counts = !(isSameKind && isSteady(name, a, b));
      return [{ step: id, title: (is ?? was)?.title ?? id, name, from, to, unit, mark, delta, counts }];
    });
  });
}

type Marked = { readonly mark: Mark; readonly basis?: Basis | undefined } | undefined;

/** With the basis where both sides have it: a record of an older version has only the mark. */
function marksOf(from: Marked, to: Marked): { from: string | null; to: string | null } {
  const isOld = [from, to].some((side) => side !== undefined && side.basis === undefined);
  const textOf = (side: Marked) => {
    if (side === undefined) return null;
    return isOld || side.basis === undefined ? side.mark : markText({ mark: side.mark, basis: side.basis });
  };
  return { from: textOf(from), to: textOf(to) };
}

/** Without binary rounding noise: 0.3 - 0.1 is 0.2. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

/**
 * Deviations that were accepted, withdrawn or changed: by another person, for another reason, or of a step with another
 * result than when accepted. The time of acceptance is ignored.
 */
function deviationChanges(old: readonly StepResult[], now: readonly StepResult[]): RobotDiff['deviations'] {
  const otherReason = new Set(reasonChanges(old, now).map(({ id }) => id));
  const otherValue = new Set(valueChanges(old, now).flatMap(({ step, counts }) => (counts ? [step] : [])));
  return pairs(old, now).flatMap(([id, was, is]) => {
    const [from, to] = [was?.deviation ?? null, is?.deviation ?? null];
    if (from === null && to === null) return [];
    const changed = (
      [
        ['accepted', from === null],
        ['withdrawn', to === null],
        ['reason', from !== null && to !== null && from.reason !== to.reason],
        ['approved-by', from !== null && to !== null && from.approvedBy !== to.approvedBy],
        ['verdict', from !== null && to !== null && was?.verdict !== is?.verdict],
        ['finding', from !== null && to !== null && otherReason.has(id)],
        ['value', from !== null && to !== null && otherValue.has(id)],
      ] as const
    ).flatMap(([what, isSo]) => (isSo ? [what] : []));
    if (changed.length === 0) return [];
    const title = (is ?? was)?.title ?? id;
    return [{ step: id, title, from: from && { ...from }, to: to && { ...to }, changed }];
  });
}

/** Red lines of one record only, or of both with different details. */
function redLineChanges(old: RobotRecord | null, now: RobotRecord | null): RobotDiff['redLines'] {
  const changes: RobotDiff['redLines'] = { added: [], gone: [], changed: [] };
  for (const [id, was, is] of pairs(old?.redLines ?? [], now?.redLines ?? [])) {
    if (was === undefined && is !== undefined) changes.added.push({ id, title: is.title, detail: is.detail });
    else if (is === undefined && was !== undefined) changes.gone.push({ id, title: was.title, detail: was.detail });
    else if (was !== undefined && is !== undefined && steadyText(was.detail) !== steadyText(is.detail)) {
      changes.changed.push({ id, title: is.title, from: was.detail, to: is.detail });
    }
  }
  return changes;
}

function evidenceChanges(old: RobotRecord['evidence'], now: RobotRecord['evidence']): RobotDiff['evidence'] {
  return pairs(old, now).flatMap(([id, was, is]) => {
    const mark = marksOf(was, is);
    const verifiedHere = { from: was?.verifiedHere ?? null, to: is?.verifiedHere ?? null };
    return differs(mark) || differs(verifiedHere) ? [{ fact: id, mark, verifiedHere }] : [];
  });
}

function isSame(robot: RobotDiff): boolean {
  const { newlyWrong, fixed, nowChecked, lost, otherwise, reasons, deviations, redLines, evidence } = robot;
  const values = robot.values.filter(({ counts }) => counts);
  const lines = [redLines.added, redLines.gone, redLines.changed];
  const lists = [newlyWrong, fixed, nowChecked, lost, otherwise, reasons, values, deviations, ...lines, evidence];
  return (
    robot.presence === 'both' &&
    !differs(robot.site) &&
    !differs(robot.software) &&
    // A record of an older version does not say it.
    (Object.values(robot.device).includes(null) || !differs(robot.device)) &&
    lists.every((list) => list.length === 0)
  );
}

function isWorse({ presence, newlyWrong, lost, redLines }: RobotDiff): boolean {
  return presence === 'old-only' || newlyWrong.length > 0 || lost.length > 0 || redLines.added.length > 0;
}

function differs({ from, to }: { readonly from: string | null; readonly to: string | null }): boolean {
  return from !== to;
}

/** What has the same id on both sides, in the order of the new one; undefined where a side lacks it. */
function pairs<T extends { readonly id: string }>(old: readonly T[], now: readonly T[]) {
  const [before, after] = [new Map(old.map((one) => [one.id, one])), new Map(now.map((one) => [one.id, one]))];
  return [...new Set([...after.keys(), ...before.keys()])].map((id) => [id, before.get(id), after.get(id)] as const);
}
