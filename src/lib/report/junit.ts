import type { ChecklistResult, CheckRecord, RecordVerification, StepResult } from '../checklist/index.ts';
import { escapeMarkup } from '../markup/index.ts';
import { clean, cleanLine, seconds } from './text.ts';
import { recordEn } from './texts/record.en.ts';

type Values = Readonly<Record<string, string | number | boolean>>;

interface Case {
  readonly name: string;
  readonly tookMs: number;
  readonly outcome: 'ok' | 'failure' | 'error' | 'skipped';
  /** Why it is not ok, on one line. */
  readonly message: string;
  readonly type?: string;
  /** The same in more words. */
  readonly body?: string;
  readonly properties?: Values;
  readonly output?: string | null;
}

interface Suite {
  readonly name: string;
  readonly tookMs: number;
  readonly startedAt: string;
  readonly properties: Values;
  readonly cases: readonly Case[];
}

const SIMULATED = recordEn.simulated;

/** Type of the error of a case that was not checked or not decided. */
const NOT_CHECKED = 'NOT_CHECKED';

/**
 * JUnit XML: one suite per checklist, one case per step. A failed expectation is a failure; a check that could not run,
 * and a step that was not checked, is an error, because a run with skipped cases counts as passed. Skipped are the steps
 * that wait for another one, which is a failure or an error itself, and those that --only and --from left out.
 */
export function toJUnit({ name, tookMs, startedAt, steps, subject, ...result }: ChecklistResult): string {
  const properties = {
    'gw.ok': result.ok,
    'gw.title': result.title,
    ...(subject && { 'gw.site': subject.site, 'gw.serial': subject.serial }),
    'gw.motion-allowed': result.motionAllowed,
    'gw.interrupted': result.interrupted,
    ...(result.noRecord && { 'gw.record': 'none' }),
    ...(result.simulated && { 'gw.simulated': SIMULATED }),
    ...(result.dryRun && { 'gw.dry-run': true }),
  };
  return documentOf([{ name, tookMs, startedAt, properties, cases: steps.map(caseOf) }]);
}

/**
 * A record in the same form: one suite per robot, its red lines as failures, and one case for the signature, which
 * passes only when it was verified. An accepted deviation stays a failure, with the name of the person who accepted it.
 */
export function recordToJUnit(record: CheckRecord, verification: RecordVerification): string {
  const { checklist, robots, startedAt } = record;
  return documentOf(
    robots.map(({ site, serial, software, simulated, ok, accepted, steps, redLines }, at) => ({
      name: `${checklist.name}.${serial}`,
      tookMs: steps.reduce((sum, step) => sum + step.tookMs, 0),
      startedAt,
      properties: {
        'gw.ok': ok,
        'gw.accepted': accepted,
        'gw.title': checklist.title,
        'gw.site': site,
        'gw.serial': serial,
        'gw.software': software?.value ?? 'not known',
        'gw.simulated': simulated ? SIMULATED : (simulated ?? 'not known'),
        'gw.record': `${record.id}, edition ${record.edition}`,
        'gw.verified': verification.verified,
        'gw.motion-allowed': record.motionAllowed,
        'gw.interrupted': record.interrupted,
      },
      cases: [
        ...steps.map(caseOf),
        ...redLines.map(({ title, detail, remedy }) =>
          extra(`red line: ${title}`, 'failure', `${detail} Fix: ${remedy}`),
        ),
        ...(at === 0 ? [signatureCase(record, verification)] : []),
      ],
    })),
  );
}

function signatureCase({ signature }: CheckRecord, { verified, verdict, findings }: RecordVerification): Case {
  const failed = findings
    .filter((finding) => finding.verdict !== 'ok')
    .map(({ title, detail }) => `${title}: ${detail}`);
  const name = 'signature: the record is signed and verified';
  if (verified && signature !== null) return extra(name, 'ok', '');
  if (verdict === 'wrong') return extra(name, 'failure', failed.join('; '));
  return extra(name, 'error', [signature === null ? 'not-signed' : 'not-verified', ...failed].join('; '));
}

/** A case that is no step. */
function extra(name: string, outcome: 'ok' | 'failure' | 'error', message: string): Case {
  return { name, tookMs: 0, outcome, message, type: outcome === 'failure' ? 'CHECK_FAILED' : NOT_CHECKED };
}

function caseOf(step: StepResult): Case {
  const { id, title, tookMs, proves, verdict, deviation, shown, why, remedy } = step;
  const accepted = deviation && `${deviation.reason}; approved by ${deviation.approvedBy}, ${deviation.at}`;
  return {
    name: `${id}: ${title}`,
    tookMs,
    ...outcomeOf(step),
    ...(remedy !== null && { body: `${why}\nFix: ${remedy}` }),
    properties: { proves, verdict, ...(accepted !== null && { deviation: accepted }) },
    output: shown,
  };
}

function outcomeOf({ verdict, error, leftOut, why }: StepResult): Pick<Case, 'outcome' | 'message' | 'type'> {
  switch (verdict) {
    case 'ok':
      return { outcome: 'ok', message: '' };
    case 'wrong':
      if (error === null) return { outcome: 'failure', message: why, type: 'CHECK_FAILED' };
      return { outcome: 'error', message: why, type: error.code };
    case 'not-checked':
      // Left out by --only or --from is not asked for, and not open.
      if (leftOut) return { outcome: 'skipped', message: `left out: ${why}` };
      return { outcome: 'error', message: why, type: NOT_CHECKED };
    case 'skipped':
      return { outcome: 'skipped', message: `skipped: ${why}` };
  }
}

function documentOf(suites: readonly Suite[]): string {
  const lines = element('testsuites', {}, suites.flatMap(suiteLines));
  return `${['<?xml version="1.0" encoding="UTF-8"?>', ...lines].join('\n')}\n`;
}

function suiteLines({ name, tookMs, startedAt, properties, cases }: Suite): string[] {
  const count = (outcome: Case['outcome']) => cases.filter((one) => one.outcome === outcome).length;
  const totals = {
    name,
    tests: cases.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    time: seconds(tookMs),
    timestamp: startedAt,
  };
  return element('testsuite', totals, [
    ...propertyLines(properties),
    ...cases.flatMap((one) => {
      const { outcome, message, type, body, output = null } = one;
      const about = { message, ...(outcome !== 'skipped' && type !== undefined && { type }) };
      return element('testcase', { classname: name, name: one.name, time: seconds(one.tookMs) }, [
        ...propertyLines(one.properties),
        ...(outcome === 'ok' ? [] : element(outcome, about, outcome === 'skipped' ? undefined : body)),
        ...(output === null ? [] : element('system-out', {}, output)),
      ]);
    }),
  ]);
}

function propertyLines(values: Values = {}): string[] {
  const lines = Object.entries(values).flatMap(([name, value]) => element('property', { name, value }));
  return lines.length === 0 ? [] : element('properties', {}, lines);
}

/** The lines of an element; a text stays on its line. */
function element(name: string, values: Values, content: string | readonly string[] = []): string[] {
  const head = [
    name,
    ...Object.entries(values).map(([key, value]) => `${key}="${escapeMarkup(cleanLine(String(value)))}"`),
  ];
  if (typeof content === 'string') return [`<${head.join(' ')}>${escapeMarkup(clean(content))}</${name}>`];
  if (content.length === 0) return [`<${head.join(' ')}/>`];
  return [`<${head.join(' ')}>`, ...content.map((line) => `  ${line}`), `</${name}>`];
}
