import type { ChecklistResult, CheckRecord, Counts, RecordVerification, StepResult } from '../checklist/index.ts';
import { escapeMarkup } from '../markup/index.ts';
import { clean, cleanLine, seconds } from './text.ts';

/**
 * JUnit XML: one suite per checklist, one case per step. A failed expectation is a failure; a check that could not run,
 * and a step that was not checked, is an error, because a run with skipped cases counts as passed. Skipped are the steps
 * that wait for another one, which is a failure or an error itself, and those that --only and --from left out.
 */
export function toJUnit(result: ChecklistResult): string {
  const properties = [
    property('gw.ok', String(result.ok)),
    property('gw.title', result.title),
    ...(result.subject ? [property('gw.site', result.subject.site), property('gw.serial', result.subject.serial)] : []),
    property('gw.motion-allowed', String(result.motionAllowed)),
    property('gw.interrupted', String(result.interrupted)),
  ];
  return suites([suite({ ...result, properties, more: [] })]);
}

/**
 * A record in the same form: one suite per robot, its red lines as failures, and one case for the signature, which
 * passes only when it was verified. An accepted deviation stays a failure, with the name of the person who accepted it.
 */
export function recordToJUnit(record: CheckRecord, verification: RecordVerification): string {
  const { checklist, robots, startedAt } = record;
  const signature = signatureCase(`${checklist.name}.${robots[0]?.serial}`, record, verification);
  return suites(
    robots.map(({ site, serial, software, ok, accepted, counts, steps, redLines }, at) =>
      suite({
        name: `${checklist.name}.${serial}`,
        steps,
        counts,
        tookMs: steps.reduce((sum, step) => sum + step.tookMs, 0),
        startedAt,
        properties: [
          property('gw.ok', String(ok)),
          property('gw.accepted', String(accepted)),
          property('gw.title', checklist.title),
          property('gw.site', site),
          property('gw.serial', serial),
          property('gw.software', software?.value ?? 'not known'),
          property('gw.record', `${record.id}, edition ${record.edition}`),
          property('gw.verified', String(verification.verified)),
          property('gw.motion-allowed', String(record.motionAllowed)),
          property('gw.interrupted', String(record.interrupted)),
        ],
        more: [
          ...redLines.map((line) => ({
            outcome: 'failure' as const,
            xml: extraCase(
              `${checklist.name}.${serial}`,
              `red line: ${line.title}`,
              'failure',
              `${line.detail} Fix: ${line.remedy}`,
            ),
          })),
          ...(at === 0 ? [signature] : []),
        ],
      }),
    ),
  );
}

/** Type of the error of a case that was not checked or not decided. */
const NOT_CHECKED = 'NOT_CHECKED';

interface ExtraCase {
  readonly outcome: 'ok' | 'failure' | 'error';
  readonly xml: string;
}

interface Suite {
  readonly name: string;
  readonly steps: readonly StepResult[];
  readonly counts: Counts;
  readonly tookMs: number;
  readonly startedAt: string;
  readonly properties: readonly string[];
  /** Cases that are no steps. */
  readonly more: readonly ExtraCase[];
}

function suite({ name, steps, counts, tookMs, startedAt, properties, more }: Suite): string {
  const broken = steps.filter((step) => step.verdict === 'wrong' && step.error !== null).length;
  const open = steps.filter(isOpen).length;
  const extra = (outcome: ExtraCase['outcome']) => more.filter((one) => one.outcome === outcome).length;
  const totals = attributes({
    name,
    tests: steps.length + more.length,
    failures: counts.wrong - broken + extra('failure'),
    errors: broken + open + extra('error'),
    skipped: counts.skipped + counts.notChecked - open,
    time: seconds(tookMs),
    timestamp: startedAt,
  });
  return [
    `  <testsuite ${totals}>`,
    '    <properties>',
    ...properties.map((line) => `      ${line}`),
    '    </properties>',
    ...steps.map((step) => testCase(name, step)),
    ...more.map(({ xml }) => xml),
    '  </testsuite>',
  ].join('\n');
}

/** Left out by --only or --from is not asked for, and not open. */
function isOpen({ verdict, leftOut }: StepResult): boolean {
  return verdict === 'not-checked' && !leftOut;
}

function suites(all: readonly string[]): string {
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites>', ...all, '</testsuites>', ''].join('\n');
}

function signatureCase(
  suiteName: string,
  { signature }: CheckRecord,
  { verified, verdict, findings }: RecordVerification,
): ExtraCase {
  const failed = findings
    .filter((finding) => finding.verdict !== 'ok')
    .map(({ title, detail }) => `${title}: ${detail}`);
  const name = 'signature: the record is signed and verified';
  if (verified && signature !== null) return { outcome: 'ok', xml: extraCase(suiteName, name, null, '') };
  if (verdict === 'wrong') {
    return { outcome: 'failure', xml: extraCase(suiteName, name, 'failure', failed.join('; ')) };
  }
  const state = signature === null ? 'not-signed' : 'not-verified';
  return { outcome: 'error', xml: extraCase(suiteName, name, 'error', [state, ...failed].join('; ')) };
}

function extraCase(suiteName: string, name: string, tag: 'failure' | 'error' | null, message: string): string {
  const head = attributes({ classname: suiteName, name, time: seconds(0) });
  if (tag === null) return `    <testcase ${head}/>`;
  const about = { message, type: tag === 'failure' ? 'CHECK_FAILED' : NOT_CHECKED };
  return [`    <testcase ${head}>`, `      <${tag} ${attributes(about)}/>`, '    </testcase>'].join('\n');
}

function testCase(checklist: string, step: StepResult): string {
  const head = attributes({ classname: checklist, name: `${step.id}: ${step.title}`, time: seconds(step.tookMs) });
  const lines = [`    <testcase ${head}>`, '      <properties>'];
  lines.push(`        ${property('proves', step.proves)}`, `        ${property('verdict', step.verdict)}`);
  if (step.deviation !== null) {
    const { reason, approvedBy, at } = step.deviation;
    lines.push(`        ${property('deviation', `${reason}; approved by ${approvedBy}, ${at}`)}`);
  }
  lines.push('      </properties>', ...verdictLines(step));
  if (step.shown !== null) lines.push(`      <system-out>${escapeMarkup(clean(step.shown))}</system-out>`);
  lines.push('    </testcase>');
  return lines.join('\n');
}

function verdictLines(step: StepResult): string[] {
  const message = cleanLine(step.why);
  const body = step.remedy === null ? '' : escapeMarkup(clean(`${step.why}\nFix: ${step.remedy}`));
  switch (step.verdict) {
    case 'ok':
      return [];
    case 'wrong': {
      const tag = step.error === null ? 'failure' : 'error';
      const type = step.error?.code ?? 'CHECK_FAILED';
      return [`      <${tag} ${attributes({ message, type })}>${body}</${tag}>`];
    }
    case 'not-checked':
      if (isOpen(step)) return [`      <error ${attributes({ message, type: NOT_CHECKED })}>${body}</error>`];
      return [`      <skipped ${attributes({ message: `left out: ${message}` })}/>`];
    case 'skipped':
      return [`      <skipped ${attributes({ message: `${step.verdict}: ${message}` })}/>`];
  }
}

function property(name: string, value: string): string {
  return `<property ${attributes({ name, value })}/>`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${escapeMarkup(cleanLine(String(value)))}"`)
    .join(' ');
}
